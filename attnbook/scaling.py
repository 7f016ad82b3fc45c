"""The factor on the scores: what to multiply them by so that softmax does not start saturated (chapter 3).

Statistics of scores are in attnbook.saturation, the doctor for your own attention in attnbook.diagnosis;
both can be imported from here.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnbook import _checks
from attnbook.attention import SelfAttention
from attnbook.diagnosis import Diagnosis, diagnose
from attnbook.saturation import ScoreStatistics, dead_rows, jacobian_norm, score_statistics

__all__ = ["SCALES", "Diagnosis", "QKNormAttention", "ScaledAttention", "ScoreStatistics", "cosine_bound", "dead_rows",
           "diagnose", "jacobian_norm", "qk_norm", "scale_factor", "score_statistics"]

SCALES = {
    "none": lambda d_k: 1.0,
    "sqrt": lambda d_k: 1 / math.sqrt(d_k),
    "d": lambda d_k: 1 / d_k,
    "mup": lambda d_k: 8 / d_k,
}
"""What multiplies the scores, by name. "mup" is 1 / d_k with a constant that equals 1 / sqrt(d_k) at d_k = 64."""


def scale_factor(kind: str, d_k: int) -> float:
    """What multiplies the scores: "none" 1, "sqrt" 1 / sqrt(d_k), "d" 1 / d_k, "mup" 8 / d_k.

    Raises ValueError for another kind or a width below 1.
    Source: Vaswani et al. 2017 ("sqrt"); Yang et al. 2022 ("mup").
    """
    _checks.whole_number("d_k", d_k, minimum=1)
    if kind not in SCALES:
        raise ValueError(f"kind is {kind!r}; expected one of {', '.join(SCALES)}")
    return SCALES[kind](d_k)


# -- as layers: one stage differs, the queries and keys that enter the scores ---------------

class ScaledAttention(SelfAttention):
    """SelfAttention with another factor on its scores: a kind of SCALES, or "learned".

    "learned" is one factor a head, kept as its logarithm and started at 1 / sqrt(d_k).
    """

    def __init__(self, d_model: int, n_heads: int = 1, *, kind: str = "sqrt", causal: bool = False):
        super().__init__(d_model, n_heads, causal=causal)
        d_k = d_model // n_heads
        start = torch.full((n_heads, 1, 1), math.log(scale_factor("sqrt" if kind == "learned" else kind, d_k)))
        self.log_scale = nn.Parameter(start, requires_grad=kind == "learned")

    def project(self, x):
        """Queries, keys and values, with queries such that 1 / sqrt(d_k) on top makes the factor wanted."""
        q, k, v = super().project(x)
        return q * (self.log_scale.exp() * math.sqrt(q.shape[-1])), k, v


class QKNormAttention(SelfAttention):
    """SelfAttention on queries and keys of length 1, with one learned factor a head, started at sqrt(d_k).

    At the start the scores spread as those of 1 / sqrt(d_k) do; later none can leave +-factor.
    """

    def __init__(self, d_model: int, n_heads: int = 1, *, causal: bool = False):
        super().__init__(d_model, n_heads, causal=causal)
        self.log_scale = nn.Parameter(torch.full((n_heads, 1, 1), math.log(d_model // n_heads) / 2))

    def project(self, x):
        """Queries, keys and values; the factor and the sqrt(d_k) that attention divides by ride on the queries."""
        q, k, v = super().project(x)
        q, k = qk_norm(q, k)
        return q * (self.log_scale.exp() * math.sqrt(q.shape[-1])), k, v


def qk_norm(
    q: Float[Tensor, "... d_k"], k: Float[Tensor, "... d_k"], eps: float = 1e-6
) -> tuple[Float[Tensor, "... d_k"], Float[Tensor, "... d_k"]]:
    """Queries and keys at length 1, so that a score is a cosine and no growth of the weights can widen it.

    Source: Henry et al. 2020.
    """
    _checks.float_tensor("q", q, min_dim=1)
    _checks.float_tensor("k", k, min_dim=1)
    return tuple(x / x.norm(dim=-1, keepdim=True).clamp_min(eps) for x in (q, k))


def cosine_bound(factor: float, n: int) -> float:
    """The largest weight one of n keys can have when scores are factor times a cosine: its cosine 1, the others -1."""
    _checks.whole_number("n", n, minimum=1)
    return 1 / (1 + (n - 1) * math.exp(-2 * factor))
