"""The atom of the book: attention as a chain of small stages.

    score -> scale -> bias -> mask -> normalise -> mix

Each stage is one function below. A variant of attention is a difference in one stage,
never a copy of the whole. Rows are queries and columns are keys, everywhere in the book.

Shapes: batch and head axes come first, written "...". L queries, S keys, width d_k for
queries and keys, d_v for values.
"""

import math
from collections.abc import Callable, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from attnbook import _checks
from attnbook.softmax import softmax


# -- the stages ---------------------------------------------------------------------------

def score(q: Float[Tensor, "... L d_k"], k: Float[Tensor, "... S d_k"]) -> Float[Tensor, "... L S"]:
    """Dot product of each query with each key."""
    return q @ k.transpose(-2, -1)


def additive_mask(mask: Bool[Tensor, "..."] | Float[Tensor, "..."], dtype: torch.dtype) -> Float[Tensor, "..."]:
    """What a mask adds to the scores: 0 where a query may look and -inf where it may not.

    A boolean mask says True = may attend. A floating-point mask already is what is added.
    """
    if mask.dtype != torch.bool:
        return mask.to(dtype)
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, -torch.inf)


def mix(weights: Float[Tensor, "... L S"], v: Float[Tensor, "... S d_v"]) -> Float[Tensor, "... L d_v"]:
    """Weighted sum of the values: row i of the output is row i of the weights times v."""
    return weights @ v


# -- the formula --------------------------------------------------------------------------

def attention(
    q: Float[Tensor, "... L d_k"],
    k: Float[Tensor, "... S d_k"],
    v: Float[Tensor, "... S d_v"],
    *,
    mask: Bool[Tensor, "..."] | Float[Tensor, "..."] | None = None,
    bias: Float[Tensor, "..."] | None = None,
    causal: bool = False,
    scale: float | Tensor | None = None,
    dropout_p: float = 0.0,
    training: bool = False,
    normalise: Callable[[Tensor], Tensor] = softmax,
) -> tuple[Float[Tensor, "... L d_v"], Float[Tensor, "... L S"]]:
    """softmax(q k^T / sqrt(d_k)) v, with every stage open to change.

    mask: boolean (True = may attend) or floating-point (added to the scores). It has at most two
        axes, or as many as the scores, and broadcasts to (..., L, S).
    bias: added to the scaled scores, broadcasts like mask (ALiBi and relative positions, chapter 6).
    causal: query i sees key j only if j <= i + S - L, so that the last query sees every key.
    scale: factor on the scores; None means 1 / sqrt(d_k).
    dropout_p: share of weights dropped while training is True. The weights returned are those before dropout.
    normalise: turns a row of scores into weights (default softmax along the last axis).

    Returns (output, weights) in the dtype of the inputs; float16 and bfloat16 are computed in float32.
    A query that may attend to nothing gets zero weights, a zero output and a zero gradient.
    Masking removes a key's weight exactly, but the numbers behind it must be finite: 0 times NaN is NaN.

    Raises TypeError for integer or mixed dtypes and ValueError for shapes that do not fit.
    Source: Vaswani et al. 2017, equation 1.
    """
    _checks.qkv(q, k, v)
    if not 0.0 <= dropout_p < 1.0:
        raise ValueError(f"dropout_p is {dropout_p!r}; expected a number in [0, 1)")
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    scores = score(q * factor(scale, q), k)
    added, nothing = _what_is_added(scores, mask, bias, causal)
    if added is not None:
        scores = scores + added
    weights = normalise(scores)
    if nothing is not None:
        weights = weights.masked_fill(nothing, 0.0)
    used = nn.functional.dropout(weights, dropout_p) if training and dropout_p > 0 else weights
    return mix(used, v).to(dtype), weights.to(dtype)


def factor(scale, q):
    """The scale as something to multiply q by, in the dtype of q."""
    if scale is None:
        return 1 / math.sqrt(max(q.shape[-1], 1))
    if isinstance(scale, Tensor):
        return scale.to(q.dtype)
    if isinstance(scale, bool) or not isinstance(scale, (int, float)):
        raise TypeError(f"scale is {_checks.describe(scale)}; expected a number or a tensor")
    return scale


def _what_is_added(scores, mask, bias, causal):
    """Sum of bias and masks, (..., L, S) or None, and the rows (..., L, 1) that may attend to nothing, or None.

    Such rows are given ordinary scores here and zero weights afterwards: no NaN is ever made, forward or backward.
    """
    terms = [_checks.fits("bias", bias, scores)] if bias is not None else []
    if mask is not None:
        terms.append(additive_mask(_checks.fits("mask", mask, scores), scores.dtype))
    if causal:
        terms.append(additive_mask(causal_mask(*scores.shape[-2:], device=scores.device), scores.dtype))
    if not terms:
        return None, None
    added = sum(terms[1:], terms[0].to(scores.dtype))
    nothing = (added == -torch.inf).all(-1, keepdim=True)
    if not nothing.any():
        return added, None
    return added.masked_fill(nothing, 0.0), nothing


