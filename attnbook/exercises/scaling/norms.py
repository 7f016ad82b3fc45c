"""Implement: how much gradient a row lets through.

jacobian_norms(scores): scores (..., L, S). Returns the Frobenius norm of the Jacobian of softmax, diag(p) - p p^T, of
each row, (..., L). A row is called dead if its norm is below 0.001.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report


def check_jacobian_norms(fn) -> None:
    """Check jacobian_norms(scores) and print one message."""
    report(EXERCISE, fn)


def _jacobian(p):
    return torch.diag_embed(p) - p[..., :, None] * p[..., None, :]


def _norms(of=_jacobian, norm=lambda j: j.square().sum((-2, -1)).sqrt(), axis=-1):
    return lambda scores: norm(of(torch.softmax(scores, axis)))


right = _norms()


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    mixed = normal(generator, 4, 5)
    mixed[1] *= 6
    far = normal(generator, 2, 3, 6) + 1000
    return [
        Case("norm", "scores of shape (3, 5)", (normal(generator, 3, 5),)),
        Case("sharp rows", "scores of shape (4, 5), one row much wider than the others", (mixed,)),
        Case("batch", "scores of shape (2, 3, 6), all near 1000", (far,)),
    ]


# -- the mistakes ----------------------------------------------------------------------------

def _root_of_slopes(p):
    return (p * (1 - p)).square().sum(-1).sqrt()


MISTAKES = (
    Mistake("only the diagonal", _norms(of=lambda p: p, norm=_root_of_slopes),
            "A nudged score moves the other weights too: the entries beside the diagonal count."),
    Mistake("the squared norm", _norms(norm=lambda j: j.square().sum((-2, -1))), "A root is missing."),
    Mistake("the largest singular value", _norms(norm=lambda j: torch.linalg.matrix_norm(j, 2)),
            "That is a norm as well, the spectral one. The Frobenius norm sums the squares of all entries."),
    Mistake("a mean in place of a sum", _norms(norm=lambda j: j.square().mean((-2, -1)).sqrt()),
            "The squares of all entries are summed, not averaged."),
    Mistake("absolute values in place of squares", _norms(norm=lambda j: j.abs().sum((-2, -1))),
            "Frobenius: squares, sum, root."),
    Mistake("plus in place of minus", _norms(of=lambda p: torch.diag_embed(p) + p[..., :, None] * p[..., None, :]),
            "Rows of the Jacobian sum to 0, since the weights always sum to 1."),
    Mistake("p pᵀ alone", _norms(of=lambda p: p[..., :, None] * p[..., None, :]), "The diagonal of p is missing."),
    Mistake("the Jacobian itself", lambda s: _jacobian(torch.softmax(s, -1)), "One number a row was asked for."),
    Mistake("softmax over the queries", _norms(axis=-2), "Each row is one query; softmax runs over its keys."),
    Mistake("the scores in place of the weights", lambda s: _jacobian(s).square().sum((-2, -1)).sqrt(),
            "The formula holds for the weights p, after softmax."),
    Mistake("one norm for all rows", lambda s: _jacobian(torch.softmax(s, -1)).square().sum().sqrt(),
            "Each row has its own; sum over the last two axes only."),
)

EXERCISE = Exercise(
    name="jacobian_norms",
    usage="jacobian_norms(scores)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Shapes: scores (..., L, S); the result (..., L) has one norm for each query.",
)
