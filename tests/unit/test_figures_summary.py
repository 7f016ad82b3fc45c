"""Figures of chapter 8: the palette, real text, the same file each time, and every word translated."""

import re

import matplotlib
import pytest
import torch
from matplotlib.figure import Figure
from test_figures import ALLOWED

from attnbook.figures import summary, use_book_style
from attnbook.figures.style import to_svg

CURVES = torch.linspace(2, 0.1, 40)[:, None] * torch.tensor([1.0, 1.1])
SHARES = {"whole": (0.8, 0.9, 0.95), "no scale": (0.2, 0.3, 0.4)}
DRAWINGS = {
    "parts": lambda: summary.parts(SHARES, guess=1 / 12),
    "learning": lambda: summary.learning({"two layers": CURVES[:, 0], "one layer": CURVES[:, 1]}, guess=2.5),
    "two_places": lambda: summary.two_places({"one head": CURVES, "two heads": CURVES / 9}, SHARES, wall=0.5),
    "head_maps": lambda: summary.head_maps({"layer 1": torch.eye(4), "layer 2": torch.eye(4)}, "abab", [None, None, 1, 2]),
}


@pytest.fixture(autouse=True)
def book_style():
    before = matplotlib.rcParams.copy()
    use_book_style()
    yield
    matplotlib.rcParams.update(before)


@pytest.mark.parametrize("draw", DRAWINGS.values(), ids=DRAWINGS)
def test_a_figure_uses_the_palette_and_real_text_only(draw):
    svg = to_svg(draw())
    assert "<text" in svg and set(re.findall(r"#[0-9a-f]{6}\b", svg)) <= ALLOWED


@pytest.mark.parametrize("draw", DRAWINGS.values(), ids=DRAWINGS)
def test_the_same_data_give_the_same_file(draw):
    first, second = draw(), draw()
    assert isinstance(first, Figure) and to_svg(first) == to_svg(second)


def test_every_named_share_has_its_row_and_its_number():
    svg = to_svg(summary.parts(SHARES, guess=1 / 12))
    assert all(word in svg for word in ("whole", "no scale", "90%", "30%"))


def test_only_rows_with_a_place_get_a_ring():
    axes = summary.head_maps({"layer 1": torch.eye(4)[:, :4], "layer 2": torch.eye(4)}, "abab", [None, None, 1, 2]).axes
    assert all(len(panel.lines) == 2 for panel in axes)
