"""Implement: QK-norm.

unit_weights(q, k, factor): q (..., L, d_k), k (..., S, d_k). Queries and keys are brought to length 1; the scores are
factor times their cosines. Returns the weights, (..., L, S).
"""

import torch
from torch.nn.functional import normalize

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report


def check_unit_weights(fn) -> None:
    """Check unit_weights(q, k, factor) and print one message."""
    report(EXERCISE, fn)


def _unit(x):
    return normalize(x, dim=-1)


def _weights(on_q=_unit, on_k=_unit, scale=lambda s, f, d: s * f, axis=-1):
    return lambda q, k, factor: torch.softmax(scale(on_q(q) @ on_k(k).mT, factor, q.shape[-1]), axis)


right = _weights()


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    def case(stage, batch, factor):
        q, k = normal(generator, *batch, 3, 6) * 1.7, normal(generator, *batch, 5, 6) * 0.6
        return Case(stage, f"q of shape {tuple(q.shape)}, k of shape {tuple(k.shape)}, factor {factor}", (q, k, factor))

    return [case("length", (), 1.0), case("factor", (), 7.0), case("batch", (2, 4), 3.0)]


# -- the mistakes ----------------------------------------------------------------------------

def _same(x):
    return x


MISTAKES = (
    Mistake("the keys keep their length", _weights(on_k=_same),
            "A score is a cosine only if both vectors have length 1."),
    Mistake("the queries keep their length", _weights(on_q=_same),
            "A score is a cosine only if both vectors have length 1."),
    Mistake("nothing is normalised", (_weights(_same, _same), _weights(_same, _same, lambda s, f, d: s * f / d**0.5)),
            "Divide each query and each key by its length first."),
    Mistake("divided by the squared length", _weights(*[lambda x: x / x.square().sum(-1, keepdim=True)] * 2),
            "The length is the root of the sum of squares."),
    Mistake("normalised along the wrong axis", _weights(*[lambda x: normalize(x, dim=-2)] * 2),
            "Each query is one row: its length runs along the last axis."),
    Mistake("one length for the whole matrix", _weights(*[lambda x: x / x.norm()] * 2),
            "Each row has its own length."),
    Mistake("divided by the root of d_k as well", _weights(scale=lambda s, f, d: s * f / d**0.5),
            "A cosine no longer grows with the width, so there is nothing to make up for."),
    Mistake("divided by the factor", _weights(scale=lambda s, f, d: s / f),
            "The factor multiplies.", ("factor", "batch")),
    Mistake("the factor is not used", _weights(scale=lambda s, f, d: s),
            "With cosines alone no row can be sharp.", ("factor", "batch")),
    Mistake("the cosines themselves", lambda q, k, f: normalize(q, dim=-1) @ normalize(k, dim=-1).mT * f,
            "Weights were asked for: softmax is missing."),
    Mistake("softmax over the queries", _weights(axis=-2),
            "Each query shares out 1 among the keys, along the last axis."),
)

EXERCISE = Exercise(
    name="unit_weights",
    usage="unit_weights(q, k, factor)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Shapes: q (..., L, d_k), k (..., S, d_k), factor a number; the result (..., L, S) has rows with sum 1.",
)
