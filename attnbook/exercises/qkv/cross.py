"""Find the bug: cross-attention, in which one sequence asks and another one answers.

cross_attention(target, source, w_q, w_k, w_v): target (..., L, d) is updated, source (..., S, d) is read;
w_q, w_k (d, d_k), w_v (d, d_v). Returns (..., L, d_v).
"""

import math

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report


def check_cross_attention(fn) -> None:
    """Check cross_attention(target, source, w_q, w_k, w_v) and print one message."""
    report(EXERCISE, fn)


def _cross(asks=0, matched=1, gives=1, axis=-1, scale=lambda w: math.sqrt(w.shape[1]), swap=False):
    """Which of (target, source) makes queries, keys and values."""
    def attend(target, source, w_q, w_k, w_v):
        both, (one, two) = (target, source), (w_k, w_q) if swap else (w_q, w_k)
        scores = both[asks] @ one @ (both[matched] @ two).mT / scale(w_q)
        return torch.softmax(scores, axis) @ (both[gives] @ w_v)
    return attend


right = _cross()


def cases(generator):
    def draw(*batch):
        return (normal(generator, *batch, 3, 7), normal(generator, *batch, 5, 7), normal(generator, 7, 4) / 2,
                normal(generator, 7, 4) / 2, normal(generator, 7, 6))

    sizes = "w_q (7, 4), w_k (7, 4), w_v (7, 6)"
    return [Case("one sequence", f"target (3, 7), source (5, 7), {sizes}", draw()),
            Case("batch", f"target (2, 3, 7), source (2, 5, 7), {sizes}", draw(2))]


MISTAKES = (
    Mistake("the source asks", (_cross(asks=1, matched=0, gives=0), _cross(asks=1, matched=0, gives=0, axis=-2)),
            "The output has a row for each word of the source. Who is to be updated must ask."),
    Mistake("the target talks to itself", _cross(matched=0, gives=0),
            "That is self-attention: the source was never read."),
    Mistake("the source talks to itself", _cross(asks=1),
            "That is self-attention of the source: the target never asked."),
    Mistake("softmax over the queries", _cross(axis=-2), "Each query shares out 1 among the keys: the last axis."),
    Mistake("the matrices of queries and keys are exchanged", (_cross(swap=True), _cross(swap=True, axis=-2)),
            "The words that ask go through w_q, the words that answer through w_k."),
    Mistake("the scores are not scaled", _cross(scale=lambda w: 1.0), "The root of d_k is missing."),
    Mistake("divided by d_k, not by its root", _cross(scale=lambda w: w.shape[1]), "It is the root of d_k."),
    Mistake("the root of the model's width", _cross(scale=lambda w: math.sqrt(w.shape[0])),
            "The width of a key stands under the root, not that of the stream."),
)


EXERCISE = Exercise(
    name="cross_attention",
    usage="cross_attention(target, source, w_q, w_k, w_v)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="The target (..., L, d) is updated and asks; the source (..., S, d) gives keys and values; the result "
               "is (..., L, d_v).",
)
