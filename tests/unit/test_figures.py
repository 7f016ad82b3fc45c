"""Figures leave as SVG with real text on a transparent ground, the same each time, and change nothing global."""

import io

import matplotlib
import matplotlib.image
import numpy as np
from figure_tests import *  # noqa: F403 - the tests that hold for every figure

from attnbook.attention import causal_mask
from attnbook.figures import routing, thoughts
from attnbook.figures.style import to_png, to_svg

WORDS = ["The", "cat", "sat"]
THIRDS = np.full((3, 3), 1 / 3)
DRAWINGS = {
    "relay_chain": lambda: routing.relay_chain(WORDS),
    "two_graphs": lambda: routing.two_graphs(WORDS),
    "gradient_norms": lambda: routing.gradient_norms({"radius 0.9": [0.9, 0.81], "radius 1.1": [1.1, 1.21]}),
    "recall_bands": lambda: routing.recall_bands({"tanh": {10: [1.0, 0.9], 50: [0.5, 0.6]}, "LSTM": {50: [1.0, 1.0]}}),
    "probe_accuracy": lambda: routing.probe_accuracy((64, 128), {"word 2": [0.3, 0.9]}, chance=1 / 30),
    "path_and_steps": lambda: routing.path_and_steps((2, 4), {"relay": [1, 3]}, {"relay": [2, 4]}),
    "dilution": lambda: routing.dilution((2, 4), {"5": [0.99, 0.98]}),
    "heat_map": lambda: routing.heat_map(THIRDS, WORDS),
    "heat_maps": lambda: routing.heat_maps({"seed 0": THIRDS, "seed 1": THIRDS}, WORDS),
    "row_bars": lambda: routing.row_bars({"seed 0": THIRDS[0]}, WORDS),
    "map_with_sums": lambda: thoughts.map_with_sums({"cat": [0.9, 0.2, 0.1]}, WORDS),
    "two_orders": lambda: thoughts.two_orders({"both orders": ([1.0, 1.0], [1.0, 0.9]), "one order": ([1.0], [0.2])}),
    "correlation_spread": lambda: thoughts.correlation_spread({"gradient": [0.2, 0.8, 0.9]}, (0.6, 0.7)),
    "patterns": lambda: thoughts.patterns({"full": causal_mask(4)}, {"full": "scores 10, layers 1"}),
    "growth": lambda: thoughts.growth((256, 512, 1024), {"time": {"dense": [1, 4, 16]}, "numbers": {"dense": [1, 4, 16]}}),
    "accuracy_by_age": lambda: thoughts.accuracy_by_age({"linear": [0.5, 0.4]}, 0.125, {"window": (1, 1)}),
    "ring_shares": lambda: thoughts.ring_shares({"in order": [0, 0, 1], "zig-zag": [0, 1, 0]},
                                                {"in order": [0.5, 0.5], "zig-zag": [0.6, 0.4]}),
    "ring_times": lambda: thoughts.ring_times({1024: {1: 0.2, 2: 0.1}}, {1024: {1: 0.2, 2: 0.1}}),
}


def test_hidden_cells_are_hatched_and_only_they():
    assert "<pattern" in to_svg(routing.heat_map(THIRDS, WORDS, mask=causal_mask(3)))
    assert "<pattern" not in to_svg(routing.heat_map(THIRDS, WORDS))


def test_svg_is_transparent_and_png_is_white():
    figure = routing.relay_chain(WORDS)
    assert "fill: #ffffff" not in to_svg(figure).lower()
    pixels = matplotlib.image.imread(io.BytesIO(to_png(figure)))
    assert (pixels[0, 0] == 1).all()


def test_drawing_changes_neither_data_nor_settings():
    weights, settings = THIRDS.copy(), matplotlib.rcParams.copy()
    routing.heat_map(weights, WORDS)
    assert (weights == THIRDS).all()
    assert matplotlib.rcParams == settings
