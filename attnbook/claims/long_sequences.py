"""Checks of chapter 7 on long sequences: what n^2 is, what a million tokens cost, and what approximations lose."""

import torch

from attnbook.attention import SelfAttention, attention
from attnbook.claims._draws import normal
from attnbook.claims.measurement import Measurement
from attnbook.costs import breakeven, numbers, products
from attnbook.distributed import shard_positions, visible_pairs
from attnbook.meter import count_products, peak_numbers, saved_numbers
from attnbook.sparse import hops, sink_mask
from attnbook.tasks.far import PAIRS, SINKS, WINDOW, far_recall
from attnbook.tiled import tiled_attention

MILLION = 1_000_000
LENGTHS = (256, 512, 1024)


def cost_of_full() -> Measurement:
    """Doubling n: products grow fourfold with and without tiles, numbers alive fourfold or twofold; and the rest of a block."""
    counts, peaks, kept = ({"dense": [], "tiled": []} for _ in range(3))
    for n in LENGTHS:
        q, k, v = (x.float().requires_grad_() for x in normal(n, 3, n, 16))
        for name, call in (("dense", lambda: attention(q, k, v)[0]), ("tiled", lambda: tiled_attention(q, k, v, 64, 64))):
            counts[name].append(count_products(call))
            peaks[name].append(peak_numbers(call))
            kept[name].append(saved_numbers(call))
    growth = {f"{what}_{name}": found[name][-1] / found[name][-2]
              for what, found in (("work", counts), ("memory", peaks), ("saved", kept)) for name in found}
    values = growth | {"breakeven_widths": breakeven(4096) / 4096} | _block(64, 6 * 64)
    return Measurement(values, holds=counts["dense"] == counts["tiled"] and abs(growth["work_dense"] - 4) < 1e-9
                       and growth["memory_dense"] > 3.5 and growth["saved_tiled"] < 2.1 and abs(values["share_at_6d"] - 0.5) < 0.01)


def _block(d, n):
    """Share of scores and mixing in the products of a whole block of width d at length n, counted."""
    layer = SelfAttention(d)
    forward = torch.nn.Sequential(torch.nn.Linear(d, 4 * d, bias=False), torch.nn.Linear(4 * d, d, bias=False))
    x = torch.randn(n, d)
    whole = count_products(lambda: (layer(x), forward(x)))
    q, k, v = (h[0] for h in layer.project(x))
    return {"share_at_6d": count_products(lambda: attention(q, k, v)) / whole}


def trillion() -> Measurement:
    """A million squared, in numbers, bytes, and with a causal mask."""
    pairs = visible_pairs(shard_positions(MILLION, 0, 1), MILLION)
    values = {"weights": MILLION**2, "half": pairs / MILLION**2, "terabytes": 2 * MILLION**2 / 1e12}
    return Measurement(values, holds=MILLION**2 == numbers("dense", MILLION, 64) == 10**12 and abs(values["half"] - 0.5) < 1e-5)


def exact_at_a_million() -> Measurement:
    """The last four of a million queries, exactly, over all million keys, in tiles: equal to the plain rows."""
    generator = torch.Generator().manual_seed(0)
    k, v = torch.randn(2, MILLION, 4, generator=generator)
    q = torch.randn(4, 4, generator=generator)
    out = []
    peak = peak_numbers(lambda: out.append(tiled_attention(q, k, v, 4, 8192, causal=True)))
    plain = attention(q, k, v, causal=True)[0]
    shares = [visible_pairs(shard_positions(MILLION, r, 8), MILLION) / (MILLION * (MILLION + 1) / 2) for r in range(8)]
    values = {"difference": (out[0] - plain).abs().max().item(), "peak": peak, "matrix": MILLION**2,
              "share_low": min(shares), "share_high": max(shares), "gigabytes": 4 * numbers("ring", MILLION, 64, ranks=64) / 1e9}
    return Measurement(values, holds=values["difference"] < 1e-5 and peak < 1e6 and values["share_high"] < 0.126)


def far_tokens() -> Measurement:
    """What windows, sinks and a linear state lose on a list whose far entries are asked for; five seeds each."""
    values = {"pairs": PAIRS, "window": WINDOW - 1, "sinks": SINKS, "chance": 1 / 8}
    for kind in ("full", "window", "sinks", "linear"):
        report = far_recall(kind)
        for name, low, high in (("near", 1, WINDOW - 1), ("middle", WINDOW, PAIRS - SINKS), ("first", PAIRS - SINKS + 1, PAIRS)):
            found = report.between(low, high)
            values |= {f"{kind}_{name}_low": min(found), f"{kind}_{name}_high": max(found)}
        values |= {f"{kind}_age_{age}": right for age, right in enumerate(report.right.mean(0).tolist(), 1)}
    good = min(values["full_near_low"], values["full_middle_low"], values["sinks_first_low"], values["window_near_low"]) > 0.7
    blind = max(values["window_middle_high"], values["sinks_middle_high"], values["window_first_high"]) < 0.25
    return Measurement(values, holds=good and blind and 0.25 < values["linear_middle_low"] < values["full_middle_low"] - 0.2)


def reach_of_windows() -> Measurement:
    """Products against full attention at a million tokens, and layers until the last token can have heard the first."""
    window = 1024
    values = {"window_million": window, "less_window": products("dense", MILLION, 64) / products("window", MILLION, 64, window=window),
              "less_linear": products("dense", MILLION, 64) / products("linear", MILLION, 64),
              "layers": -(-(MILLION - 1) // (window - 1)), "layers_small": hops(sink_mask(61, 61, 5, 1))}
    return Measurement(values, holds=values["less_window"] > 900 and values["layers_small"] == 15)
