"""What the ranks of test_distributed run: importable, since new processes begin empty."""

import os
import time

import torch
import torch.distributed as dist

from attnbook.attention import attention
from attnbook.distributed import ring_attention, shard_positions

CASES = [(1, 8), (2, 8), (3, 10), (4, 10), (4, 3), (3, 1), (2, 0)]  # ranks and length of the sequence


def all_cases():
    """Largest difference from one process for each case this rank takes part in, and what was sent by a ring of one."""
    groups = {size: dist.new_group(range(size)) for size in (1, 2, 3, 4)}
    found = {}
    for world, n in CASES:
        if dist.get_rank() < world:
            for causal in (False, True):
                for order in ("contiguous", "zigzag"):
                    for dtype in (torch.float64, torch.float32):
                        found[world, n, causal, order, str(dtype)] = difference(groups[world], n, causal, order, dtype)
    if dist.get_rank() == 0:
        found["sent by one"] = messages(groups[1])
    found["refused"] = refused(groups[1])
    return found


def difference(group, n, causal, order, dtype):
    """Output and gradients against plain attention on the whole sequence, with two heads and values of another width."""
    generator = torch.Generator().manual_seed(n)
    q, k, v, direction = (torch.randn(2, n, d, generator=generator, dtype=dtype) for d in (4, 4, 3, 3))
    mine = shard_positions(n, dist.get_rank(group), dist.get_world_size(group), order)
    local = [x[:, mine].requires_grad_() for x in (q, k, v)]
    whole = [x.requires_grad_() for x in (q, k, v)]
    ours = ring_attention(*local, causal, group, positions=mine if order == "zigzag" else None)
    theirs = attention(*whole, causal=causal)[0]
    assert ours.dtype == dtype and ours.shape == (2, len(mine), 3)
    (ours * direction[:, mine]).sum().backward()
    pairs = [(ours, theirs)] + [(a.grad, b) for a, b in zip(local, torch.autograd.grad(theirs, whole, direction))]
    return max((a - b[:, mine]).abs().max().item() if a.numel() else 0.0 for a, b in pairs)


def messages(group):
    """How many messages a ring of one process sends."""
    counted, real = [], dist.batch_isend_irecv
    dist.batch_isend_irecv = lambda todo: counted.append(todo) or real(todo)
    try:
        x = torch.randn(5, 4, requires_grad=True)
        ring_attention(x, x, x, True, group).sum().backward()
    finally:
        dist.batch_isend_irecv = real
    return len(counted)


def refused(group):
    """The error for a group without this process, or "" for a member."""
    try:
        ring_attention(*torch.zeros(3, 2, 2), False, group)
    except ValueError as error:
        return str(error)
    return ""


def fails_on(rank):
    """One rank raises while the others wait for its rows."""
    if dist.get_rank() == rank:
        raise KeyError("a forced error")
    return ring_attention(*torch.zeros(3, 2, 2)).sum().item()


def dies_on(rank):
    """One rank is gone without a word."""
    if dist.get_rank() == rank:
        os._exit(3)
    return ring_attention(*torch.zeros(3, 2, 2)).sum().item()


def sleeps():
    time.sleep(600)
