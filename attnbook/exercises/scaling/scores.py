"""Implement: scaled scores.

scaled_scores(q, k): q (..., L, d_k), k (..., S, d_k). Returns the dot product of each query with each key divided by
the root of d_k, (..., L, S), without softmax.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report


def check_scaled_scores(fn) -> None:
    """Check scaled_scores(q, k) and print one message."""
    report(EXERCISE, fn)


def right(q, k):
    return q @ k.mT / q.shape[-1] ** 0.5


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    def case(stage, batch, L, S, d):
        q, k = normal(generator, *batch, L, d), normal(generator, *batch, S, d)
        return Case(stage, f"q of shape {tuple(q.shape)}, k of shape {tuple(k.shape)}", (q, k))

    return [case("operands", (), 3, 5, 7), case("width", (), 5, 3, 12), case("batch", (2, 4), 3, 6, 10)]


# -- the mistakes ----------------------------------------------------------------------------

def _over(divisor):
    return lambda q, k: q @ k.mT / divisor(q, k)


MISTAKES = (
    Mistake("the scores are not scaled", _over(lambda q, k: 1.0),
            "The divisor is 1, so the spread of the scores grows with the width."),
    Mistake("divided by d_k in place of its root", _over(lambda q, k: q.shape[-1]),
            "Variances add, and the spread is the root of the variance."),
    Mistake("divided twice by the root", lambda q, k: (q / q.shape[-1] ** 0.5) @ (k / q.shape[-1] ** 0.5).mT,
            "A factor on the queries and one on the keys multiply: together they make d_k."),
    Mistake("the root of the number of keys or queries", (_over(lambda q, k: k.shape[-2] ** 0.5),
                                                          _over(lambda q, k: q.shape[-2] ** 0.5)),
            "The spread comes from the number of products in one sum: that is the width, the last axis of q."),
    Mistake("multiplied in place of divided", lambda q, k: q @ k.mT * q.shape[-1] ** 0.5,
            "The spread is too large already."),
    Mistake("softmax is applied", lambda q, k: torch.softmax(right(q, k), -1),
            "The scores were asked for, before softmax."),
    Mistake("queries and keys changed places", lambda q, k: right(k, q), "Rows are queries, columns are keys."),
)

EXERCISE = Exercise(
    name="scaled_scores",
    usage="scaled_scores(q, k)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Shapes: q (..., L, d_k), k (..., S, d_k); the result (..., L, S) has a row for each query.",
)
