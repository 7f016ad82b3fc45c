"""What must hold for every figure, written once.

A file that imports these tests gives them DRAWINGS, name -> function that draws, and may give SAYS, name -> words that
the figure must say.
"""

import re

import matplotlib
import pytest
from matplotlib.figure import Figure

from attnbook.figures import use_book_style
from attnbook.figures.style import KEY, QUERY, STREAM, VALUE, WARN, WEIGHTS, to_svg

ALLOWED = {colour.lower() for colour in (QUERY, KEY, VALUE, WEIGHTS, STREAM, WARN)} | {"#000000", "#ffffff"}


def pytest_generate_tests(metafunc):
    """One test for each drawing in the lists of the file that imports the test."""
    if "drawing" in metafunc.fixturenames:
        metafunc.parametrize("drawing", list(vars(metafunc.module)["DRAWINGS"]))


@pytest.fixture(autouse=True)
def book_style():
    before = matplotlib.rcParams.copy()
    use_book_style()
    yield
    matplotlib.rcParams.update(before)


@pytest.fixture
def draw(request, drawing):
    """The function that draws."""
    return request.module.DRAWINGS[drawing]


def test_a_figure_uses_the_palette_and_real_text_only(request, drawing, draw):
    svg = to_svg(draw())
    words = set(re.findall(r"<text[^>]*>([^<]*)</text>", svg))
    assert words and set(re.findall(r"#[0-9a-f]{6}\b", svg.lower())) <= ALLOWED
    missing = set(getattr(request.module, "SAYS", {}).get(drawing, ())) - words
    assert not missing


def test_the_same_data_give_the_same_file(draw):
    first, second = draw(), draw()
    assert isinstance(first, Figure) and first is not second
    assert to_svg(first) == to_svg(second)
