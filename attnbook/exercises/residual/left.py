"""Predict: what is left of a gradient after many layers of one slope.

what_is_left(kind, slope, layers): every layer computes f(x) = slope * x and is joined in the way of its kind. Returns
the gradient at the input over the gradient at the end.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake
from attnbook.exercises._report import report

GATE = 0.25
FACTORS = {
    "plain": lambda slope, n: slope,
    "residual": lambda slope, n: 1 + slope,
    "scaled": lambda slope, n: 1 + slope / n,
    "rezero": lambda slope, n: 1.0,
    "highway": lambda slope, n: 1 - GATE + GATE * slope,
}


def check_what_is_left(fn) -> None:
    """Check what_is_left(kind, slope, layers) and print one message."""
    report(EXERCISE, fn)


def _left(factors=None, power=lambda factor, n: factor**n):
    """The right answer, with some factors replaced."""
    known = {**FACTORS, **(factors or {})}
    return lambda kind, slope, n: power(known[kind](slope, n), n)


right = _left()


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    def draw(low, high):
        return low + (high - low) * torch.rand((), generator=generator).item()

    def case(stage, kind, low, high):
        slope, layers = round(draw(low, high), 2), int(draw(6, 12))
        return Case(stage, f"kind {kind!r}, slope {slope}, {layers} layers", (kind, slope, layers))

    return [case("plain", "plain", 0.6, 0.9), case("residual", "residual", 0.1, 0.3),
            case("negative slope", "residual", -0.6, -0.3), case("scaled", "scaled", 0.5, 0.9),
            case("rezero", "rezero", 0.5, 0.9), case("highway", "highway", 0.4, 0.8)]


# -- the mistakes ----------------------------------------------------------------------------

MISTAKES = (
    Mistake("one layer only", _left(power=lambda factor, n: factor), "Each layer multiplies once more."),
    Mistake("the layers are added up in place of multiplied",
            (_left(power=lambda factor, n: factor * n), _left(power=lambda factor, n: 1 + (factor - 1) * n)),
            "The chain rule multiplies one factor for each layer."),
    Mistake("the residual is forgotten", _left({"residual": lambda s, n: s}), "x + f(x) has a slope of its own.",
            ("residual", "negative slope")),
    Mistake("at least 1", _left({"residual": lambda s, n: max(1.0, 1 + s)}),
            "A slope may be negative, and then the two terms work against each other.", ("negative slope",)),
    Mistake("the sign of the slope is lost", _left({"residual": lambda s, n: 1 + abs(s)}),
            "A negative slope lowers the sum.", ("negative slope",)),
    Mistake("the skip path alone", _left({kind: lambda s, n: 1.0 for kind in ("residual", "scaled", "highway")}),
            "The sublayers hand on gradient, too.", ("residual", "negative slope", "scaled")),
    Mistake("the scale is forgotten", _left({"scaled": lambda s, n: 1 + s}),
            "The more layers there are, the less each one adds.", ("scaled",)),
    Mistake("scaled by the root of the number of layers", _left({"scaled": lambda s, n: 1 + s / n**0.5}),
            "Here it is the number of layers itself.", ("scaled",)),
    Mistake("ReZero was taken for no connection", _left({"rezero": lambda s, n: 0.0}),
            "Only the sublayer is multiplied by 0, not x.", ("rezero",)),
    Mistake("ReZero was taken for a residual at full scale", _left({"rezero": lambda s, n: 1 + s}),
            "Its scale starts at 0.", ("rezero",)),
    Mistake("the highway gate does not touch x", _left({"highway": lambda s, n: 1 + GATE * s}),
            "That is the gated residual. In a highway the old stream fades where the gate opens.", ("highway",)),
    Mistake("the gate works the other way round", _left({"highway": lambda s, n: GATE + (1 - GATE) * s}),
            "g belongs to f(x), 1 - g to x.", ("highway",)),
)

EXERCISE = Exercise(
    name="what_is_left",
    usage="what_is_left(kind, slope, layers)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Return one number: the gradient at the input over the gradient at the end.",
)
