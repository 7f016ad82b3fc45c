"""tiled_attention: numbers saved for the backward pass. Budget: at most 5 L d + L, and linear in L."""

import torch

from attnbook.attention import attention
from attnbook.meter import saved_numbers
from attnbook.tiled import tiled_attention

WIDTH, TILE = 16, 32
LENGTHS = (256, 512, 1024)


def saved(length: int, call) -> int:
    """Numbers saved by one call on q, k and v of that length."""
    q, k, v = torch.randn(3, length, WIDTH).requires_grad_()
    return saved_numbers(lambda: call(q, k, v))


def run() -> bool:
    """Print one line a length; True if all are within the budget and doubling the length doubles the numbers."""
    ours = [saved(n, lambda q, k, v: tiled_attention(q, k, v, TILE, TILE, causal=True)) for n in LENGTHS]
    for n, count in zip(LENGTHS, ours):
        dense = saved(n, lambda q, k, v: attention(q, k, v, causal=True)[0])
        print(f"length {n:5}: {count:7} saved, budget {5 * n * WIDTH + n:7}, plain attention {dense:8}")
    within = all(count <= 5 * n * WIDTH + n for n, count in zip(LENGTHS, ours))
    return within and all(abs(b / a - 2) < 0.1 for a, b in zip(ours, ours[1:]))
