"""Checks of chapter 6 on adding positions, turning by them, or putting them beside; and on weights over many keys."""

import math

import torch

from attnbook.attention import attention
from attnbook.claims._draws import EXACT, SEEDS, normal
from attnbook.claims.measurement import Measurement
from attnbook.claims.positions import D, largest
from attnbook.positions import alibi_bias, rope, sinusoidal


def what_reaches_the_values() -> Measurement:
    """The same token at another position: its value changes if a vector was added, never with RoPE or ALiBi."""
    token, w = normal(0, 1, D), normal(1, D, D) / 4
    places = sinusoidal(60, D, dtype=torch.float64)
    added = largest((token + places[5]) @ w, (token + places[50]) @ w)
    x = token.expand(6, D)
    q, k, v = x @ w, x @ w.T, x @ w
    out = attention(rope(q, 0), rope(k, 0), v, bias=alibi_bias(1, 6).double()[0])[0]
    values = {"added": added, "turned": largest(out, v), "tolerance": EXACT}
    return Measurement(values, holds=added > 0.1 and values["turned"] < EXACT)


def tied_blocks() -> Measurement:
    """(E + P) W equals [E, P] with W twice; with two different blocks no matrix on E + P gives the same."""
    errors, lefts = [], []
    for seed in SEEDS:
        tokens, places = normal(seed, 2, 200, D)
        w, other = normal(seed + 100, 2, D, 8)
        both = torch.cat((tokens, places), -1)
        errors.append(largest((tokens + places) @ w, both @ torch.cat((w, w))))
        wanted = both @ torch.cat((w, other))
        found = torch.linalg.lstsq(tokens + places, wanted).solution
        lefts.append(((wanted - (tokens + places) @ found).norm() / wanted.norm()).item())
    values = {"identity": max(errors), "left": min(lefts), "tolerance": EXACT, "d": D, "narrow": 4,
              "wider": 4 / D, "width_added": D, "parameters_added": D * D, "parameters_beside": (D + 4) * D}
    return Measurement(values, holds=values["identity"] < EXACT and values["left"] > 0.3)


def four_terms() -> Measurement:
    """The score of sums is four scores; where a carrier falls silent without a signal, a sum still sends the place."""
    tokens, places = normal(0, 2, 10, D)
    m = normal(1, D, D) / D
    x = tokens + places
    parts = [a @ m @ b.T for a in (tokens, places) for b in (tokens, places)]
    values = {"terms": largest(x @ m @ x.T, sum(parts)), "terms_within": EXACT,
              "modulated": (0 * tokens * places).norm(dim=-1).max().item(),
              "added": (0 * tokens + places).norm(dim=-1).mean().item()}
    return Measurement(values, holds=values["terms"] < EXACT and values["modulated"] == 0 and values["added"] > 1)


def dilution() -> Measurement:
    """The weight of a key whose score leads all others by 5, with no position anywhere: it falls with their number."""
    values = {f"weight_{n}": math.exp(5) / (math.exp(5) + n - 1) for n in (1024, 32_768, 131_072)}
    return Measurement(values | {"lead": 5}, holds=values["weight_1024"] < 0.2 and values["weight_131072"] < 0.01)
