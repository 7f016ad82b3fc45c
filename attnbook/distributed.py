"""Ring attention: exact attention over a sequence that no single process holds (chapter 7).

Each process (rank) keeps its own queries. Blocks of keys and values travel round a ring; whatever a rank has computed
so far is merged with what the next block adds (attnbook.tiled). In the backward pass the gradients of keys and values
travel with their block and come home with it.

Start ranks from a script with torchrun, or from a notebook with attnbook.launch. `torchrun --nproc_per_node 2 -m
attnbook.ring_report` compares the ring with one process.
Source: Liu, Zaharia and Abbeel 2023 (the ring); a causal mask is balanced by pairing early with late pieces (zig-zag).
"""

import math
from collections.abc import Iterator

import torch
import torch.distributed as dist
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from attnbook import _checks
from attnbook.attention import additive_mask
from attnbook.tiled import merged, partial_attention, tile_gradients

BLOCK = 512  # queries and keys of one tile of scores: no rank holds more scores than BLOCK * BLOCK at a time


# -- who holds what -----------------------------------------------------------------------

def shard_positions(n: int, rank: int, world: int, order: str = "zigzag") -> Int[Tensor, "n_rank"]:
    """The places of the sequence that a rank holds, rising.

    "contiguous": n / world in a row, the first ranks one more if it does not divide.
    "zigzag": of 2 * world such pieces the piece `rank` from the front and the one from the back: a late piece has much
    to look at under a causal mask, an early one little, and every pair has about the same.
    """
    for name, value, least in (("n", n, 0), ("rank", rank, 0), ("world", world, 1)):
        _checks.whole_number(name, value, least)
    if order not in ("zigzag", "contiguous"):
        raise ValueError(f"order is {order!r}; expected 'zigzag' or 'contiguous'")
    pieces = torch.arange(n).tensor_split(2 * world if order == "zigzag" else world)
    return torch.cat([pieces[rank], pieces[2 * world - 1 - rank]]) if order == "zigzag" else pieces[rank]


def visible_pairs(positions: Int[Tensor, "n_rank"], n: int, causal: bool = True) -> int:
    """How many pairs of a query and a key a rank has to compute: its share of the work."""
    return int((positions + 1).sum()) if causal else len(positions) * n


def owners(n: int, world: int, order: str = "zigzag") -> list[int]:
    """Which rank holds each of the n places."""
    found = torch.zeros(n, dtype=torch.int64)
    for rank in range(world):
        found[shard_positions(n, rank, world, order)] = rank
    return found.tolist()


def work_shares(n: int, world: int, order: str = "zigzag", causal: bool = True) -> list[float]:
    """Each rank's share of all pairs of a query and a key that are computed; they sum to 1."""
    pairs = [visible_pairs(shard_positions(n, rank, world, order), n, causal) for rank in range(world)]
    return [one / sum(pairs) for one in pairs]


# -- the ring -----------------------------------------------------------------------------

def ring_attention(
    q: Float[Tensor, "... n_rank d_k"], k: Float[Tensor, "... n_rank d_k"], v: Float[Tensor, "... n_rank d_v"],
    causal: bool = False, group=None, *, positions: Int[Tensor, "n_rank"] | None = None,
) -> Float[Tensor, "... n_rank d_v"]:
    """Attention of this rank's queries to the keys of all ranks; every rank of the group calls it, forward and backward.

    q, k, v: the rows of this rank, the same number of each; ranks may hold different numbers, also none.
    positions: their places in the whole sequence, rising (see shard_positions); None means that rank 0 holds the first
        rows, rank 1 the next, and so on. Used under a causal mask only.
    Equal to `attention` on the whole sequence up to rounding; rows behind a causal mask must hold finite numbers. A rank holds its own rows, one block on its way in and
    one on its way out, and one tile of scores.

    Raises TypeError or ValueError as `attention` does, and ValueError for a group that this process is not in.
    """
    _checks.qkv(q, k, v)
    _checks.shape("k", k, f"{tuple(q.shape)}: as many keys as queries on each rank", k.shape[:-1] == q.shape[:-1])
    _checks.shape("v", v, f"{tuple(q.shape[:-1])} and a width", v.shape[:-1] == q.shape[:-1])
    ring = _Ring(group)
    lengths = ring.lengths(q.shape[-2])
    if positions is None:
        start = sum(lengths[:ring.rank])
        positions = torch.arange(start, start + q.shape[-2])
    elif not isinstance(positions, Tensor) or positions.dtype != torch.int64 or positions.shape != q.shape[-2:-1]:
        raise ValueError(f"positions is {_checks.describe(positions)}; expected {q.shape[-2]} whole numbers (int64)")
    return _RingAttention.apply(q, k, v, positions, causal, ring, lengths)


