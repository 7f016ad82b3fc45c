"""RoPE: queries and keys are turned by their positions, so that a score sees the distance only (chapter 6)."""

import torch
from jaxtyping import Float
from torch import Tensor

from attnbook import _checks
from attnbook.attention import SelfAttention

LAYOUTS = ("half", "interleaved")


def rope_frequencies(width: int, base: float = 10000.0) -> Float[Tensor, "pairs"]:
    """Radians that each pair of features turns for one step of position: base^(-2i / width), i = 0, 1, ..., float64.

    Raises ValueError if width is not even, or base is not positive.
    """
    _checks.whole_number("width", width)
    if width % 2:
        raise ValueError(f"width is {width}; expected an even number of features, to turn them in pairs")
    _checks.positive("base", base)
    return base ** (-torch.arange(0, width, 2, dtype=torch.float64) / max(width, 1))


def rope(
    x: Float[Tensor, "... L d"],
    positions: Tensor | int,
    layout: str = "half",
    base: float = 10000.0,
    *,
    width: int | None = None,
    frequencies: Float[Tensor, "pairs"] | None = None,
) -> Float[Tensor, "... L d"]:
    """Turn each pair of features of row p by positions[p] times the frequency of the pair.

    x: queries or keys, never values. positions: (L,), or as many axes as x without its last one, broadcasting to
        them; or one whole number, the position of the first row (a cache of that length stands before it).
    layout: which features form pair i of n: "half" takes i and i + n, "interleaved" takes 2i and 2i + 1. Both are
        right, if queries and keys use the same and the weights were trained with it.
    width: turn the first `width` features only and leave the others as they are (partial RoPE).
    frequencies: radians a step for each pair, in place of rope_frequencies(width, base); see attnbook.long_context.

    Angles are computed in float64, products at least in float32. Lengths are kept, and the score of a turned query
    with a turned key depends on the difference of their positions only.
    Raises TypeError or ValueError for an odd width, an unknown layout, or shapes that do not fit.
    Source: Su et al. 2021, equations 13 to 15 ("interleaved").
    """
    _checks.float_tensor("x", x, min_dim=2)
    if layout not in LAYOUTS:
        raise ValueError(f"layout is {layout!r}; expected 'half' or 'interleaved'")
    frequencies = _fitting(frequencies, x.shape[-1] if width is None else width, x, base)
    width = 2 * len(frequencies)
    angles = _positions(positions, x)[..., None] * frequencies.to(x.device, torch.float64)  # (..., L, pairs)
    wide = torch.promote_types(x.dtype, torch.float32)
    turned = _turn(x[..., :width].to(wide), angles.cos().to(wide), angles.sin().to(wide), layout).to(x.dtype)
    return turned if width == x.shape[-1] else torch.cat((turned, x[..., width:]), -1)


def _turn(x, cos, sin, layout):
    """The rotation itself: (a, b) -> (a cos - b sin, a sin + b cos) for each pair."""
    a, b = x.chunk(2, -1) if layout == "half" else (x[..., 0::2], x[..., 1::2])
    turned = (a * cos - b * sin, a * sin + b * cos)
    return torch.cat(turned, -1) if layout == "half" else torch.stack(turned, -1).flatten(-2)


def _fitting(frequencies, width, x, base):
    """The frequencies, checked against width and x."""
    _checks.whole_number("width", width)
    own = rope_frequencies(width, base)
    if width > x.shape[-1]:
        raise ValueError(f"width is {width}; expected at most {x.shape[-1]}, the last axis of x")
    if frequencies is None:
        return own
    _checks.float_tensor("frequencies", frequencies)
    _checks.shape("frequencies", frequencies, f"({width // 2},), one for each pair", frequencies.shape == own.shape)
    return frequencies


def _positions(positions, x):
    """Positions as float64, broadcasting to x without its last axis."""
    if not isinstance(positions, Tensor):
        _checks.whole_number("positions", positions)
        positions = torch.arange(positions, positions + x.shape[-2], device=x.device)
    _checks.positions("positions", positions, x)
    return positions.to(x.device, torch.float64)


class RotaryAttention(SelfAttention):
    """SelfAttention whose queries and keys are turned by their positions 0, 1, ...; values are left alone."""

    def project(self, x):
        q, k, v = super().project(x)
        return rope(q, 0), rope(k, 0), v
