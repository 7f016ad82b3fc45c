"""Implement: find the induction head of a model from its maps.

induction_head(weights, n): weights (layers, H, 2n, 2n) of a text of n tokens that stands there twice -> (layer, head), from 0, of the
head that most looks from a token of the second copy to the token that followed it in the first.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises.heads._maps import argmax_head, planted
from attnbook.exercises._report import report

LAYERS, HEADS = 3, 4


def check_induction_head(fn) -> None:
    """Check induction_head(weights, n) and print one message."""
    report(EXERCISE, fn)


def _scores(weights, n, ahead=1):
    """Mean weight from place i to place i - n + ahead, (layers, H)."""
    i = torch.arange(n, 2 * n - ahead)
    return weights[:, :, i, i - n + ahead].mean(-1)


def right(weights, n):
    return argmax_head(_scores(weights, n))


def _previous(weights, n):
    i = torch.arange(1, 2 * n)
    return weights[:, :, i, i - 1].mean(-1)


# -- the inputs: heads with jobs among heads without ------------------------------------------

def cases(generator):
    """Three models: one alone would be named by a guess in one of a dozen draws."""
    return [_model(generator) for _ in range(3)]


def _model(generator):
    n = int(torch.randint(5, 8, (1,), generator=generator))
    i = torch.arange(2 * n)
    second = i[n:2 * n - 1]
    noise = normal(generator, LAYERS, HEADS, 2 * n, 2 * n)
    jobs = [(second, second - n + 1, 4.0), (i[n:], i[n:] - n, 6.0), (i[1:], i[1:] - 1, 6.0), (i[1:], 0 * i[1:], 6.0),
            (second[:1], second[:1] - n + 1, 30.0), (i[n:2 * n - 2], i[n:2 * n - 2] - n + 2, 6.0)]
    return Case("jobs", "weights (3, 4, 2n, 2n) of a causal model, n from 5 to 7",
                (planted(generator, noise, jobs), n))


MISTAKES = (
    Mistake("layer and head are exchanged", lambda w, n: right(w, n).flip(0), "The first axis of weights is the layer."),
    Mistake("heads are counted from 1", lambda w, n: right(w, n) + 1, "Both numbers count from 0 here."),
    Mistake("one number for a layer and head", lambda w, n: _scores(w, n).argmax(),
            "argmax of a matrix counts through all its cells; turn the number into two."),
    Mistake("the head that looks at the same token in the first copy was taken", lambda w, n: argmax_head(_scores(w, n, 0)),
            "That head finds the earlier copy. Which token does one need in order to say what comes next?"),
    Mistake("the head that looks at the token before was taken", lambda w, n: argmax_head(_previous(w, n)),
            "A previous-token head helps, but it is another job."),
    Mistake("the head that looks two after the copy was taken", lambda w, n: argmax_head(_scores(w, n, 2)),
            "Count by hand where the token after the first copy stands."),
    Mistake("a single large weight decided", (
        lambda w, n: argmax_head(w.diagonal(1 - n, -2, -1)[..., 1:].amax(-1)),
        lambda w, n: argmax_head(w[..., 1:, :].flatten(2).amax(-1))), "A head's habit is its mean over all places."),
    Mistake("the head that reads the first token was taken", lambda w, n: argmax_head(w[:, :, 1:, 0].mean(-1)),
            "That is a sink: the head with most weight in one column."),
)

EXERCISE = Exercise(
    name="induction_head",
    usage="induction_head(weights, n)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Return (layer, head), both from 0; weights are (layers, H, 2n, 2n), rows are queries.",
)
