"""Checks of chapter 8 on one head and several relations: what one mixture cannot say, and what training makes of it."""

import torch

from attnbook.attention import attention
from attnbook.claims._draws import EXACT, normal
from attnbook.claims.measurement import Measurement
from attnbook.tasks.heads import train_heads

RUNS = {"copying_one": ("copying", 1, "linear"), "copying_network": ("copying", 1, "network"),
        "copying_two": ("copying", 2, "linear"), "naming_one": ("naming", 1, "linear"),
        "naming_network": ("naming", 1, "network"), "naming_two": ("naming", 2, "linear")}


def one_mixture() -> Measurement:
    """Two sources at equal weights can be exchanged without a trace, unless they write to subspaces of their own."""
    d, equal = 12, torch.zeros(1, 2, dtype=torch.float64)
    a, b = normal(0, 2, d).unbind()

    def one_head(*sources):
        q, v = torch.zeros(1, d, dtype=torch.float64), torch.stack(sources)
        return attention(q, v, v, mask=equal)[0][0]

    def two_heads(*sources):  # one head looks at each place
        v = torch.stack(sources)
        masks = torch.eye(2, dtype=torch.bool)[:, None]
        return attention(v[:, None] * 0, v.expand(2, 2, d), v.expand(2, 2, d), mask=masks)[0].flatten()

    half = torch.arange(d) < d // 2
    apart = one_head(a * half, b * ~half)
    values = {
        "exchanged_one": (one_head(a, b) - one_head(b, a)).abs().max().item(),
        "exchanged_two": (two_heads(a, b) - two_heads(b, a)).abs().max().item(),
        "subspace_error": (2 * apart - torch.where(half, a, b)).abs().max().item(), "tolerance": EXACT}
    return Measurement(values, holds=max(values["exchanged_one"], values["subspace_error"]) < EXACT < values["exchanged_two"])


def two_places() -> Measurement:
    """Features copied from two places, or two names to be told: one head and two, with as many weights; five seeds.

    Names end in the run (see RUNS) and low, mean or high over the seeds: the loss of copying, the accuracy of naming.
    """
    values = {"head_seeds": 5}
    for name, run in RUNS.items():
        found = train_heads(*run)
        numbers = found.loss if found.accuracy is None else found.accuracy
        values |= {f"{name}_low": min(numbers), f"{name}_mean": sum(numbers) / len(numbers), f"{name}_high": max(numbers),
                   f"{name}_first": found.largest[0], f"{name}_second": found.largest[1]}
    wall = 0.4 < values["copying_one_low"] and 0.4 < values["copying_network_low"] and values["copying_two_high"] < 0.01
    slope = values["naming_one_high"] < 0.5 and values["naming_network_low"] > 0.97 and values["naming_two_low"] > 0.97
    return Measurement(values, holds=wall and slope)
