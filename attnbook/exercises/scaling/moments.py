"""Predict: mean and standard deviation of a dot product.

score_moments(kind, d, s): the entries of q and k have mean 0 and standard deviation s, width d. Kinds:

    "independent"   all entries independent (normal)
    "same"          k is q itself
    "one number"    all entries of q are one number, all entries of k another
    "scaled"        independent, and divided by the root of d

Returns two numbers, mean and standard deviation of q . k.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake
from attnbook.exercises._report import report


def check_score_moments(fn) -> None:
    """Check score_moments(kind, d, s) and print one message."""
    report(EXERCISE, fn)


def right(kind, d, s):
    mean = d * s**2 if kind == "same" else 0
    return mean, s**2 * {"independent": d**0.5, "same": (2 * d)**0.5, "one number": d, "scaled": 1}[kind]


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    def draw(low, high):
        return int(torch.randint(low, high, (), generator=generator))

    def case(stage, kind, s):
        d = draw(20, 300)
        return Case(stage, f"kind {kind!r}, d = {d}, s = {s}", (kind, d, s))

    return [case("independent", "independent", 1), case("spread of the entries", "independent", 1 + draw(2, 9) / 10),
            case("scaled", "scaled", 2), case("one number", "one number", 1), case("same", "same", 1),
            case("same", "same", 0.5)]


# -- the mistakes ----------------------------------------------------------------------------

def _std(value):
    """The right mean with another standard deviation."""
    return lambda kind, d, s: (right(kind, d, s)[0], value(right(kind, d, s)[1], d, s))


MISTAKES = (
    Mistake("the variance in place of the standard deviation", _std(lambda std, d, s: std**2),
            "Variances add; the spread is the root of the sum."),
    Mistake("the spread of the entries is left out", _std(lambda std, d, s: std / s**2),
            "Each product holds two of them.", ("spread of the entries", "scaled", "same")),
    Mistake("the spread of the entries is counted once", _std(lambda std, d, s: std / s),
            "One factor s comes from the query and one from the key.", ("spread of the entries", "scaled", "same")),
    Mistake("d in place of the root of d", _std(lambda std, d, s: std * d**0.5),
            "Independent terms cancel in part.", ("independent",)),
    Mistake("the root of d, although nothing cancels", _std(lambda std, d, s: std / d**0.5),
            "All terms of the sum are the same number here, so none cancels another.", ("one number",)),
    Mistake("not scaled", _std(lambda std, d, s: std * d**0.5), "Dividing a number divides its spread.", ("scaled",)),
    Mistake("divided by d in place of its root", _std(lambda std, d, s: std / d**0.5),
            "The divisor is the root of d.", ("scaled",)),
    Mistake("mean 0 for a query that is its own key", (lambda kind, d, s: (0, right(kind, d, s)[1]),
                                                       lambda kind, d, s: (0, s**2 * d**0.5)),
            "A square is never negative: the terms do not average to 0.", ("same",)),
    Mistake("the spread of independent vectors", lambda kind, d, s: (d * s**2, s**2 * d**0.5),
            "The terms are squares of normal numbers; the variance of a square is 2, not 1.", ("same",)),
    Mistake("mean and standard deviation changed places", lambda kind, d, s: right(kind, d, s)[::-1],
            "The mean comes first."),
)

EXERCISE = Exercise(
    name="score_moments",
    usage="score_moments(kind, d, s)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Return two numbers: the mean and the standard deviation of q . k.",
)
