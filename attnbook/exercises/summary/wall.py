"""Derive: the wall of one mixture.

wall(a, share): two sources of independent features, mean 0 and variance 1, are mixed with weights a and 1 - a. A `share` of
the features is wanted from the first source, the rest from the second. Returns the least mean square error of any
linear reading of the mixture.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake
from attnbook.exercises._report import report
from attnbook.exercises._returned import length


def check_wall(fn) -> None:
    """Check wall(a, share) and print one message."""
    report(EXERCISE, fn)


def _errors(a):
    """Least error for a feature of the first source and for one of the second."""
    total = a ** 2 + (1 - a) ** 2
    return (1 - a) ** 2 / total, a ** 2 / total


def right(a, share):
    first, second = _errors(a)
    return share * first + (1 - share) * second


def cases(generator):
    def draw(low, high):
        return round(low + (high - low) * float(torch.rand((), generator=generator)), 2)

    def case(stage, a, share, words):
        return Case(stage, words, (a, share))

    return [case("any", draw(0.6, 0.9), draw(0.15, 0.4), "any weights and any share"),
            case("equal weights", 0.5, draw(0.2, 0.45), "equal weights"),
            case("half of each", draw(0.6, 0.9), 0.5, "half of the features from each source"),
            case("one source", 1.0, draw(0.2, 0.45), "all weight on the first source")]


# -- the mistakes ----------------------------------------------------------------------------

def _with(first, second):
    return lambda a, share: share * first(a) + (1 - share) * second(a)


MISTAKES = (
    Mistake("the mixture itself was taken as the answer",
            _with(lambda a: 2 * (1 - a) ** 2, lambda a: 2 * a ** 2),
            "A reader may multiply what it gets. Which factor makes the error smallest?"),
    Mistake("the mixture was only brought back to size",
            (_with(lambda a: 1 + 1 / a ** 2 * (a ** 2 + (1 - a) ** 2) - 2 if a else 1.0,
                   lambda a: 1 + (a ** 2 + (1 - a) ** 2) / (1 - a) ** 2 - 2 if a < 1 else 1.0)),
            "Dividing by the weight blows up the other source. Which factor makes the error smallest?"),
    Mistake("the two sources, or what is told and what is left, are exchanged", lambda a, share: right(1 - a, share),
            "The more weight a source has, the smaller is the error of its features."),
    Mistake("weights in place of their squares", _with(lambda a: 1 - a, lambda a: a),
            "Variances grow with the square of a factor: the mixture has variance a² + (1 - a)²."),
    Mistake("the error is not divided by the variance of the mixture",
            _with(lambda a: (1 - a) ** 2, lambda a: a ** 2),
            "What part of the mixture's variance comes from the other source?"),
    Mistake("the root of the error", lambda a, share: right(a, share) ** 0.5, "The mean square, not its root."),
    Mistake("one half for every share", lambda a, share: 0.5,
            "That is the case of half of the features from each source. With other shares the weights matter.",
            ("any",)),
)


EXERCISE = Exercise(
    name="wall",
    usage="wall(a, share)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="One number between 0 and 1; a is the weight of the first source, share the part of the features wanted "
               "from it.",
    read=length,
)
