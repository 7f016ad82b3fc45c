"""Exact attention without the matrix: tiles of scores, merged by an online softmax, computed again for the backward pass.

Attention over a set of keys leaves two things behind for each query: the weighted mean of the values, `out`, and the
logarithm of the sum of all exponentials, `lse`. From them two disjoint sets of keys can be merged exactly, whatever
their sizes. Everything here, and the ring of chapter 7, is that one step, repeated.

Hidden keys have to hold finite numbers, as in `attention`; what a NaN behind a mask does is left open here (a tile
that is hidden as a whole is never touched, another one is).
Source: Milakov and Gimelshein 2018 (online softmax); Dao et al. 2022 (tiles, recomputing backward).
"""

import math
from collections.abc import Iterator

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from attnbook import _checks
from attnbook.attention import additive_mask, factor


# -- one set of keys, and two -------------------------------------------------------------

def partial_attention(
    q: Float[Tensor, "... L d_k"], k: Float[Tensor, "... S d_k"], v: Float[Tensor, "... S d_v"],
    added: Float[Tensor, "... L S"] | None = None,
) -> tuple[Float[Tensor, "... L d_v"], Float[Tensor, "... L"]]:
    """Attention over some of the keys: (out, lse). q is scaled already; added (0 or -inf, or a bias) joins the scores.

    A query that sees none of the keys has out 0 and lse -inf, the neutral element of merge_partials.
    """
    scores = q @ k.mT if added is None else q @ k.mT + added
    if k.shape[-2] == 0:
        return scores @ v, scores.sum(-1) - torch.inf
    peak = scores.amax(-1, keepdim=True)
    peak = peak.masked_fill(peak == -torch.inf, 0.0)
    e = (scores - peak).exp()
    total = e.sum(-1, keepdim=True)
    out = (e @ v) / total.masked_fill(total == 0, 1.0)
    return out, (peak + total.log()).squeeze(-1)


def merge_partials(
    out_a: Float[Tensor, "... L d_v"], lse_a: Float[Tensor, "... L"],
    out_b: Float[Tensor, "... L d_v"], lse_b: Float[Tensor, "... L"],
) -> tuple[Float[Tensor, "... L d_v"], Float[Tensor, "... L"]]:
    """Attention over two disjoint sets of keys from attention over each: (out, lse) of all of them.

    out: weighted mean of the values of one set. lse: log of the sum of the exponentials of its scores, -inf if empty.
    The order of the sets makes no difference, nor how keys are divided among them. Both empty: out 0, lse -inf.
    Statistics are computed in float32 at least; the dtypes of out_a and lse_a come out.

    Raises TypeError for integer or mixed dtypes, ValueError for shapes that do not fit.
    """
    for name, x in (("out_a", out_a), ("lse_a", lse_a), ("out_b", out_b), ("lse_b", lse_b)):
        _checks.float_tensor(name, x, min_dim=1)
    _checks.same_dtype(out_a=out_a, out_b=out_b)
    _checks.same_dtype(lse_a=lse_a, lse_b=lse_b)
    for name, lse, out in (("lse_a", lse_a, out_a), ("lse_b", lse_b, out_b)):
        _checks.shape(name, lse, f"{tuple(out.shape[:-1])}, one number a row", lse.shape == out.shape[:-1])
    _checks.shape("out_b", out_b, f"{tuple(out_a.shape)}, the shape of out_a", out_b.shape == out_a.shape)
    wide = torch.promote_types(torch.promote_types(out_a.dtype, lse_a.dtype), torch.float32)
    out, lse = merged(out_a.to(wide), lse_a.to(wide), out_b.to(wide), lse_b.to(wide))
    return out.to(out_a.dtype), lse.to(lse_a.dtype)


def merged(out_a, lse_a, out_b, lse_b):
    peak = torch.maximum(lse_a, lse_b).detach()
    peak = peak.masked_fill(peak == -torch.inf, 0.0)
    a, b = (lse_a - peak).exp(), (lse_b - peak).exp()  # the larger is 1, the other at most 1
    total = a + b
    empty = total == 0
    share_a, share_b = (x / total.masked_fill(empty, 1.0) for x in (a, b))
    lse = peak + total.masked_fill(empty, 1.0).log()
    return share_a[..., None] * out_a + share_b[..., None] * out_b, lse.masked_fill(empty, -torch.inf)


def tile_gradients(q, k, v, added, lse, grad_out, delta):
    """Gradients of one tile to its scaled q, to k and to v, from scores computed again.

    The weights are exp(score - lse), final at once since lse counts all keys. delta (..., L): sum of out * grad_out,
    what softmax subtracts from the gradient of every weight of the row.
    """
    scores = q @ k.mT if added is None else q @ k.mT + added
    nothing = (lse == -torch.inf)[..., None]
    weights = (scores - lse[..., None].masked_fill(nothing, 0.0)).exp().masked_fill(nothing, 0.0)
    to_scores = weights * (grad_out @ v.mT - delta[..., None])
    return to_scores @ k, to_scores.mT @ q, weights.mT @ grad_out


# -- all of them, tile by tile ------------------------------------------------------------

