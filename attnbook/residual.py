"""The residual stream: norms, and the ways in which what a sublayer computes meets the stream (chapter 5).

    pre-norm   x + f(norm(x))            post-norm   norm(x + f(x))

A sublayer f is any module from (..., d_model) to (..., d_model); of a tuple, the first part counts, so that
SelfAttention can be one. Stacks of them are in attnbook.stacks, and what runs along them is recorded by attnbook.stream.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnbook import _checks


# -- norms: each token alone, over its features ---------------------------------------------

def layer_norm(
    x: Float[Tensor, "... d"], weight: Float[Tensor, "d"] | None = None, bias: Float[Tensor, "d"] | None = None,
    eps: float = 1e-5,
) -> Float[Tensor, "... d"]:
    """Each vector at mean 0 and mean square 1: (x - mean) / sqrt(variance + eps), then times weight, plus bias.

    The variance divides by d, not d - 1, and eps stands inside the root. A constant vector gives the bias.
    float16 and bfloat16 are computed in float32.

    Raises TypeError if x is not a floating-point tensor, ValueError if weight or bias is not (d,).
    Source: Ba et al. 2016.
    """
    _check_norm(x, weight, bias, eps)
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    centred = wide - wide.mean(-1, keepdim=True)
    normed = centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt()
    return _affine(normed, weight, bias).to(x.dtype)


def rms_norm(
    x: Float[Tensor, "... d"], weight: Float[Tensor, "d"] | None = None, eps: float = 1e-6
) -> Float[Tensor, "... d"]:
    """Each vector at mean square 1: x / sqrt(mean of squares + eps), then times weight. The mean is left alone.

    Raises as layer_norm does. Source: Zhang and Sennrich 2019.
    """
    _check_norm(x, weight, None, eps)
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    normed = wide / (wide.square().mean(-1, keepdim=True) + eps).sqrt()
    return _affine(normed, weight, None).to(x.dtype)


def _affine(x, weight, bias):
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


def _check_norm(x, weight, bias, eps):
    _checks.float_tensor("x", x, min_dim=1)
    for name, p in (("weight", weight), ("bias", bias)):
        if p is not None:
            _checks.float_tensor(name, p)
            _checks.shape(name, p, f"({x.shape[-1]},), the last axis of x", tuple(p.shape) == (x.shape[-1],))
    if isinstance(eps, bool) or not isinstance(eps, (int, float)) or not eps >= 0:
        raise ValueError(f"eps is {eps!r}; expected a number of at least 0")


class LayerNorm(nn.Module):
    """layer_norm with a learned weight and bias, started at 1 and 0."""

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        _checks.whole_number("d_model", d_model, minimum=1)
        self.weight, self.bias, self.eps = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model)), eps

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, self.eps)


class RMSNorm(nn.Module):
    """rms_norm with a learned weight, started at 1."""

    def __init__(self, d_model: int, eps: float = 1e-6):
        super().__init__()
        _checks.whole_number("d_model", d_model, minimum=1)
        self.weight, self.eps = nn.Parameter(torch.ones(d_model)), eps

    def forward(self, x):
        return rms_norm(x, self.weight, self.eps)


# -- one sublayer and the stream -------------------------------------------------------------

def residual_block(
    x: Float[Tensor, "... d"], sublayer: Callable, norm: Callable, order: str = "pre"
) -> Float[Tensor, "... d"]:
    """The stream after one sublayer: x + sublayer(norm(x)) for order "pre", norm(x + sublayer(x)) for "post".

    sublayer, norm: (..., d) -> (..., d); of a sublayer that returns a tuple the first part is added. x is not changed.

    Raises ValueError for another order, or a sublayer whose output has not the shape of x.
    Source: Vaswani et al. 2017 ("post"); Xiong et al. 2020 ("pre").
    """
    if order == "pre":
        return x + change(sublayer, norm(x), x)
    if order == "post":
        return norm(x + change(sublayer, x, x))
    raise ValueError(f"order is {order!r}; expected 'pre' or 'post'")


def change(sublayer: Callable, x: Float[Tensor, "... d"], stream: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """What a sublayer computes from x, checked to fit the stream: broadcasting would hide a wrong axis."""
    _checks.float_tensor("x", stream, min_dim=1)
    out = sublayer(x)
    out = out[0] if isinstance(out, tuple) else out
    _checks.float_tensor("output of sublayer", out)
    _checks.shape("output of sublayer", out, f"{tuple(stream.shape)}, the shape of x", out.shape == stream.shape)
    return out
