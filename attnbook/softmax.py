"""Softmax, the stage that turns scores into weights (chapter 4; chapter 1 needs this much)."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from attnbook import _checks


def softmax(x: Float[Tensor, "..."], axis: int = -1, temperature: float = 1.0) -> Float[Tensor, "..."]:
    """Positive weights that sum to 1 along one axis: exp(x / T) / sum(exp(x / T)).

    x: scores of any shape; -inf means "not a candidate". Output: the shape and dtype of x.
    The largest score is subtracted first, so no exponential overflows. A row with no
    candidate at all (empty, or -inf throughout) gives zeros, and its gradient is zero.

    Raises TypeError if x is not a floating-point tensor, ValueError if temperature is
    not a positive number (T = 0 is argmax: see hard_attention in chapter 4).
    """
    _checks.float_tensor("x", x, min_dim=1)
    number = isinstance(temperature, (int, float)) and not isinstance(temperature, bool)
    if not (number and temperature > 0 and math.isfinite(temperature)):
        raise ValueError(f"temperature is {temperature!r}; expected a positive number")
    if x.shape[axis] == 0:
        return x.clone()
    peak = x.detach().amax(axis, keepdim=True)
    nothing = peak == -torch.inf
    some_nothing = bool(nothing.any())
    if some_nothing:
        x, peak = x.masked_fill(nothing, 0.0), peak.masked_fill(nothing, 0.0)
    if temperature == 1.0:
        weights = torch.softmax(x, axis)  # subtracts the peak itself
    else:
        wide = torch.promote_types(x.dtype, torch.float32)
        weights = torch.softmax((x.to(wide) - peak.to(wide)) / temperature, axis).to(x.dtype)
    return weights.masked_fill(nothing, 0.0) if some_nothing else weights


def entropy(p: Float[Tensor, "..."], axis: int = -1) -> Float[Tensor, "..."]:
    """Entropy of weights along one axis, in nats: -sum(p ln p), with 0 ln 0 = 0.

    exp(entropy) is the effective number of candidates: 1 for a one-hot row, n for n equal weights.
    A weight of exactly 0 (a masked key) has gradient 0.
    Raises TypeError if p is not a floating-point tensor, ValueError if an entry is negative.
    """
    _checks.float_tensor("p", p, min_dim=1)
    if (p < 0).any():
        raise ValueError(f"p has a negative entry ({p.min().item():.3g}); expected weights of at least 0")
    safe = p.masked_fill(p == 0, 1.0)  # ln 0 would send NaN backwards; 1 ln 1 = 0 as well
    return 0.0 - (safe * safe.log()).sum(axis)


def hard_attention(x: Float[Tensor, "..."], axis: int = -1, straight_through: bool = False) -> Float[Tensor, "..."]:
    """One-hot weights: 1 for the largest score along an axis (the first of equals), 0 for the others.

    The limit of softmax as the temperature goes to 0, usable as `normalise=` in attention. Its gradient is zero;
    with straight_through=True the backward pass uses the gradient of softmax instead.
    A row with no candidate (-inf throughout) gives zeros.
    Source of the estimator: Bengio, Leonard and Courville 2013.
    """
    weights = softmax(x, axis)
    chosen = torch.zeros_like(weights)
    if x.shape[axis]:
        chosen.scatter_(axis, x.detach().argmax(axis, keepdim=True), 1.0)
    one_hot = chosen.masked_fill(x.detach() == -torch.inf, 0.0)
    return one_hot + weights - weights.detach() if straight_through else one_hot
def softmax_jacobian(x: Float[Tensor, "... n"], temperature: float = 1.0) -> Float[Tensor, "... n n"]:
    """How each weight moves when each score is nudged: J[i, j] = p_i (delta_ij - p_j) / T, with p = softmax(x / T).

    x: scores, (..., n). Output: (..., n, n), symmetric, rows sum to 0, largest singular value at most 1 / (2 T).
    Raises as softmax does.
    """
    p = softmax(x, temperature=temperature)
    return (torch.diag_embed(p) - p[..., :, None] * p[..., None, :]) / temperature
