"""Softmax, the stage that turns scores into weights, and what is done with weights: argmax, entropy, sampling (chapter 4).

Temperature divides scores before the exponential: cold makes softmax argmax, hot makes all weights equal.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attnbook import _checks


def softmax(x: Float[Tensor, "..."], axis: int = -1, temperature: float = 1.0) -> Float[Tensor, "..."]:
    """Positive weights that sum to 1 along one axis: exp(x / T) / sum(exp(x / T)).

    x: scores of any shape; -inf means "not a candidate". Output: the shape and dtype of x.
    The largest score is subtracted first, so no exponential overflows. A row with no
    candidate at all (empty, or -inf throughout) gives zeros, and its gradient is zero.

    Raises TypeError if x is not a floating-point tensor, ValueError if temperature is
    not a positive number (T = 0 is argmax: see hard_attention).
    """
    _checks.float_tensor("x", x, min_dim=1)
    _check_temperature(temperature)
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
        weights = torch.softmax(_divided(x.to(wide) - peak.to(wide), temperature), axis).to(x.dtype)
    return weights.masked_fill(nothing, 0.0) if some_nothing else weights


def _check_temperature(temperature):
    number = isinstance(temperature, (int, float)) and not isinstance(temperature, bool)
    if not (number and temperature > 0 and math.isfinite(temperature)):
        raise ValueError(f"temperature is {temperature!r}; expected a positive number")


def _divided(distance, temperature):
    """distance / T, for a distance from the peak; a T that the dtype would round to 0 must not make 0 / 0."""
    return distance / max(temperature, torch.finfo(distance.dtype).tiny)


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


def softmax_jacobian(x: Float[Tensor, "... n"], temperature: float = 1.0) -> Float[Tensor, "... n n"]:
    """How each weight moves when each score is nudged: J[i, j] = p_i (delta_ij - p_j) / T, with p = softmax(x / T).

    x: scores, (..., n). Output: (..., n, n), symmetric, rows sum to 0, largest singular value at most 1 / (2 T).
    Raises as softmax does.
    """
    p = softmax(x, temperature=temperature)
    return (torch.diag_embed(p) - p[..., :, None] * p[..., None, :]) / temperature


def hard_attention(x: Float[Tensor, "..."], axis: int = -1, straight_through: bool = False) -> Float[Tensor, "..."]:
    """One-hot weights: 1 for the largest score along an axis (the first of equals), 0 for the others.

    The limit of softmax as the temperature goes to 0, usable as `normalise=` in attention. No gradient flows back
    through it; with straight_through=True the backward pass uses the gradient of softmax instead, and the numbers
    that come out are the same. A row with no candidate (-inf throughout, or empty) gives zeros.

    Raises TypeError if x is not a floating-point tensor.
    Source of the estimator: Bengio, Leonard and Courville 2013.
    """
    _checks.float_tensor("x", x, min_dim=1)
    scores = x.detach()
    one_hot = torch.zeros_like(scores)
    if x.shape[axis]:
        one_hot.scatter_(axis, scores.argmax(axis, keepdim=True), 1.0)
    one_hot = one_hot.masked_fill(scores == -torch.inf, 0.0)
    if not straight_through:
        return one_hot
    soft = softmax(x, axis)
    return one_hot + (soft - soft.detach())  # the bracket is exactly 0, its gradient is not


# -- sampling -----------------------------------------------------------------------------

def keep_top_k(logits: Float[Tensor, "... V"], k: int) -> Float[Tensor, "... V"]:
    """The logits with all but the k largest of each row set to -inf. More than k stay only if they tie.

    Raises TypeError or ValueError if logits are not floating-point or k is not a whole number of at least 1.
    """
    _checks.float_tensor("logits", logits, min_dim=1)
    _checks.whole_number("k", k, minimum=1)
    least = logits.topk(min(k, logits.shape[-1])).values[..., -1:]
    return logits.masked_fill(logits < least, -torch.inf)


def keep_top_p(logits: Float[Tensor, "... V"], p: float) -> Float[Tensor, "... V"]:
    """The logits with all set to -inf but the smallest set of tokens whose probability reaches p.

    A token stays while the probability of all better ones is below p: the one that crosses p stays, and at least one.
    Raises TypeError or ValueError if logits are not floating-point or p is not in (0, 1].
    Source: Holtzman et al. 2020 (nucleus sampling).
    """
    _checks.float_tensor("logits", logits, min_dim=1)
    if isinstance(p, bool) or not (isinstance(p, (int, float)) and 0 < p <= 1):
        raise ValueError(f"p is {p!r}; expected a number in (0, 1]")
    wide = torch.promote_types(logits.dtype, torch.float32)
    ordered, order = logits.sort(descending=True, stable=True)
    probabilities = softmax(ordered.to(wide))
    better = probabilities.cumsum(-1) - probabilities
    dropped = torch.zeros_like(better, dtype=torch.bool).scatter_(-1, order, better >= p)
    return logits.masked_fill(dropped, -torch.inf)


def sample(
    logits: Float[Tensor, "... V"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "..."]:
    """Draw one token id per row: temperature first, then top-k, then top-p, then the draw.

    temperature 0 means argmax (the first of equals), with no randomness. Top-k does not depend on the temperature,
    top-p does. A token with logit -inf is never drawn.

    Raises ValueError for a negative temperature, k below 1, p outside (0, 1], or a row without a finite largest logit.
    """
    _checks.float_tensor("logits", logits, min_dim=1)
    _checks.shape("logits", logits, "at least one token on the last axis", logits.shape[-1] > 0)
    peak = logits.amax(-1, keepdim=True)
    if not peak.isfinite().all():
        raise ValueError("logits has a row whose largest entry is -inf, inf or NaN; expected a finite one")
    if temperature == 0 and not isinstance(temperature, bool):
        return logits.argmax(-1)
    _check_temperature(temperature)
    wide = torch.promote_types(logits.dtype, torch.float32)
    z = _divided(logits.to(wide) - peak.to(wide), temperature)
    z = z if top_k is None else keep_top_k(z, top_k)
    z = z if top_p is None else keep_top_p(z, top_p)
    drawn = torch.multinomial(softmax(z).reshape(-1, z.shape[-1]), 1, generator=generator)
    return drawn.reshape(z.shape[:-1])
