"""Implement: attention weights from scores.

attention_weights(scores, mask=None): scores (..., L, S), rows are queries and columns keys; mask boolean (L, S),
True = may attend. Returns weights (..., L, S): none negative, each row sums to 1. A score of -inf and a hidden key get
weight 0. Every query sees at least one key.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, gradient_of_first, holds_nan, normal
from attnbook.exercises._report import report


def right(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.softmax(scores, -1)


def check_attention_weights(fn) -> None:
    """Check attention_weights(scores, mask=None) and print one message."""
    report(EXERCISE, fn)


# -- the inputs ------------------------------------------------------------------------------

ROUGH = 5e-3  # float32 keeps three digits behind the point near 10000


def cases(generator):
    rows_apart = torch.tensor([1e4, -1e4, 0.0])[:, None]
    mask = _mask(generator)
    masked = "scores of shape (2, 3, 5) with a mask of shape (3, 5)"
    giants = normal(generator, 2, 3, 5) + torch.where(mask, -1e4, 1e4)
    return [
        Case("axis", "scores of shape (3, 5)", (normal(generator, 3, 5),)),
        Case("batch", "scores of shape (2, 3, 5)", (normal(generator, 2, 3, 5),)),
        Case("size", "scores of shape (2, 3, 5), all near 10000", (normal(generator, 2, 3, 5) + 1e4,), tolerance=ROUGH),
        Case("size", "scores of shape (2, 3, 5), one row near 10000, one near -10000",
             (normal(generator, 2, 3, 5) + rows_apart,), tolerance=ROUGH),
        Case("-inf", "scores of shape (2, 3, 5), some of them -inf",
             (normal(generator, 2, 3, 5).masked_fill(~_mask(generator), -torch.inf),)),
        Case("mask", masked, (normal(generator, 2, 3, 5) - 6, mask)),
        Case("hidden", f"{masked}, visible scores near -10000, hidden ones near 10000", (giants, mask),
             tolerance=ROUGH),
        Case("gradient", f"{masked}, visible scores near -10000, hidden ones near 10000; the gradient of the result",
             (giants, mask), gradient_of_first(normal(generator, 2, 3, 5)), 4 * ROUGH),
    ]


def _mask(generator):
    """(3, 5), True = may attend; each row hides two keys, and no row hides the same two as another."""
    first = torch.tensor([[1, 1, 1, 0, 0], [0, 1, 1, 0, 1], [1, 0, 1, 1, 0]], dtype=torch.bool)
    return first[:, torch.randperm(5, generator=generator)]


# -- the mistakes ----------------------------------------------------------------------------

def rows(got, want):
    """Sums of rows and columns, as a symptom."""
    if torch.allclose(got.sum(-1), want.sum(-1), atol=1e-3):
        return ""
    columns = got.sum(-2)
    also = ", its columns do" if torch.allclose(columns, torch.ones_like(columns), atol=1e-3) else ""
    return f"The rows of the result do not sum to 1{also}."


def _exp(scores):
    return (scores - scores.amax(-1, keepdim=True)).exp()


def _hidden_as(value):
    return lambda scores, mask: torch.softmax(torch.where(mask, scores, value), -1)


def _late_mask(scores, mask):
    kept = torch.softmax(scores, -1) * mask
    return kept / kept.sum(-1, keepdim=True)


def _hidden_keys_count(got, case):
    hidden = got[..., ~case.args[1]]
    return bool((got >= 0).all() and (hidden > 1e-4).any())


def _softmax_by(peak, scores):
    e = (scores - peak).exp()
    return e / e.sum(-1, keepdim=True)


MISTAKES = (
    Mistake("softmax over the queries", lambda s, m=None: torch.softmax(s, -2),
            "Each query shares out 1 among the keys: the sum runs over the keys, along the last axis.", ("axis",)),
    Mistake("the axis is counted from the front", lambda s, m=None: torch.softmax(s, 1),
            "With a batch axis in front, axis 1 holds the queries. Count from the end.", ("batch",)),
    Mistake("softmax over the whole matrix",
            (lambda s, m=None: torch.softmax(s.flatten(), 0).view_as(s),
             lambda s, m=None: torch.softmax(s.flatten(-2), -1).view_as(s)),
            "Each query has its own sum: normalise row by row, not all entries together.", ("axis", "batch")),
    Mistake("one sum for the whole matrix", lambda s, m=None: _exp(s) / _exp(s).sum(),
            "Each row was divided by the sum of all entries: sum along the keys only, and keep that axis.",
            ("axis", "batch")),
    Mistake("the scores were returned as they came", lambda s, m=None: s,
            "Scores may be negative and sum to anything; weights come out of the softmax.", ("axis",)),
    Mistake("the scores were not exponentiated",
            (lambda s, m=None: s / s.sum(-1, keepdim=True), lambda s, m=None: s.abs() / s.abs().sum(-1, keepdim=True)),
            "Plain division has no use for a negative score. Softmax takes the exponential first.", ("axis",)),
    Mistake("the exponentials were not normalised", (lambda s, m=None: s.exp(), lambda s, m=None: _exp(s)),
            "They are positive but sum to anything; divide each row by its sum.", ("axis",)),
    Mistake("logarithms of the weights", lambda s, m=None: torch.log_softmax(s, -1),
            "The weights themselves were asked for, not their logarithms.", ("axis",)),
    Mistake("softmax was applied twice", lambda s, m=None: torch.softmax(torch.softmax(s, -1), -1),
            "Weights went through softmax again, which makes them nearly equal. Once is enough.", ("axis",)),
    Mistake("the scores were scaled once more", lambda s, m=None: torch.softmax(s / s.shape[-1] ** 0.5, -1),
            "Scaling belongs to the scores and is done before this function.", ("axis",)),
    Mistake("argmax in place of softmax", lambda s, m=None: (s == s.amax(-1, keepdim=True)).to(s.dtype),
            "The winner took everything. Softmax leaves every key a share.", ("axis",)),
    Mistake("sigmoid in place of softmax", lambda s, m=None: torch.sigmoid(s),
            "Each entry was squeezed on its own; in a softmax the keys of a row compete for a sum of 1.", ("axis",)),
    Mistake("the result is transposed", lambda s, m=None: torch.softmax(s, -1).transpose(-2, -1),
            "Rows are queries and columns are keys, going in and coming out.", ("axis",)),
    Mistake("the largest score is not subtracted", lambda s, m=None: _softmax_by(0.0, s),
            "The exponential of a large score overflows. Subtract the maximum of each row first; no weight changes.",
            ("size",)),
    Mistake("one maximum was subtracted for all rows",
            (lambda s, m=None: _softmax_by(s.max(), s), lambda s, m=None: _softmax_by(s.amax((-2, -1), True), s)),
            "A row far below it underflows to zero divided by zero. Each row needs its own maximum.", ("size",)),
    Mistake("-inf was taken for 0", lambda s, m=None: torch.softmax(s.masked_fill(s == -torch.inf, 0.0), -1),
            "A score of 0 is an ordinary score, since exp(0) is 1. A score of -inf must end as weight 0.", ("-inf",)),
    Mistake("-inf met a 0 or another infinity", (), "Such a product or difference has no value. "
            "Subtract the maximum of the row, which is finite, and let the exponential turn -inf into 0.",
            ("-inf",), sign=holds_nan),
    Mistake("the mask is not used", lambda s, m: torch.softmax(s, -1), "The hidden keys still have weight.", ("mask",)),
    Mistake("the mask is inverted", lambda s, m: right(s, ~m),
            "True means: may attend. The weight went to the hidden keys.", ("mask",)),
    Mistake("the mask is applied after the softmax", lambda s, m: torch.softmax(s, -1) * m,
            "The weight of the hidden keys is lost and nothing makes up for it. Hide scores, before the softmax.",
            ("mask",)),
    Mistake("hidden scores are set to 0", _hidden_as(0.0),
            "exp(0) is 1, so a hidden key keeps a share. Only minus infinity gives exactly no weight.", ("mask",)),
    Mistake("the mask was added as it is", lambda s, m: torch.softmax(s + m.to(s.dtype), -1),
            "True counted as 1 and False as 0: that moves scores a little and hides nothing.", ("mask",)),
    Mistake("minus infinity came after the softmax", lambda s, m: torch.softmax(s, -1).masked_fill(~m, -torch.inf),
            "It belongs into the scores, where the exponential turns it into 0.", ("mask",)),
    Mistake("a causal mask in place of the mask given", lambda s, m: right(s, torch.ones_like(m).tril()),
            "Here the mask says which keys a query may see; it need not be a triangle.", ("mask",)),
    Mistake("the stand-in for minus infinity is too small", (),
            "The hidden keys still have weight: against these scores a finite number is not low enough. "
            "Minus infinity always is.", ("mask", "hidden"), sign=_hidden_keys_count),
    Mistake("the mask comes too late", (_late_mask, lambda s, m: torch.zeros_like(s)),
            "A large hidden score took part in the maximum or in the softmax, and nothing was left for the visible "
            "keys: zero divided by zero. Hide scores first of all.", ("hidden",)),
    Mistake("NaN through the branch not taken", (), "The weights are right, their gradient is not: where() passes "
            "zero times infinity back from the entries it did not choose. Hide scores before the exponential.",
            ("gradient",), sign=holds_nan),
)


EXERCISE = Exercise(
    name="attention_weights",
    usage="attention_weights(scores, mask=None)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Scores (..., L, S): rows are queries, columns are keys; the mask is boolean, True = may attend.",
    symptom=rows,
)
