"""Implement: scaled dot-product attention with a mask.

scaled_dot_product_attention(q, k, v, mask=None): q (..., L, d_k), k (..., S, d_k), v (..., S, d_v), mask boolean
(L, S), True = may attend. Returns the output (..., L, d_v). Every query sees at least one key.
"""

import math

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, holds_nan, normal
from attnbook.exercises._report import report


def check_scaled_dot_product_attention(fn) -> None:
    """Check scaled_dot_product_attention(q, k, v, mask=None) and print one message."""
    report(EXERCISE, fn)


def _attend(score=lambda q, k: q @ k.mT, scale=lambda q, k: math.sqrt(q.shape[-1]), axis=-1,
            hide=lambda s, m: s.masked_fill(~m, -torch.inf), late=None, mix=lambda w, q, k, v: w @ v):
    """score -> scale -> hide -> softmax -> late mask -> mix, with one stage changed."""
    def attend(q, k, v, mask=None):
        scores = score(q, k) / scale(q, k)
        if mask is not None and late is None:
            scores = hide(scores, mask)
        weights = torch.softmax(scores, axis)
        if mask is not None and late is not None:
            weights = late(weights, mask)
        return mix(weights, q, k, v)
    return attend


right = _attend()


# -- the inputs: L 3, S 5, d_k 4, d_v 6, batch 2: no two sizes agree -------------------------

def cases(generator):
    def draw(*batch, stretch=1.5):
        return (normal(generator, *batch, 3, 4) * stretch, normal(generator, *batch, 5, 4),
                normal(generator, *batch, 5, 6))  # not larger, or softmax(v v^T) v would be v itself

    plain, batched = "q (3, 4), k (5, 4), v (5, 6)", "q (2, 3, 4), k (2, 5, 4), v (2, 5, 6)"
    q, k, v = draw(2)
    # large scores with large gaps: one key takes all, so that rounding cannot show
    far, level = 500 + 100 * q.abs(), (torch.randperm(5, generator=generator) + 1.0)[:, None] + 0.05 * k.clamp(-1, 1)
    same = _mask(generator)[:1].expand(3, 5)  # the same keys are hidden from all, and they score highest
    turned = torch.where(same[0][:, None], -level, level)
    return [
        Case("operands and scale", plain, draw()),
        Case("batch", batched, draw(2)),
        Case("mask", f"{batched}, mask (3, 5)", (*draw(2), _mask(generator))),
        Case("size", f"{batched}, scores in the thousands", (far, level, v)),
        Case("hidden", f"{batched}, mask (3, 5), visible scores below -1000, hidden ones above 1000",
             (far, turned, v, same)),
    ]


def _mask(generator):
    first = torch.tensor([[1, 1, 1, 0, 0], [0, 1, 1, 0, 1], [1, 0, 1, 1, 0]], dtype=torch.bool)
    return first[:, torch.randperm(5, generator=generator)]


# -- the mistakes ----------------------------------------------------------------------------

def _renormalised(weights, mask):
    kept = weights * mask
    return kept / kept.sum(-1, keepdim=True)


FIRST, MASKED = ("operands and scale", "batch"), ("mask", "hidden")
MISTAKES = (
    Mistake("the weights were returned", lambda q, k, v, m=None: _attend(mix=lambda w, q, k, v: w)(q, k, v, m),
            "The weights say how much to take; the output takes it from the values.", FIRST),
    Mistake("the scores are not scaled", _attend(scale=lambda q, k: 1.0),
            "The dot products were used as they came. Their spread grows with the width of a key.", FIRST),
    Mistake("divided by d_k, not by its root", _attend(scale=lambda q, k: q.shape[-1]),
            "The standard deviation of a dot product grows like the root of the width, not like the width.", FIRST),
    Mistake("multiplied by the root of d_k", _attend(scale=lambda q, k: 1 / math.sqrt(q.shape[-1])),
            "The scaling should make the scores smaller; here they became larger.", FIRST),
    Mistake("the root of the wrong size", (
        _attend(scale=lambda q, k: math.sqrt(k.shape[-2])), _attend(scale=lambda q, k: math.sqrt(q.shape[-2])),
        lambda q, k, v, m=None: _attend(scale=lambda *_: v.shape[-1] ** 0.5)(q, k, v)),
            "A number of tokens, or the width of a value, stands under the root. It is the width of a key.", FIRST),
    Mistake("softmax over the queries", _attend(axis=-2),
            "Each query shares out 1 among the keys: the sum runs along the last axis.", FIRST),
    Mistake("softmax is missing", lambda q, k, v, m=None: q @ k.mT / math.sqrt(q.shape[-1]) @ v,
            "Raw scores were used as weights; they may be negative and sum to anything.", FIRST),
    Mistake("argmax in place of softmax",
            lambda q, k, v, m=None: torch.nn.functional.one_hot((q @ k.mT).argmax(-1), k.shape[-2]).to(v.dtype) @ v,
            "The best key took everything. Softmax leaves every key a share.", FIRST),
    Mistake("keys and values are confused", (_attend(mix=lambda w, q, k, v: w @ k),
                                             lambda q, k, v, m=None: torch.softmax(v @ v.mT, -1) @ v),
            "The weights mix the values; the keys are there to be matched.", FIRST),
    Mistake("the keys are not used", _attend(score=lambda q, k: 0 * (q @ k.mT)),
            "All weights are equal, whatever the keys are.", FIRST),
    Mistake("the mask is not used", lambda q, k, v, m: right(q, k, v), "Hidden keys still have weight.", MASKED),
    Mistake("the mask is inverted", lambda q, k, v, m: right(q, k, v, ~m),
            "True means: may attend. The weight went to the hidden keys.", MASKED),
    Mistake("hidden scores are set to 0", _attend(hide=lambda s, m: torch.where(m, s, 0.0)),
            "A score of 0 is an ordinary score, since exp(0) is 1. Only minus infinity gives no weight.", ("mask",)),
    Mistake("the mask was added as it is", _attend(hide=lambda s, m: s + m.to(s.dtype)),
            "True counted as 1 and False as 0: that moves scores a little and hides nothing.", MASKED),
    Mistake("the mask is applied after the softmax", _attend(late=lambda w, m: w * m),
            "The share of the hidden keys is lost, so the rest no longer sums to 1. Hide scores, before the softmax.",
            MASKED),
    Mistake("the stand-in for minus infinity is too small", tuple(
        _attend(hide=lambda s, m, low=low: torch.where(m, s, low)) for low in (-10.0, -100.0, -1000.0)),
            "Against large scores a finite number is not low enough. Minus infinity always is.", MASKED),
    Mistake("the largest score is not subtracted", (),
            "The exponential of a large score overflows. Subtract the maximum of each row, or use torch.softmax.",
            ("size",), sign=holds_nan),
    Mistake("the mask comes too late", _attend(late=_renormalised),
            "A large hidden score took all the weight in the softmax, and nothing was left for the visible keys.",
            ("hidden",)),
    Mistake("NaN from infinities", (), "Zero times infinity, or the difference of two infinities, has no value. "
            "Hide scores before the exponential, and let softmax do the rest.", MASKED, sign=holds_nan),
)


EXERCISE = Exercise(
    name="scaled_dot_product_attention",
    usage="scaled_dot_product_attention(q, k, v, mask=None)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="q (..., L, d_k), k (..., S, d_k), v (..., S, d_v); the mask (L, S) is boolean, True = may attend; "
               "the output is (..., L, d_v).",
)
