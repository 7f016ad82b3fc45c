"""attention() against torch's math kernel: time and memory, as ratios.

Both sides run in turn, many times, in one process, so that a busy machine slows both; the ratio is that of the
medians. The order within a turn alternates. Budget: at most 1.1 times the time and 1.25 times the memory.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile

from attnbook.attention import attention

TIME_BUDGET, MEMORY_BUDGET = 1.1, 1.25
SHAPES = ((2, 8, 256, 64), (1, 8, 512, 64))  # (batch, heads, length, width per head)


@dataclass
class Case:
    """One way to call both sides."""

    name: str
    ours: dict
    theirs: dict


def cases(length: int) -> list[Case]:
    """Plain, masked (half of the keys hidden, every row sees one) and causal."""
    mask = torch.rand(length, length, generator=torch.Generator().manual_seed(0)) < 0.5
    mask |= torch.eye(length, dtype=torch.bool)
    return [Case("plain", {}, {}), Case("masked", {"mask": mask}, {"attn_mask": mask}),
            Case("causal", {"causal": True}, {"is_causal": True})]


def sides(case: Case, shape: tuple, backward: bool) -> tuple[Callable, Callable]:
    """Two functions without arguments, ours and torch's, on the same inputs."""
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(shape, generator=generator).requires_grad_(backward) for _ in range(3))
    direction = torch.randn(shape, generator=generator)

    def finish(out):
        if backward:
            torch.autograd.grad(out, (q, k, v), direction)

    def theirs():
        with sdpa_kernel(SDPBackend.MATH):
            finish(F.scaled_dot_product_attention(q, k, v, **case.theirs))

    return lambda: finish(attention(q, k, v, **case.ours)[0]), theirs


def time_ratio(ours: Callable, theirs: Callable, turns: int) -> float:
    """Median time of ours over median time of theirs."""
    spent = {ours: [], theirs: []}
    for turn in range(turns + 2):
        for side in ((ours, theirs), (theirs, ours))[turn % 2]:
            start = time.perf_counter()
            side()
            if turn >= 2:  # the first turns warm up
                spent[side].append(time.perf_counter() - start)
    return statistics.median(spent[ours]) / statistics.median(spent[theirs])


def peak_bytes(side: Callable) -> int:
    """Largest number of bytes held at once, above the start, counted by torch's allocator."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        side()
    changes = [event for event in record.profiler.kineto_results.events() if event.name() == "[memory]"]
    return max(accumulate(event.nbytes() for event in sorted(changes, key=lambda event: event.start_ns())))


def run(turns: int = 40) -> bool:
    """Print one line a case; True if all are within the budgets."""
    good = True
    print(f"{'shape':>18} {'case':>7} {'pass':>17} {'time':>6} {'memory':>7}")
    for shape in SHAPES:
        for case in cases(shape[-2]):
            for backward in (False, True):
                ours, theirs = sides(case, shape, backward)
                ratio, memory = time_ratio(ours, theirs, turns), peak_bytes(ours) / peak_bytes(theirs)
                good &= ratio <= TIME_BUDGET and memory <= MEMORY_BUDGET
                name = "forward+backward" if backward else "forward"
                print(f"{'x'.join(map(str, shape)):>18} {case.name:>7} {name:>17} {ratio:6.2f} {memory:7.2f}")
    return good
