"""Sparse attention: patterns that say who may look at whom, what they cost, how far they reach, and kernels that skip.

A pattern is a boolean mask, True = may attend, aligned to the last key like causal_mask; all of these are causal.
A window of w counts the query's own token: a query sees itself and the w - 1 tokens before it.
"""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnbook import _checks
from attnbook.attention import attention, causal_mask, local_mask

# -- patterns -----------------------------------------------------------------------------

def sink_mask(L: int, S: int, window: int, sinks: int, *, device=None) -> Bool[Tensor, "L S"]:
    """A sliding window, and beside it the first `sinks` keys for every query. Source: Xiao et al. 2023."""
    _checks.whole_number("sinks", sinks)
    first = torch.arange(S, device=device) < sinks
    return local_mask(L, S, window, device=device) | (first & causal_mask(L, S, device=device))


def strided_mask(L: int, S: int, window: int, stride: int, *, device=None) -> Bool[Tensor, "L S"]:
    """A sliding window, and beyond it each key whose distance is a multiple of stride. Source: Child et al. 2019."""
    _checks.whole_number("stride", stride, minimum=1)
    distance = torch.arange(L, device=device)[:, None] + S - L - torch.arange(S, device=device)
    return local_mask(L, S, window, device=device) | ((distance % stride == 0) & (distance >= 0))


def block_mask(blocks: Bool[Tensor, "... rows columns"], block: int, L: int, S: int) -> Bool[Tensor, "... L S"]:
    """The mask of whole blocks: query i sees key j if blocks[i // block, j // block]."""
    _check_blocks(blocks, block, L, S)
    rows, columns = (torch.arange(n, device=blocks.device) // block for n in (L, S))
    return blocks[..., rows, :][..., columns]


def reach(mask: Bool[Tensor, "n n"], layers: int) -> Bool[Tensor, "n n"]:
    """What can have arrived: entry (i, j) is True if layers of this pattern can carry token j to token i."""
    _checks.whole_number("layers", layers)
    arrived = torch.eye(len(mask), dtype=torch.bool, device=mask.device)
    step = (mask | arrived).float()  # the residual stream keeps a token where it is
    for _ in range(layers):
        arrived = (step @ arrived.float()) > 0
    return arrived


def hops(mask: Bool[Tensor, "n n"]) -> int:
    """Layers until each token can have received every earlier one, itself included. ValueError if that never happens."""
    wanted, arrived = causal_mask(len(mask), device=mask.device), None
    for layers in range(len(mask) + 1):
        found = reach(mask, layers)
        if found[wanted].all():
            return layers
        if arrived is not None and torch.equal(found, arrived):
            break
        arrived = found
    raise ValueError("mask lets some token never reach a later one; expected a pattern that connects them")


# -- kernels that touch only what is seen -------------------------------------------------

def sliding_window_attention(
    q: Float[Tensor, "... L d_k"], k: Float[Tensor, "... S d_k"], v: Float[Tensor, "... S d_v"],
    window: int, *, sinks: int = 0, block: int = 64,
) -> Float[Tensor, "... L d_v"]:
    """Causal attention to the last `window` keys, the own one included, and to the first `sinks` keys.

    Equal to attention with sink_mask, but a block of queries is only ever compared with the keys it can see:
    work and memory grow as L (window + block + sinks).
    Raises as `attention` does.
    """
    _checks.qkv(q, k, v)
    _checks.whole_number("window", window, minimum=1)
    _checks.whole_number("sinks", sinks)
    L, S = q.shape[-2], k.shape[-2]

    def seen(rows):
        low, high = max(rows.start + S - L - window + 1, 0), max(rows.stop + S - L, 0)
        columns = torch.arange(low, high, device=q.device)
        return torch.cat([torch.arange(min(sinks, low), device=q.device), columns])

    def mask(i, j):
        distance = i + S - L - j
        return (distance >= 0) & ((distance < window) | (j < sinks))

    return _by_blocks(q, k, v, block, seen, mask)


def block_sparse_attention(
    q: Float[Tensor, "... L d_k"], k: Float[Tensor, "... S d_k"], v: Float[Tensor, "... S d_v"],
    blocks: Bool[Tensor, "rows columns"], block: int, causal: bool = False,
) -> Float[Tensor, "... L d_v"]:
    """Attention restricted to whole blocks of the matrix; blocks that are False are never computed.

    blocks[a, b]: queries of block a may attend to keys of block b. causal: within them, no query sees a later key.
    Equal to attention with block_mask. Raises as `attention` does, and ValueError for a plan of the wrong shape.
    """
    _checks.qkv(q, k, v)
    L, S = q.shape[-2], k.shape[-2]
    _check_blocks(blocks, block, L, S)
    owner = torch.arange(S, device=q.device) // block

    def seen(rows):
        return blocks[rows.start // block].to(q.device)[owner].nonzero().squeeze(-1)

    def mask(i, j):
        return j <= i + S - L if causal else torch.ones_like(i + j, dtype=torch.bool)

    return _by_blocks(q, k, v, block, seen, mask)


def _by_blocks(q, k, v, block: int, seen: Callable, mask: Callable):
    """Attention one block of queries at a time, each with the keys seen(rows) and the mask among them."""
    _checks.whole_number("block", block, minimum=1)
    L, parts = q.shape[-2], []
    for top in range(0, L, block):
        rows = slice(top, min(top + block, L))
        columns = seen(rows)
        i = torch.arange(rows.start, rows.stop, device=q.device)[:, None]
        parts.append(attention(q[..., rows, :], k[..., columns, :], v[..., columns, :], mask=mask(i, columns))[0])
    return torch.cat(parts, -2) if parts else attention(q, k, v)[0]


def _check_blocks(blocks, block, L, S):
    _checks.whole_number("block", block, minimum=1)
    if not isinstance(blocks, Tensor) or blocks.dtype != torch.bool:
        raise TypeError(f"blocks is {_checks.describe(blocks)}; expected a boolean tensor, True = computed")
    wanted = (-(-L // block), -(-S // block))
    _checks.shape("blocks", blocks, f"(..., {wanted[0]}, {wanted[1]}) for {L} queries, {S} keys and blocks of {block}",
                  tuple(blocks.shape[-2:]) == wanted)
