"""Figures of trained models: the palette, real text, every series and number, the same each time."""


import pytest
from figure_tests import *  # noqa: F403 - the tests that hold for every figure

from attnbook.figures import models

DRAWN = {  # name -> how to draw it, and words that it must say
    "lengths": (lambda: models.error_by_length({"with": [[0.1, 0.2], [0.2, 0.3]], "without": [[0.3, 0.5]]}, [(3, 6), (7, 9)]),
                ["with", "without", "3–6", "7–9", "wrong sounds per sound"]),
    "alignments": (lambda: models.alignments({"cat": (("K", "AE", "T"), [[1, 0, 0], [0, 1, 0], [0, 0, 1]])}),
                   ["K", "AE", "T", "c", "a"]),
    "grid": (lambda: models.head_grid([[12, 24], [3, 17]], low=12, high=24, marked=[(0, 1)]), ["24", "17", "layer", "head"]),
    "losses": (lambda: models.losses({"as it is": [3.0, 3.5], "RoPE off": [5.0]}), ["as it is", "RoPE off"]),
}
SAYS = {name: words for name, (_, words) in DRAWN.items()}
DRAWINGS = {name: draw for name, (draw, _) in DRAWN.items()}


def test_a_mean_lies_inside_its_band_and_each_passage_is_a_dot():
    axes = models.error_by_length({"a": [[0.1, 0.2], [0.3, 0.6]]}, [(3, 6), (7, 9)]).axes[0]
    assert axes.lines[0].get_ydata().tolist() == pytest.approx([0.2, 0.4])
    axes = models.losses({"a": [1.0, 2.0, 6.0]}).axes[0]
    assert len(axes.lines[0].get_xdata()) == 3 and axes.lines[1].get_xdata()[0] == pytest.approx(3)
