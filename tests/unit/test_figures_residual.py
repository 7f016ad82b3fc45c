"""Figures of chapter 5 use the palette and real text, show each series, and are the same each time."""


from figure_tests import *  # noqa: F403 - the tests that hold for every figure

from attnbook import depth
from attnbook.figures import residual

MODELS = [(m.name, m.billions, m.layers, depth.follows(m)) for m in depth.PUBLISHED]
DRAWN = {  # name -> how to draw it, and words that it must say
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
SAYS = {name: words for name, (_, words) in DRAWN.items()}
DRAWINGS = {name: draw for name, (draw, _) in DRAWN.items()}


def test_nine_curves_have_nine_looks():
    assert len({(colour, str(dash)) for colour, dash, _ in residual.MORE}) == len(residual.MORE) == 9


def test_every_model_is_a_point():
    axes = residual.depths(MODELS, depth.RULE).axes[0]
    assert sum(len(line.get_xdata()) for line in axes.lines) == len(MODELS)
    assert len(axes.patches) == len(depth.RULE)
