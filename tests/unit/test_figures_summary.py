"""Figures of chapter 8: the palette, real text, the same file each time, and every word translated."""


import torch
from figure_tests import *  # noqa: F403 - the tests that hold for every figure

from attnbook.figures import summary
from attnbook.figures.style import to_svg

CURVES = torch.linspace(2, 0.1, 40)[:, None] * torch.tensor([1.0, 1.1])
SHARES = {"whole": (0.8, 0.9, 0.95), "no scale": (0.2, 0.3, 0.4)}
DRAWINGS = {
    "parts": lambda: summary.parts(SHARES, guess=1 / 12),
    "learning": lambda: summary.learning({"two layers": CURVES[:, 0], "one layer": CURVES[:, 1]}, guess=2.5),
    "two_places": lambda: summary.two_places({"one head": CURVES, "two heads": CURVES / 9}, SHARES, wall=0.5),
    "head_maps": lambda: summary.head_maps({"layer 1": torch.eye(4), "layer 2": torch.eye(4)}, "abab", [None, None, 1, 2]),
}


def test_every_named_share_has_its_row_and_its_number():
    svg = to_svg(summary.parts(SHARES, guess=1 / 12))
    assert all(word in svg for word in ("whole", "no scale", "90%", "30%"))


def test_only_rows_with_a_place_get_a_ring():
    axes = summary.head_maps({"layer 1": torch.eye(4)[:, :4], "layer 2": torch.eye(4)}, "abab", [None, None, 1, 2]).axes
    assert all(len(panel.lines) == 2 for panel in axes)
