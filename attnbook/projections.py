"""Where queries, keys and values come from: independent, tied, grouped and latent projections (chapter 2).

Each variant replaces one stage, the projection. What follows is the same `attention` as everywhere.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnbook import _checks
from attnbook.attention import SelfAttention, attention, merge_heads, split_heads


class TiedAttention(SelfAttention):
    """SelfAttention in which a query is its own key: W_Q = W_K. The scores are symmetric, the weights are not."""

    def __init__(self, d_model: int, n_heads: int = 1, *, causal: bool = False):
        super().__init__(d_model, n_heads, causal=causal)
        self.key = self.query


# -- grouped: several query heads share one head of keys and values -----------------------

def repeat_heads(x: Float[Tensor, "... H_kv S d"], n_heads: int) -> Float[Tensor, "... H S d"]:
    """Serve each key or value head to its group of neighbouring query heads: 0, 0, 1, 1, never 0, 1, 0, 1.

    Raises ValueError unless n_heads is a multiple of H_kv.
    """
    _checks.float_tensor("x", x, min_dim=3)
    _checks.whole_number("n_heads", n_heads, minimum=1)
    n_kv = x.shape[-3]
    if n_kv == 0 or n_heads % n_kv:
        raise ValueError(f"{n_heads} query heads on {n_kv} key heads; expected a multiple of {n_kv}")
    return x.repeat_interleave(n_heads // n_kv, dim=-3)


def grouped_query_attention(
    q: Float[Tensor, "... H L d_k"], k: Float[Tensor, "... H_kv S d_k"], v: Float[Tensor, "... H_kv S d_v"], **stages
) -> tuple[Float[Tensor, "... H L d_v"], Float[Tensor, "... H L S"]]:
    """attention() in which query head h reads key head h // (H / H_kv).

    H_kv = H is multi-head attention, H_kv = 1 is multi-query attention (Shazeer 2019).
    stages: the keyword arguments of attention. Raises ValueError unless H is a multiple of H_kv.
    Source: Ainslie et al. 2023.
    """
    for name, x in (("q", q), ("k", k), ("v", v)):
        _checks.float_tensor(name, x, min_dim=3)
    _checks.shape("v", v, f"(..., {k.shape[-3]}, S, d_v), as many heads as k", v.shape[-3] == k.shape[-3])
    return attention(q, repeat_heads(k, q.shape[-3]), repeat_heads(v, q.shape[-3]), **stages)


class GroupedAttention(SelfAttention):
    """SelfAttention with n_heads query heads on n_kv_heads heads of keys and values."""

    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int, *, causal: bool = False):
        super().__init__(d_model, n_heads, causal=causal)
        _checks.whole_number("n_kv_heads", n_kv_heads, minimum=1)
        if n_heads % n_kv_heads:
            raise ValueError(f"n_kv_heads is {n_kv_heads}; expected a divisor of n_heads = {n_heads}")
        self.n_kv_heads = n_kv_heads
        width = n_kv_heads * (d_model // n_heads)
        self.key = nn.Linear(d_model, width, bias=False)
        self.value = nn.Linear(d_model, width, bias=False)

    def project(self, x):
        q = split_heads(self.query(x), self.n_heads)
        k, v = (split_heads(w(x), self.n_kv_heads) for w in (self.key, self.value))
        return q, repeat_heads(k, self.n_heads), repeat_heads(v, self.n_heads)


# -- latent: keys and values of all heads come from one narrow vector per token -----------

class LatentAttention(nn.Module):
    """Multi-head latent attention (MLA) without its rotary part: of a token only the latent c = x W_down is cached.

    d_model: width of the stream; n_heads; d_latent: width of c; d_k: width per head (default d_model / n_heads).
    forward(x): keys and values are rebuilt from the latent (the expanded form).
    absorbed(x): the same output with nothing rebuilt: the up-projection of the keys moves to the query side, that
    of the values to the output side, and every head attends to the latents themselves.
    Both return (output (..., L, d_model), weights (..., H, L, L)).
    Source: DeepSeek-AI 2024 (DeepSeek-V2), section 2.1.
    """

    def __init__(self, d_model: int, n_heads: int, d_latent: int, d_k: int | None = None, *, causal: bool = False):
        super().__init__()
        for name, size in (("d_model", d_model), ("n_heads", n_heads), ("d_latent", d_latent)):
            _checks.whole_number(name, size, minimum=1)
        self.n_heads, self.causal = n_heads, causal
        if d_k is None and d_model % n_heads:
            raise ValueError(f"d_model is {d_model}; expected a multiple of n_heads = {n_heads}, or d_k to be given")
        self.d_k = d_model // n_heads if d_k is None else d_k
        _checks.whole_number("d_k", self.d_k, minimum=1)
        width = n_heads * self.d_k
        self.query = nn.Linear(d_model, width, bias=False)
        self.down = nn.Linear(d_model, d_latent, bias=False)
        self.key_up = nn.Linear(d_latent, width, bias=False)
        self.value_up = nn.Linear(d_latent, width, bias=False)
        self.output = nn.Linear(width, d_model, bias=False)

    def latent(self, x: Float[Tensor, "... S d_model"]) -> Float[Tensor, "... S d_latent"]:
        """What is cached: one vector per token for all heads."""
        return self.down(x)

    def forward(self, x, mask=None):
        self._check(x)
        c = self.latent(x)
        q, k, v = (split_heads(t, self.n_heads) for t in (self.query(x), self.key_up(c), self.value_up(c)))
        out, weights = attention(q, k, v, mask=mask, causal=self.causal)
        return self.output(merge_heads(out)), weights

    def absorbed(self, x, mask=None):
        """The same as forward, computed on the latents."""
        self._check(x)
        c = self.latent(x).unsqueeze(-3)  # (..., 1, S, d_latent): one "head" of keys that are also the values
        up_k, up_v = (w.weight.unflatten(0, (self.n_heads, self.d_k)) for w in (self.key_up, self.value_up))
        q = split_heads(self.query(x), self.n_heads) @ up_k  # (..., H, L, d_latent)
        out, weights = attention(q, c, c, mask=mask, causal=self.causal, scale=1 / math.sqrt(self.d_k))
        return self.output(merge_heads(out @ up_v.transpose(-2, -1))), weights

    def _check(self, x):
        _checks.float_tensor("x", x, min_dim=2)
        _checks.same_dtype(x=x, weights=self.down.weight)
        width = self.down.in_features
        _checks.shape("x", x, f"(..., L, {width}), d_model last", x.shape[-1] == width)


# -- what a head computes, as two matrices ------------------------------------------------

def qk_circuit(
    w_q: Float[Tensor, "d_model d_k"], w_k: Float[Tensor, "d_model d_k"]
) -> Float[Tensor, "d_model d_model"]:
    """W_Q W_K^T: all that the scores depend on, score(i, j) = x_i W_Q W_K^T x_j^T. Rank at most d_k.

    Raises ValueError unless both have one shape. Source: Elhage et al. 2021.
    """
    _check_matrices(w_q=w_q, w_k=w_k)
    _checks.shape("w_k", w_k, f"{tuple(w_q.shape)}, the shape of w_q", w_k.shape == w_q.shape)
    return w_q @ w_k.T


def ov_circuit(
    w_v: Float[Tensor, "d_model d_v"], w_o: Float[Tensor, "d_v d_model"]
) -> Float[Tensor, "d_model d_model"]:
    """W_V W_O: what a token that is read adds to the token that reads it. Rank at most d_v.

    Raises ValueError unless w_o has a row for each column of w_v. Source: Elhage et al. 2021.
    """
    _check_matrices(w_v=w_v, w_o=w_o)
    _checks.shape("w_o", w_o, f"({w_v.shape[1]}, d_model), a row for each column of w_v", w_o.shape[0] == w_v.shape[1])
    return w_v @ w_o


def head_from_circuits(
    x: Float[Tensor, "... n d_model"],
    qk: Float[Tensor, "d_model d_model"],
    ov: Float[Tensor, "d_model d_model"],
    d_k: int,
    **stages,
) -> Float[Tensor, "... n d_model"]:
    """One head from its two circuits alone: queries x QK, keys x, values x OV.

    d_k: the width whose root divides the scores; the circuits do not show it. stages: as of attention (mask, causal).
    """
    _check_matrices(qk=qk, ov=ov)
    _checks.whole_number("d_k", d_k, minimum=1)
    out, _ = attention(x @ qk, x, x @ ov, scale=1 / math.sqrt(d_k), **stages)
    return out


def _check_matrices(**matrices):
    for name, matrix in matrices.items():
        _checks.float_tensor(name, matrix, min_dim=2)
        _checks.shape(name, matrix, "a matrix, two axes", matrix.dim() == 2)
    _checks.same_dtype(**matrices)
