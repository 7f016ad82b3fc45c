"""Find the bug: the weights of several heads, with a wrong factor.

head_weights(x, w_q, w_k, n_heads): x (..., L, d_model), w_q and w_k (d_model, d_model), x @ w; each head has its own
slice of d_model / n_heads features. Returns the weights, (..., H, L, L), rows sum to 1. No mask.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report


def check_head_weights(fn) -> None:
    """Check head_weights(x, w_q, w_k, n_heads) and print one message."""
    report(EXERCISE, fn)


def _split(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)  # (..., H, L, d_k)


def _weights(divisor, axis=-1):
    def head_weights(x, w_q, w_k, n_heads):
        q, k = _split(x @ w_q, n_heads), _split(x @ w_k, n_heads)
        return torch.softmax(q @ k.mT / divisor(q, x), axis)
    return head_weights


right = _weights(lambda q, x: q.shape[-1] ** 0.5)


# -- the inputs: every size that could be taken for another one differs ----------------------

def cases(generator):
    def case(stage, batch, L, n_heads, d_k):
        d = n_heads * d_k
        x = normal(generator, *batch, L, d)
        w_q, w_k = (normal(generator, d, d) * 1.2 / d ** 0.5 for _ in range(2))
        return Case(stage, f"x of shape {tuple(x.shape)}, {n_heads} heads of width {d_k}", (x, w_q, w_k, n_heads))

    return [case("factor", (), 5, 3, 4), case("factor", (), 6, 2, 7), case("batch", (2,), 7, 3, 5)]


# -- the mistakes ----------------------------------------------------------------------------

def _late(x, w_q, w_k, n_heads):
    q, k = _split(x @ w_q, n_heads), _split(x @ w_k, n_heads)
    return torch.softmax(q @ k.mT, -1) / q.shape[-1] ** 0.5


def _reshaped(x, w_q, w_k, n_heads):
    q, k = ((x @ w).reshape(*x.shape[:-2], n_heads, x.shape[-2], -1) for w in (w_q, w_k))
    return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1)


MISTAKES = (
    Mistake("divided by the root of d_model in place of d_k", _weights(lambda q, x: x.shape[-1] ** 0.5),
            "How many products does the score of one head sum up? Only those of its own slice."),
    Mistake("divided by d_k in place of its root", _weights(lambda q, x: q.shape[-1]),
            "The width is right. The spread grows as its root."),
    Mistake("divided by d_model", _weights(lambda q, x: x.shape[-1]),
            "Neither the width nor the power is right: think of one head, and of a standard deviation."),
    Mistake("the scores are not scaled", _weights(lambda q, x: 1.0), "The divisor is 1."),
    Mistake("the root of the number of words", _weights(lambda q, x: x.shape[-2] ** 0.5),
            "A longer sentence does not widen the scores; a wider vector does."),
    Mistake("the root of the number of heads", _weights(lambda q, x: q.shape[-3] ** 0.5),
            "What counts is the width of one head, not how many there are."),
    Mistake("multiplied in place of divided", _weights(lambda q, x: q.shape[-1] ** -0.5),
            "The spread is too large already."),
    Mistake("divided after softmax", _late,
            "Weights that were divided no longer sum to 1. The factor belongs to the scores."),
    Mistake("softmax over the queries", _weights(lambda q, x: q.shape[-1] ** 0.5, axis=-2),
            "Each query shares out 1 among the keys, along the last axis."),
    Mistake("heads split by reshape alone", _reshaped,
            "That cuts the words into pieces. Split the features, then swap the axes of word and head."),
)


def rows(got, want):
    """A symptom: rows that do not share out 1."""
    off = (got.sum(-1) - 1).abs().max() > 1e-3
    return "The rows of the result do not sum to 1." if off else ""


EXERCISE = Exercise(
    name="head_weights",
    usage="head_weights(x, w_q, w_k, n_heads)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Shapes: x (..., L, d_model), w_q and w_k (d_model, d_model), the result (..., H, L, L); q = x @ w_q.",
    symptom=rows,
)
