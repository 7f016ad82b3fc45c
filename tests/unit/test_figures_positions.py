"""The figures of chapter 6: real text, the book's palette, the same file for the same data, and what was asked for."""


import numpy as np
import pytest
from figure_tests import *  # noqa: F403 - the tests that hold for every figure

from attnbook.figures import positions

BAND = {32: (0.9, 1.0, 1.0), 64: (0.2, 0.4, 0.5)}
DRAWINGS = {
    "waves": lambda: positions.waves(np.ones((10, 6)), (0, 2)),
    "over_distance": lambda: positions.over_distance({"a": np.arange(5), "b": np.ones(5)}, "score", seen=3, mark={"a": 2}),
    "reach": lambda: positions.reach({"slope 1/2": np.full(4096, 1 / 4096)}),
    "accuracy_by_length": lambda: positions.accuracy_by_length({"copy 1 back": {"none": BAND}, "copy 4 back": {
        "none": BAND}}, 0.125),
    "ranges": lambda: positions.ranges({"copy 1 back": {"NTK": (0.1, 0.2, 0.3)}, "copy 4 back": {
        "NTK": (0.5, 0.6, 0.7)}}, 0.125),
    "slowdown": lambda: positions.slowdown({"NTK": np.linspace(1, 8, 16)}, np.logspace(2, -1, 16)),
}


def test_a_panel_a_task_and_a_row_a_method():
    figure = DRAWINGS["ranges"]()
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["copy 1 back", "copy 4 back"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["NTK"]


def test_reach_adds_up_what_lies_near():
    (line,) = DRAWINGS["reach"]().axes[0].lines
    assert line.get_ydata()[-1] == pytest.approx(1) and line.get_ydata()[0] == pytest.approx(1 / 4096)
