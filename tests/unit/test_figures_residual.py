"""Figures of chapter 5 use the palette and real text, show each series, and are the same each time."""

import re

import matplotlib
import pytest

from attnbook import depth
from attnbook.figures import residual, use_book_style
from attnbook.figures.style import KEY, QUERY, STREAM, VALUE, WARN, WEIGHTS, to_svg

MODELS = [(m.name, m.billions, m.layers, depth.follows(m)) for m in depth.PUBLISHED]
DRAWINGS = {
    "belt": (lambda: residual.belt(["attention", "feed-forward"], "in", "out"), ["attention", "feed-forward", "in", "out"]),
    "chain": (lambda: residual.chain([("flow", "residual"), ("shares", "softmax")]), ["flow", "residual", "softmax"]),
    "over_layers": (lambda: residual.over_layers({"pre": [2.0, 1.5, 1.0], "post": [1.0, 1.0, 1.0]}, y="gradient"),
                    ["pre", "post", "gradient", "layer"]),
    "log": (lambda: residual.over_layers({"none": [1e-20, 0.0, 1.0]}, y="gradient", log=True, bottom=1e-25), ["none"]),
    "kept": (lambda: residual.invented_and_measured({"original": {1: 1.0, 96: 1.0}}, {"cosine": {0: 1.0, 96: 0.1}}),
             ["claimed", "measured", "original", "cosine", "percent"]),
    "dots": (lambda: residual.seed_dots({"pre": [0.1, 0.2], "post": [2.0]}, x="loss", guess=2.77), ["pre", "guessing"]),
    "depths": (lambda: residual.depths(MODELS, depth.RULE, named=["BLOOM 176B"]), ["inside", "outside", "BLOOM 176B"]),
}
ALLOWED = {colour.lower() for colour in (QUERY, KEY, VALUE, WEIGHTS, STREAM, WARN)} | {"#000000", "#ffffff"}


@pytest.fixture(autouse=True)
def book_style():
    before = matplotlib.rcParams.copy()
    use_book_style()
    yield
    matplotlib.rcParams.update(before)


@pytest.mark.parametrize("draw, words", DRAWINGS.values(), ids=DRAWINGS)
def test_a_figure_uses_the_palette_and_says_its_words(draw, words):
    svg = to_svg(draw())
    assert set(re.findall(r"#[0-9a-f]{6}\b", svg)) <= ALLOWED
    assert set(words) <= set(re.findall(r">([^<>]+)</text>", svg))
    assert to_svg(draw()) == svg


def test_nine_curves_have_nine_looks():
    assert len({(colour, str(dash)) for colour, dash, _ in residual.MORE}) == len(residual.MORE) == 9


def test_every_model_is_a_point():
    axes = residual.depths(MODELS, depth.RULE).axes[0]
    assert sum(len(line.get_xdata()) for line in axes.lines) == len(MODELS)
    assert len(axes.patches) == len(depth.RULE)
