"""The ring against one process, and how long it takes: what ranks run that were started to see it (chapter 7).

`torchrun --nproc_per_node 2 -m attnbook.ring_report` prints one line a rank; a notebook calls run_ranks(ring_report, 4, lengths).
"""

import sys
import time
from collections.abc import Sequence

import torch
import torch.distributed as dist

from attnbook.attention import attention
from attnbook.distributed import ring_attention, shard_positions
from attnbook.launch import LIMIT, joined


def compare(n: int = 37, causal: bool = True, order: str = "zigzag", heads: int = 2, width: int = 8,
            group=None) -> float:
    """Largest difference between the ring and plain attention, output and gradients, on this rank's rows.

    Every rank draws the same sequence, so that no result has to be collected.
    """
    rank, world = dist.get_rank(group), dist.get_world_size(group)
    generator = torch.Generator().manual_seed(n)
    whole = [torch.randn(heads, n, width, generator=generator, dtype=torch.float64) for _ in range(4)]
    positions = shard_positions(n, rank, world, order)
    whole, direction = [x.requires_grad_() for x in whole[:3]], whole[3]
    local = [x.detach()[:, positions].requires_grad_() for x in whole]
    ours = ring_attention(*local, causal, group, positions=positions)
    theirs = attention(*whole, causal=causal)[0]
    pairs = [(ours, theirs), *zip(torch.autograd.grad(ours, local, direction[:, positions]),
                                  torch.autograd.grad(theirs, whole, direction))]
    return max((a - b[:, positions]).abs().max().item() if a.numel() else 0.0 for a, b in pairs)


def ring_report(lengths: Sequence[int], width: int = 64, turns: int = 3) -> dict:
    """On each rank: the largest difference from one process, and seconds of a forward pass, for rings of 1, 2, ... ranks.

    {"difference": {ring: number}, "seconds": {(n, ring): number}}; a rank reports the rings it is a member of. Time is the
    shortest of several turns, all ranks of the ring starting together.
    """
    found = {"difference": {}, "seconds": {}}
    for ring in range(1, dist.get_world_size() + 1):
        group = dist.new_group(range(ring))
        if dist.get_rank() < ring:
            found["difference"][ring] = compare(37, group=group)
            for n in lengths:
                found["seconds"][n, ring] = min(_seconds(n, width, group) for _ in range(turns))
    return found


def gathered(reports: Sequence[dict]) -> dict:
    """The reports of all ranks as one: {"difference": {ring: largest}, "seconds": {n: {ring: slowest rank}}}."""
    difference, seconds = {}, {}
    for report in reports:
        for ring, value in report["difference"].items():
            difference[ring] = max(value, difference.get(ring, 0.0))
        for (n, ring), value in report["seconds"].items():
            row = seconds.setdefault(n, {})
            row[ring] = max(value, row.get(ring, 0.0))
    return {"difference": difference, "seconds": seconds}


def _seconds(n, width, group):
    mine = len(shard_positions(n, dist.get_rank(group), dist.get_world_size(group), "contiguous"))
    q, k, v = torch.randn(3, mine, width)
    if dist.get_world_size(group) > 1:
        dist.barrier(group)
    start = time.perf_counter()
    ring_attention(q, k, v, group=group)
    return time.perf_counter() - start


def main() -> None:
    """What `torchrun -m attnbook.ring_report` runs on every rank."""
    with joined(LIMIT):
        worst = max(compare(n, causal, order) for n in (3, 37) for causal in (False, True)
                    for order in ("contiguous", "zigzag"))
        line = f"rank {dist.get_rank()} of {dist.get_world_size()}: within 1e-5 of one process: {worst < 1e-5}\n"
        sys.stdout.write(line)  # text and line end at once: print() writes twice, and another rank may come between


if __name__ == "__main__":
    main()
