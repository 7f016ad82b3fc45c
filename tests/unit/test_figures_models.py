"""Figures of trained models: the palette, real text, every series and number, the same each time."""

import re

import matplotlib
import pytest

from attnbook.figures import models, use_book_style
from attnbook.figures.style import KEY, QUERY, STREAM, VALUE, WARN, WEIGHTS, to_svg

DRAWINGS = {
    "lengths": (lambda: models.error_by_length({"with": [[0.1, 0.2], [0.2, 0.3]], "without": [[0.3, 0.5]]}, [(3, 6), (7, 9)]),
                ["with", "without", "3–6", "7–9", "wrong sounds per sound"]),
    "alignments": (lambda: models.alignments({"cat": (("K", "AE", "T"), [[1, 0, 0], [0, 1, 0], [0, 0, 1]])}),
                   ["K", "AE", "T", "c", "a"]),
    "grid": (lambda: models.head_grid([[12, 24], [3, 17]], low=12, high=24, marked=[(0, 1)]), ["24", "17", "layer", "head"]),
    "losses": (lambda: models.losses({"as it is": [3.0, 3.5], "RoPE off": [5.0]}), ["as it is", "RoPE off"]),
}
ALLOWED = {colour.lower() for colour in (QUERY, KEY, VALUE, WEIGHTS, STREAM, WARN)} | {"#000000", "#ffffff"}


@pytest.fixture(autouse=True)
def book_style():
    before = matplotlib.rcParams.copy()
    use_book_style()
    yield
    matplotlib.rcParams.update(before)


@pytest.mark.parametrize("name", DRAWINGS)
def test_words_are_text_colours_are_the_palette_and_drawing_repeats(name):
    draw, words = DRAWINGS[name]
    svg = to_svg(draw())
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert set(words) <= set(texts), set(words) - set(texts)
    assert {colour.lower() for colour in re.findall(r"#[0-9a-fA-F]{6}", svg)} <= ALLOWED
    assert svg == to_svg(draw())


def test_a_mean_lies_inside_its_band_and_each_passage_is_a_dot():
    axes = models.error_by_length({"a": [[0.1, 0.2], [0.3, 0.6]]}, [(3, 6), (7, 9)]).axes[0]
    assert axes.lines[0].get_ydata().tolist() == pytest.approx([0.2, 0.4])
    axes = models.losses({"a": [1.0, 2.0, 6.0]}).axes[0]
    assert len(axes.lines[0].get_xdata()) == 3 and axes.lines[1].get_xdata()[0] == pytest.approx(3)