class _Ring:
    """Neighbours and transport. Empty tensors are not sent, and a ring of one sends nothing at all."""

    def __init__(self, group):
        self.group = group if group is not None else dist.group.WORLD
        self.rank, self.world = dist.get_rank(self.group), dist.get_world_size(self.group)
        if self.rank < 0:
            raise ValueError("group does not hold this process; expected a group it is a member of")
        self.to, self.origin = (dist.get_global_rank(self.group, (self.rank + step) % self.world) for step in (1, -1))

    def lengths(self, mine: int) -> list[int]:
        """How many rows each rank holds."""
        if self.world == 1:
            return [mine]
        found = [torch.zeros(1, dtype=torch.int64) for _ in range(self.world)]
        dist.all_gather(found, torch.tensor([mine]), group=self.group)
        return [int(x) for x in found]

    def pass_on(self, tensors, n: int):
        """Begin to send tensors to the next rank and to receive those of the one before, which holds n rows.

        Returns a function that waits for all of it and returns what came: (..., n, width) for each tensor.
        """
        if self.world == 1:
            return lambda: tensors
        sent = [x.contiguous() for x in tensors]
        came = [x.new_empty(_with_rows(x, n)) for x in tensors]
        todo = [dist.P2POp(dist.isend, x, self.to, self.group) for x in sent if x.numel()]
        todo += [dist.P2POp(dist.irecv, x, self.origin, self.group) for x in came if x.numel()]
        handles = dist.batch_isend_irecv(todo) if todo else []

        def wait():
            for handle in handles:
                handle.wait()
            sent.clear()  # kept alive until here: a buffer must outlive its sending
            return came

        return wait


def _with_rows(x, n):
    return (n,) if x.dim() == 1 else (*x.shape[:-2], n, x.shape[-1])


def _runs(positions) -> list[slice]:
    """Slices of consecutive places, at most BLOCK long."""
    breaks = ((positions[1:] != positions[:-1] + 1).nonzero().squeeze(-1) + 1).tolist()
    edges = [0, *breaks, len(positions)]
    return [slice(a, min(a + BLOCK, stop)) for start, stop in zip(edges, edges[1:]) for a in range(start, stop, BLOCK)]


def _tiles(mine, theirs, causal, dtype) -> Iterator[tuple[slice, slice, Tensor | None]]:
    """Rows, columns and what is added to the scores, for each tile of two blocks in which something may be seen."""
    for rows in _runs(mine):
        for columns in _runs(theirs):
            i, j = mine[rows], theirs[columns]
            if not causal or j[-1] <= i[0]:
                yield rows, columns, None
            elif j[0] <= i[-1]:
                yield rows, columns, additive_mask(j <= i[:, None], dtype)


class _RingAttention(torch.autograd.Function):
    """At step t a rank works on the block that began t ranks before it, while the next one is already on its way."""

    @staticmethod
    def forward(ctx, q, k, v, positions, causal, ring, lengths):
        wide, factor = torch.promote_types(q.dtype, torch.float32), 1 / math.sqrt(max(q.shape[-1], 1))
        out, lse = q.new_zeros(v.shape, dtype=wide), q.new_full(q.shape[:-1], -math.inf, dtype=wide)
        scaled, block = q.to(wide) * factor, [k, v, positions]
        for step in range(ring.world):
            last = step == ring.world - 1
            wait = None if last else ring.pass_on(block, lengths[(ring.rank - step - 1) % ring.world])
            keys, values = block[0].to(wide), block[1].to(wide)
            for rows, columns, added in _tiles(positions, block[2], causal, wide):
                one = partial_attention(scaled[..., rows, :], keys[..., columns, :], values[..., columns, :], added)
                out[..., rows, :], lse[..., rows] = merged(out[..., rows, :], lse[..., rows], *one)
            block = block if last else wait()
        out = out.to(q.dtype)
        ctx.save_for_backward(q, k, v, positions, out, lse)
        ctx.causal, ctx.ring, ctx.lengths, ctx.factor = causal, ring, lengths, factor
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        q, k, v, positions, out, lse = ctx.saved_tensors
        ring, wide = ctx.ring, lse.dtype
        grad, scaled = grad.to(wide), q.to(wide) * ctx.factor
        delta = (out.to(wide) * grad).sum(-1)
        block, to_q = [k, v, positions], torch.zeros_like(scaled)
        gradients = [torch.zeros(x.shape, dtype=wide) for x in (k, v)]  # they travel with the block they belong to
        for step in range(ring.world):
            last = step == ring.world - 1
            coming = ctx.lengths[(ring.rank - step - 1) % ring.world]
            wait = None if last else ring.pass_on(block, coming)
            keys, values = block[0].to(wide), block[1].to(wide)
            for rows, columns, added in _tiles(positions, block[2], ctx.causal, wide):
                dq, dk, dv = tile_gradients(scaled[..., rows, :], keys[..., columns, :], values[..., columns, :], added,
                                            lse[..., rows], grad[..., rows, :], delta[..., rows])
                to_q[..., rows, :] += dq * ctx.factor
                gradients[0][..., columns, :] += dk
                gradients[1][..., columns, :] += dv
            block = block if last else wait()
            gradients = ring.pass_on(gradients, coming)()  # after the last step they are home
        return (to_q.to(q.dtype), gradients[0].to(k.dtype), gradients[1].to(v.dtype), None, None, None, None)
