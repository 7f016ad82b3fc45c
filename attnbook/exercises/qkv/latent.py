"""Find the bug: one head of latent attention, computed on the latents (the absorbed form).

latent_attention(x, w_q, w_down, w_uk, w_uv): x (..., L, d), w_q (d, d_k), w_down (d, r), w_uk (r, d_k), w_uv (r, d_v).
The latent of a token is c = x w_down, its key c w_uk, its value c w_uv. Returns (..., L, d_v).
"""

import math

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report


def check_latent_attention(fn) -> None:
    """Check latent_attention(x, w_q, w_down, w_uk, w_uv) and print one message."""
    report(EXERCISE, fn)


def _latent(scale=lambda w_uk: math.sqrt(w_uk.shape[1]), up=True, values=lambda out, w_uk, w_uv: out @ w_uv,
            value_of=lambda x, c: c):
    def attend(x, w_q, w_down, w_uk, w_uv):
        c = x @ w_down
        scores = x @ w_q @ w_uk.mT @ c.mT if up else x @ w_q @ w_q.mT @ x.mT
        weights = torch.softmax(scores / scale(w_uk), -1)
        return values(weights @ value_of(x, c), w_uk, w_uv)
    return attend


right = _latent()


def cases(generator):
    def draw(*batch, d_k=8):
        return (normal(generator, *batch, 4, 9), normal(generator, 9, d_k) / 2, normal(generator, 9, 3) / 2,
                normal(generator, 3, d_k) / 1.5, normal(generator, 3, 5))

    sizes = "w_q (9, 8), w_down (9, 3), w_uk (3, 8), w_uv (3, 5)"
    return [Case("one sequence", f"x (4, 9), {sizes}", draw()), Case("batch", f"x (2, 4, 9), {sizes}", draw(2))]


# -- the mistakes ----------------------------------------------------------------------------

def _over_queries(x, w_q, w_down, w_uk, w_uv):
    c = x @ w_down
    return torch.softmax(x @ w_q @ (c @ w_uk).mT / math.sqrt(w_uk.shape[1]), -2) @ c @ w_uv


MISTAKES = (
    Mistake("divided by the root of the latent's width", _latent(scale=lambda w: math.sqrt(w.shape[0])),
            "The scores are those of the expanded form, whatever the order of the products: the width under the root "
            "is that of a key, not of what is multiplied last."),
    Mistake("the scores are not scaled", _latent(scale=lambda w: 1.0), "The root of d_k is missing."),
    Mistake("divided by d_k, not by its root", _latent(scale=lambda w: w.shape[1]), "It is the root of d_k."),
    Mistake("the latent itself was returned", _latent(values=lambda out, w_uk, w_uv: out),
            "The mixture of latents still has to go up to the width of a value."),
    Mistake("the values went up through the matrix of the keys", _latent(values=lambda out, w_uk, w_uv: out @ w_uk),
            "Keys and values share the latent, but each has a matrix of its own to go up."),
    Mistake("both: the root of the latent's width, and the matrix of the keys for the values",
            _latent(scale=lambda w: math.sqrt(w.shape[0]), values=lambda out, w_uk, w_uv: out @ w_uk),
            "There are two bugs: look at what is under the root, and at the way back up."),
    Mistake("softmax over the queries", _over_queries, "Each query shares out 1 among the keys: the last axis."),
    Mistake("the keys do not go through the latent", _latent(up=False),
            "The scores were taken between queries. What is matched are keys made of the latents."),
)


EXERCISE = Exercise(
    name="latent_attention",
    usage="latent_attention(x, w_q, w_down, w_uk, w_uv)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="The result must equal attention with keys x w_down w_uk and values x w_down w_uv, shape (..., L, d_v).",
)
