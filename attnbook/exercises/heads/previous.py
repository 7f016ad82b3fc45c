"""Implement: find the previous-token head of a model from its maps.

previous_token_head(weights): weights (layers, H, T, T) of an encoder, rows = queries -> (layer, head), from 0, of the head that most
looks from each token to the one before it.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises.heads._maps import argmax_head, planted
from attnbook.exercises._report import report

LAYERS, HEADS = 3, 4


def check_previous_token_head(fn) -> None:
    """Check previous_token_head(weights) and print one message."""
    report(EXERCISE, fn)


def _mean(weights, offset):
    """Mean weight from place i to place i + offset, (layers, H)."""
    return weights.diagonal(offset, -2, -1).mean(-1)


def right(weights):
    return argmax_head(_mean(weights, -1))


def _peak(weights):
    return argmax_head(weights.diagonal(-1, -2, -1).amax(-1))


def _often(weights):
    """The head with most rows whose largest weight it is, the row of the first token wrongly counted as a hit."""
    T = weights.shape[-1]
    return argmax_head((weights.argmax(-1) == (torch.arange(T) - 2)).double().mean(-1))


# -- the inputs --------------------------------------------------------------------------------

def cases(generator):
    """Three models: one alone would be named by a guess in one of a dozen draws."""
    return [_model(generator) for _ in range(3)]


def _model(generator):
    T = int(torch.randint(9, 13, (1,), generator=generator))
    i = torch.arange(T)
    jobs = [(i[1:], i[:-1], 4.0), (i[:-1], i[1:], 6.0), (i, i, 6.0), (i, 0 * i, 6.0), (i[3:4], i[2:3], 30.0),
            (i[2:], i[:-2], 6.0), (i, 0 * i + T - 1, 6.0)]
    noise = normal(generator, LAYERS, HEADS, T, T)
    return Case("jobs", "weights (3, 4, T, T) of an encoder, no mask, T from 9 to 12",
                (planted(generator, noise, jobs, causal=False),))


MISTAKES = (
    Mistake("layer and head are exchanged", lambda w: right(w).flip(0), "The first axis of weights is the layer."),
    Mistake("heads are counted from 1", lambda w: right(w) + 1, "Both numbers count from 0 here."),
    Mistake("one number for a layer and head", lambda w: _mean(w, -1).argmax(),
            "argmax of a matrix counts through all its cells; turn the number into two."),
    Mistake("the head that looks at the next token was taken", lambda w: argmax_head(_mean(w, 1)),
            "Rows are queries and columns are keys: the token before has the smaller column."),
    Mistake("the head that looks at the token itself was taken", lambda w: argmax_head(_mean(w, 0)),
            "The diagonal is each token's weight on itself."),
    Mistake("the head that looks two back was taken", (lambda w: argmax_head(_mean(w, -2)), _often),
            "One step back is one column to the left."),
    Mistake("the head that looks at the first token was taken", lambda w: argmax_head(w[..., 0].mean(-1)),
            "One column for all rows is a sink, not a step back."),
    Mistake("the head that looks at the last token was taken", lambda w: argmax_head(w[..., -1].mean(-1)),
            "Index -1 counts from the end. The place before i is i - 1."),
    Mistake("a single large weight decided", _peak, "A head's habit is its mean over all places."),
)

EXERCISE = Exercise(
    name="previous_token_head",
    usage="previous_token_head(weights)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Return (layer, head), both from 0; weights are (layers, H, T, T), rows are queries.",
)
