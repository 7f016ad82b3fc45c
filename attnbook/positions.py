"""Where a token stands: vectors that are added to it, and biases on the scores (chapter 6).

Rotations of queries and keys (RoPE) are in attnbook.rotary, their frequencies for contexts longer than those of
training in attnbook.long_context; both can be imported from here.
"""

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnbook import _checks
from attnbook.long_context import interpolated, ntk, yarn, yarn_score_factor
from attnbook.rotary import RotaryAttention, rope, rope_frequencies

__all__ = ["LearnedPositions", "RotaryAttention", "alibi_bias", "alibi_slopes", "interpolated", "ntk",
           "positions_from_mask", "rope", "rope_frequencies", "sinusoidal", "yarn", "yarn_score_factor"]


# -- vectors that are added ---------------------------------------------------------------

def sinusoidal(
    n_positions: int, d_model: int, *, start: int = 0, base: float = 10000.0, dtype: torch.dtype = torch.float32
) -> Float[Tensor, "L d_model"]:
    """A vector for each position: row p holds sin(p w_i) in column 2i and cos(p w_i) in column 2i + 1.

    w_i = base^(-2i / d_model), so i counts pairs of features and p counts tokens. An odd width ends with a sine whose
    cosine is left out. start: position of the first row. Angles are computed in float64.

    Raises TypeError or ValueError if a size is not a whole number, or out of range.
    Source: Vaswani et al. 2017, section 3.5.
    """
    _checks.whole_number("n_positions", n_positions)
    _checks.whole_number("d_model", d_model, minimum=1)
    _checks.whole_number("start", start)
    positions = torch.arange(start, start + n_positions, dtype=torch.float64)
    angles = positions[:, None] * _frequencies(d_model, base)  # (L, pairs)
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)[:, :d_model].to(dtype)


def _frequencies(d_model, base):
    """base^(-2i / d_model) for i = 0, 1, ..., one for each pair; the last pair of an odd width is cut in two."""
    _checks.positive("base", base)
    return base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)


class LearnedPositions(nn.Module):
    """A trained vector for each position up to max_len, added to the tokens: x (..., L, d_model) -> the same shape.

    forward(x, positions=None): positions are whole numbers (L,), or (..., L) with the axes of x; default 0, 1, ...
    Raises ValueError if a position has no row in the table, naming both numbers.
    """

    def __init__(self, max_len: int, d_model: int, std: float = 0.02):
        super().__init__()
        _checks.whole_number("max_len", max_len, minimum=1)
        _checks.whole_number("d_model", d_model, minimum=1)
        self.table = nn.Parameter(std * torch.randn(max_len, d_model))

    def forward(self, x, positions=None):
        _checks.float_tensor("x", x, min_dim=2)
        _checks.same_dtype(x=x, table=self.table)
        max_len, d_model = self.table.shape
        _checks.shape("x", x, f"(..., L, {d_model}), d_model last", x.shape[-1] == d_model)
        if positions is None:
            self._check_range(x.shape[-2] - 1, f"x has {x.shape[-2]} tokens")
            return x + self.table[: x.shape[-2]]
        _checks.positions("positions", positions, x, whole=True)
        if positions.numel():
            self._check_range(int(positions.max()), f"positions holds {int(positions.max())}")
            if int(positions.min()) < 0:
                raise ValueError(f"positions holds {int(positions.min())}; expected numbers of at least 0")
        return x + self.table[positions]

    def _check_range(self, last, came):
        if last >= len(self.table):
            raise ValueError(f"{came}; the table of LearnedPositions has {len(self.table)} rows, "
                             f"for positions 0 to {len(self.table) - 1}")


def positions_from_mask(mask: Bool[Tensor, "... L"]) -> Int[Tensor, "... L"]:
    """Positions counted over real tokens only: with left padding the first real token is number 0.

    mask: True = real token. Padding before the first real token gets 0, padding behind a token repeats its number;
    neither may be attended to anyway.

    Raises TypeError if mask is not a boolean tensor, ValueError if it has no axis.
    """
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        raise TypeError(f"mask is {_checks.describe(mask)}; expected a boolean tensor, True = real token")
    _checks.shape("mask", mask, "(..., L)", mask.dim() >= 1)
    return (mask.long().cumsum(-1) - 1).clamp(min=0)


# -- a bias on the scores -----------------------------------------------------------------

def alibi_slopes(n_heads: int) -> Float[Tensor, "H"]:
    """How much score each head takes off for one step of distance.

    For 2^m heads 2^(-8 h / 2^m), h = 1, 2, ...: from near 1 down to 1/256. Any other number of heads takes the slopes
    of the power of two below it, then every other slope of the power above it. That is a convention of the authors'
    program, and libraries differ in it.

    Raises TypeError or ValueError if n_heads is not a whole number of at least 1.
    Source: Press et al. 2022, section 3, and the program published with it.
    """
    _checks.whole_number("n_heads", n_heads, minimum=1)
    below = 2 ** int(math.log2(n_heads))
    exponents = [8 * (h + 1) / below for h in range(below)]
    exponents += [4 * (h + 1) / below for h in range(0, 2 * below, 2)][: n_heads - below]
    return 2.0 ** -torch.tensor(exponents, dtype=torch.float64).float()


def alibi_bias(
    n_heads: int, L: int, S: int | None = None, *, slopes: Float[Tensor, "H"] | None = None
) -> Float[Tensor, "H L S"]:
    """What ALiBi adds to the scores: -slope times the distance of query and key; pass it as bias= to attention.

    S keys, default L. Aligned to the last key as causal_mask is, so that one cached query sees the right distances.
    The distance is taken without sign; it hides nothing: the mask must. slopes: (H,), default alibi_slopes.

    Raises TypeError or ValueError if a size is not a whole number, or slopes is not of shape (n_heads,).
    Source: Press et al. 2022.
    """
    _checks.whole_number("L", L)
    S = L if S is None else S
    _checks.whole_number("S", S)
    slopes = alibi_slopes(n_heads) if slopes is None else slopes
    _checks.float_tensor("slopes", slopes)
    _checks.shape("slopes", slopes, f"({n_heads},), one for each head", slopes.shape == (n_heads,))
    queries, keys = torch.arange(L, device=slopes.device) + S - L, torch.arange(S, device=slopes.device)
    distance = (queries[:, None] - keys).abs().to(slopes.dtype)
    return -slopes[:, None, None] * distance
