"""Linear attention: a feature map in place of the exponential, so that the past fits into one small matrix (chapter 7).

    out_i = phi(q_i) S_i / (phi(q_i) z_i),   S_i = sum of phi(k_j) v_j^T,   z_i = sum of phi(k_j),   j <= i if causal

The same numbers come from a masked quadratic form and from a recurrence with a state of fixed size. It is another
function than softmax attention, not an approximation of it.
Source: Katharopoulos et al. 2020.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from attnbook import _checks
from attnbook.attention import additive_mask, causal_mask
from attnbook.softmax import softmax


def positive_features(x: Float[Tensor, "... d"]) -> Float[Tensor, "... d"]:
    """log(elu(x) + 1), the feature map of the source, as a logarithm: log(1 + x) above 0 and x below.

    As a logarithm it can be moved by a constant before the exponential, so that no sum over keys underflows to 0.
    """
    return torch.where(x > 0, torch.log1p(x.clamp_min(0.0)), x)


class LinearState(NamedTuple):
    """All that linear attention remembers of the past: d_k (d_v + 1) numbers, however long it was.

    values (..., d_k, d_v) and total (..., d_k), both divided by exp(peak), where peak (..., 1, 1) is the largest
    logarithm of a feature so far.
    """

    values: Float[Tensor, "... d_k d_v"]
    total: Float[Tensor, "... d_k"]
    peak: Float[Tensor, "... 1 1"]


def linear_attention(
    q: Float[Tensor, "... L d_k"], k: Float[Tensor, "... S d_k"], v: Float[Tensor, "... S d_v"],
    causal: bool = False, *, features: Callable[[Tensor], Tensor] = positive_features,
) -> Float[Tensor, "... L d_v"]:
    """Attention with weights phi(q) . phi(k) in place of exp(q . k): work and memory grow with the length alone.

    features: the LOGARITHM of a positive feature map. causal: aligned to the last key, as in `attention`; computed as
    a recurrence, one key after the other.
    A query that sees no key gets zeros. dtype in = dtype out; sums are kept in float32 or wider.

    Raises as `attention` does. Source: Katharopoulos et al. 2020, equations 5, 6 and 18 to 20.
    """
    _checks.qkv(q, k, v)
    fq, fk, wide = _prepared(q, k, features)
    if causal:
        return _recurrent(fq, fk, v.to(wide)).to(q.dtype)
    fk = (fk - _peak(fk)).exp()
    return _read(fq, LinearState(fk.mT @ v.to(wide), fk.sum(-2), None)).to(q.dtype)


def linear_attention_quadratic(
    q: Float[Tensor, "... L d_k"], k: Float[Tensor, "... S d_k"], v: Float[Tensor, "... S d_v"],
    causal: bool = False, *, features: Callable[[Tensor], Tensor] = positive_features,
) -> tuple[Float[Tensor, "... L d_v"], Float[Tensor, "... L S"]]:
    """The same outputs by way of the matrix of weights, which is returned as well: (output, weights)."""
    _checks.qkv(q, k, v)
    fq, fk, wide = _prepared(q, k, features)
    peak = fk.detach().amax(-1, keepdim=True)  # of each key, or a far larger key would hide it from rows that see it alone
    log_mass = (fq @ (fk - peak).exp().mT).log() + peak.mT
    if causal:
        log_mass = log_mass + additive_mask(causal_mask(*log_mass.shape[-2:], device=log_mass.device), wide)
    weights = softmax(log_mass)
    return (weights @ v.to(wide)).to(q.dtype), weights.to(q.dtype)


def step(state: LinearState | None, log_key: Float[Tensor, "... d_k"], value: Float[Tensor, "... d_v"]) -> LinearState:
    """The state after one more key and value; None begins one. log_key: the logarithm of its features."""
    new = log_key.detach().amax(-1)[..., None, None]
    peak = new if state is None else torch.maximum(state.peak, new)
    feature = (log_key - peak[..., 0]).exp()
    values, total = feature[..., :, None] * value[..., None, :], feature
    if state is not None:
        fade = (state.peak - peak).exp()
        values, total = values + fade * state.values, total + fade[..., 0] * state.total
    return LinearState(values, total, peak)


def _prepared(q, k, features):
    """Features of the queries, each row divided by its largest, logarithms of those of the keys, and the dtype."""
    _checks.shape("q", q, "queries of width at least 1", q.shape[-1] > 0)
    wide = torch.promote_types(q.dtype, torch.float32)
    fq, fk = features(q.to(wide)), features(k.to(wide))
    return (fq - fq.detach().amax(-1, keepdim=True)).exp(), fk, wide  # a factor on a whole row cancels


def _peak(fk):
    """The largest logarithm over keys and features: a common factor of all keys, which cancels."""
    return fk.detach().amax((-2, -1), keepdim=True) if fk.shape[-2] else fk.sum((-2, -1), keepdim=True)


def _read(fq, state):
    """What queries (..., L, d_k) find in a state."""
    total = fq @ state.total[..., None]
    return (fq @ state.values) / total.masked_fill(total == 0, 1.0)


def _recurrent(fq, fk, v):
    L, S = fq.shape[-2], fk.shape[-2]
    batch = torch.broadcast_shapes(fq.shape[:-2], fk.shape[:-2], v.shape[:-2])
    state, rows = None, []
    for j in range(S):
        state = step(state, fk[..., j, :], v[..., j, :])
        if (i := j - (S - L)) >= 0:
            rows.append(_read(fq[..., i:i + 1, :], state).expand(*batch, 1, v.shape[-1]))
    blind = fq.new_zeros(*batch, max(L - S, 0), v.shape[-1])  # queries before the first key
    return torch.cat([blind, *rows], -2)