# -- masks: True = may attend -------------------------------------------------------------

def causal_mask(L: int, S: int | None = None, *, device=None) -> Bool[Tensor, "L S"]:
    """Each query sees the keys up to its own place, True = may attend; S defaults to L.

    The last query is aligned with the LAST key (bottom right), so that one new query sees all S cached keys.
    """
    _checks.whole_number("L", L)
    S = L if S is None else S
    _checks.whole_number("S", S)
    return torch.ones(L, S, dtype=torch.bool, device=device).tril(S - L)


def padding_mask(lengths: Sequence[int] | Tensor, max_len: int) -> Bool[Tensor, "B 1 1 S"]:
    """Hide the padding keys of each batch item, True = may attend.

    lengths: B whole numbers in 0..max_len. The shape (B, 1, 1, max_len) says batch, head, query, key:
    it hides columns, never rows, and fits scores (B, H, L, S) and (B, L, S).
    """
    _checks.whole_number("max_len", max_len)
    lengths = torch.as_tensor(lengths)
    if lengths.numel() == 0:  # torch reads an empty list as floating-point
        lengths = lengths.long()
    if lengths.is_floating_point() or lengths.dtype == torch.bool or lengths.dim() != 1:
        raise TypeError(f"lengths is {_checks.describe(lengths)}; expected one whole number per batch item")
    if ((lengths < 0) | (lengths > max_len)).any():
        raise ValueError(f"lengths has values {lengths.tolist()}; expected each in 0..{max_len} (max_len)")
    visible = torch.arange(max_len, device=lengths.device) < lengths[:, None]
    return visible[:, None, None, :]


def local_mask(L: int, S: int, window: int, *, device=None) -> Bool[Tensor, "L S"]:
    """Causal sliding window, True = may attend: each query sees the last `window` keys, its own included.

    Aligned to the last key like causal_mask.
    """
    _checks.whole_number("window", window, minimum=1)
    return causal_mask(L, S, device=device).triu(S - L - window + 1)


# -- heads --------------------------------------------------------------------------------

def split_heads(x: Float[Tensor, "... L d_model"], n_heads: int) -> Float[Tensor, "... H L d_k"]:
    """Give each head its own slice of the features: (..., L, H * d_k) -> (..., H, L, d_k)."""
    _checks.whole_number("n_heads", n_heads, minimum=1)
    _checks.shape("x", x, f"(..., L, d_model) with d_model divisible by n_heads = {n_heads}",
                  x.dim() >= 2 and x.shape[-1] % n_heads == 0)
    return x.unflatten(-1, (n_heads, x.shape[-1] // n_heads)).transpose(-3, -2)


def merge_heads(x: Float[Tensor, "... H L d_k"]) -> Float[Tensor, "... L d_model"]:
    """Put the heads side by side again, the inverse of split_heads."""
    _checks.shape("x", x, "(..., H, L, d_k)", x.dim() >= 3)
    return x.transpose(-3, -2).flatten(-2)


class SelfAttention(nn.Module):
    """Attention of a sequence to itself, with its four matrices under their own names.

    d_model: width of the residual stream; n_heads divides it; d_k = d_model / n_heads.
    forward(x, mask=None, bias=None): x (..., L, d_model) -> output (..., L, d_model), weights (..., H, L, L).
    """

    def __init__(self, d_model: int, n_heads: int = 1, *, causal: bool = False):
        super().__init__()
        _checks.whole_number("d_model", d_model, minimum=1)
        _checks.whole_number("n_heads", n_heads, minimum=1)
        if d_model % n_heads:
            raise ValueError(f"d_model is {d_model}; expected a multiple of n_heads = {n_heads}")
        self.n_heads, self.causal = n_heads, causal
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def project(self, x):
        """Queries, keys and values of every head, each (..., H, L, d_k)."""
        _checks.float_tensor("x", x, min_dim=2)
        _checks.same_dtype(x=x, weights=self.query.weight)
        d_model = self.query.in_features
        _checks.shape("x", x, f"(..., L, {d_model}), d_model last", x.shape[-1] == d_model)
        return tuple(split_heads(w(x), self.n_heads) for w in (self.query, self.key, self.value))

    def forward(self, x, mask=None, bias=None):
        q, k, v = self.project(x)
        out, weights = attention(q, k, v, mask=mask, bias=bias, causal=self.causal)
        return self.output(merge_heads(out)), weights
