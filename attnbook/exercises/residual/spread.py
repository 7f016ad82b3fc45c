"""Predict: the standard deviation of the stream.

stream_spread(kind, n, s): the stream starts with standard deviation 1; the output of each of n sublayers has standard
deviation s and is independent of everything before. Returns the standard deviation at the end.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake
from attnbook.exercises._report import report

SPREADS = {
    "pre": lambda n, s: (1 + n * s**2) ** 0.5,
    "post": lambda n, s: 1.0,
    "final": lambda n, s: 1.0,
    "rooted": lambda n, s: (1 + s**2) ** 0.5,
}


def check_stream_spread(fn) -> None:
    """Check stream_spread(kind, n, s) and print one message."""
    report(EXERCISE, fn)


def _spread(**spreads):
    """The right answer, with some kinds replaced."""
    known = {**SPREADS, **spreads}
    return lambda kind, n, s: known[kind](n, s)


right = _spread()


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    def case(stage, kind):
        n = int(torch.randint(20, 200, (), generator=generator))
        s = round(0.3 + 0.5 * torch.rand((), generator=generator).item(), 2)
        return Case(stage, f"kind {kind!r}, n = {n}, s = {s}", (kind, n, s))

    return [case("pre-norm", "pre"), case("post-norm", "post"), case("final norm", "final"), case("rooted", "rooted")]


# -- the mistakes ----------------------------------------------------------------------------

MISTAKES = (
    Mistake("the first vector is not counted", _spread(pre=lambda n, s: n**0.5 * s),
            "There is one more summand than sublayers: what came in.", ("pre-norm",)),
    Mistake("the variance in place of the standard deviation", _spread(pre=lambda n, s: 1 + n * s**2),
            "A root is missing.", ("pre-norm",)),
    Mistake("standard deviations were added", _spread(pre=lambda n, s: 1 + n * s),
            "Independent numbers cancel in part: their variances add.", ("pre-norm",)),
    Mistake("one sublayer only", _spread(pre=lambda n, s: (1 + s**2) ** 0.5), "Each of them adds.", ("pre-norm",)),
    Mistake("pre-norm was thought to keep the stream at 1", _spread(pre=lambda n, s: 1.0),
            "The norm sits in the branch. Nothing norms the stream itself.", ("pre-norm",)),
    Mistake("the size of the parcels is left out", _spread(pre=lambda n, s: (1 + n) ** 0.5),
            "The variance of a parcel is the square of s.", ("pre-norm",)),
    Mistake("s is not squared", _spread(pre=lambda n, s: (1 + n * s) ** 0.5),
            "The variance of a parcel is the square of s.", ("pre-norm",)),
    Mistake("post-norm was thought to grow", (_spread(post=SPREADS["pre"]), _spread(post=SPREADS["rooted"])),
            "What comes last in each of its blocks?", ("post-norm",)),
    Mistake("the final norm was forgotten", _spread(final=SPREADS["pre"]), "What comes last?", ("final norm",)),
    Mistake("the root was forgotten", _spread(rooted=SPREADS["pre"]), "Each parcel is smaller here.", ("rooted",)),
    Mistake("divided by n in place of its root", _spread(rooted=lambda n, s: (1 + s**2 / n) ** 0.5),
            "Dividing by the root divides the variance by n.", ("rooted",)),
    Mistake("the parcels were thought to vanish", _spread(rooted=lambda n, s: 1.0),
            "Each is small, but there are n of them.", ("rooted",)),
)

EXERCISE = Exercise(
    name="stream_spread",
    usage="stream_spread(kind, n, s)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Return one number: the standard deviation at the end.",
)