def tiled_attention(
    q: Float[Tensor, "... L d_k"], k: Float[Tensor, "... S d_k"], v: Float[Tensor, "... S d_v"],
    block_q: int = 64, block_k: int = 64,
    mask: Bool[Tensor, "..."] | Float[Tensor, "..."] | None = None,
    causal: bool = False, *, scale: float | None = None, return_lse: bool = False,
):
    """softmax(q k^T / sqrt(d_k)) v, equal to `attention` up to rounding; scores exist for one tile at a time.

    block_q, block_k: queries and keys of a tile, any sizes of at least 1; the last tile may be ragged.
    mask, causal, scale: as in `attention`; a mask gets no gradient.
    The backward pass computes the scores again. Saved for it: q, k, v, out and lse, hence 4 L d + L numbers for S = L.

    Returns out (..., L, d_v) in the dtype of q, and with return_lse also lse (..., L), float32 or wider.
    A query that may attend to nothing gets a zero output, lse -inf and a zero gradient.
    Raises TypeError or ValueError as `attention` does, and ValueError for a mask that requires a gradient.
    """
    _checks.qkv(q, k, v)
    _checks.whole_number("block_q", block_q, minimum=1)
    _checks.whole_number("block_k", block_k, minimum=1)
    batch = torch.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    q, k, v = (x.expand(*batch, *x.shape[-2:]) for x in (q, k, v))
    if mask is not None:
        mask = torch.atleast_2d(_checks.fits("mask", mask, _Shape((*batch, q.shape[-2], k.shape[-2]))))
        if mask.requires_grad:
            raise ValueError("mask requires a gradient, which tiled_attention does not give; expected mask.detach(), "
                             "or use attention")
    out, lse = _Tiled.apply(q, k, v, mask, (block_q, block_k, causal, factor(scale, q)))
    return (out, lse) if return_lse else out


class _Shape:
    """Stands for the scores, which are never made: all that a check of the mask needs is their shape."""

    def __init__(self, shape):
        self.shape = torch.Size(shape)


def _tiles(q, k, mask, settings) -> Iterator[tuple[slice, slice, Tensor | None]]:
    """Rows, columns and what is added to the scores, for every tile in which something may be seen."""
    block_q, block_k, causal, _ = settings
    L, S = q.shape[-2], k.shape[-2]
    for top in range(0, L, block_q):
        rows = slice(top, min(top + block_q, L))
        for left in range(0, S, block_k):
            columns = slice(left, min(left + block_k, S))
            if causal and left > rows.stop - 1 + S - L:
                break  # this tile and all to its right lie in the future
            yield rows, columns, _added(q, rows, columns, mask, causal, S - L)


def _added(q, rows, columns, mask, causal, shift):
    """Mask and causal order within one tile, or None if all of it is seen."""
    wide = torch.promote_types(q.dtype, torch.float32)
    terms = []
    if mask is not None:
        part = mask[..., rows if mask.shape[-2] > 1 else slice(None), columns if mask.shape[-1] > 1 else slice(None)]
        terms.append(additive_mask(part, wide))
    if causal and columns.stop - 1 > rows.start + shift:
        i = torch.arange(rows.start, rows.stop, device=q.device)[:, None] + shift
        j = torch.arange(columns.start, columns.stop, device=q.device)
        terms.append(additive_mask(j <= i, wide))
    return sum(terms[1:], terms[0]) if terms else None


class _Tiled(torch.autograd.Function):
    """Forward and backward over tiles. settings: block_q, block_k, causal, factor."""

    @staticmethod
    def forward(ctx, q, k, v, mask, settings):
        wide, factor = torch.promote_types(q.dtype, torch.float32), settings[-1]
        out = q.new_zeros(*q.shape[:-1], v.shape[-1], dtype=wide)
        lse = q.new_full(q.shape[:-1], -math.inf, dtype=wide)
        for rows, columns, added in _tiles(q, k, mask, settings):
            one = partial_attention(q[..., rows, :].to(wide) * factor, k[..., columns, :].to(wide),
                                    v[..., columns, :].to(wide), added)
            out[..., rows, :], lse[..., rows] = merged(out[..., rows, :], lse[..., rows], *one)
        out = out.to(q.dtype)
        ctx.settings = settings
        ctx.save_for_backward(q, k, v, mask, out, lse)
        return out, lse

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_out, grad_lse):
        q, k, v, mask, out, lse = ctx.saved_tensors
        wide, factor = lse.dtype, ctx.settings[-1]
        delta = (out.to(wide) * grad_out.to(wide)).sum(-1) - grad_lse
        to_q, to_k, to_v = (torch.zeros(x.shape, dtype=wide, device=x.device) for x in (q, k, v))
        for rows, columns, added in _tiles(q, k, mask, ctx.settings):
            dq, dk, dv = tile_gradients(
                q[..., rows, :].to(wide) * factor, k[..., columns, :].to(wide), v[..., columns, :].to(wide), added,
                lse[..., rows], grad_out[..., rows, :].to(wide), delta[..., rows])
            to_q[..., rows, :] += dq * factor
            to_k[..., columns, :] += dk
            to_v[..., columns, :] += dv
        return to_q.to(q.dtype), to_k.to(k.dtype), to_v.to(v.dtype), None, None
