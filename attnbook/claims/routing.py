"""Checks of chapter 1 on the formula itself: what a query sees, and what it mixes."""

import math

import torch

from attnbook.attention import SelfAttention, attention, causal_mask
from attnbook.claims._draws import EXACT, SEEDS, normal, unit
from attnbook.claims.measurement import Measurement
from attnbook.softmax import entropy

# -- the formula --------------------------------------------------------------------------

def one_formula() -> Measurement:
    """The formula in one line, the book's attention and torch's kernel give the same output."""
    n, d, worst = 10, 8, 0.0
    for seed in SEEDS:
        q, k, v = normal(seed, 3, n, d)
        one_line = (q @ k.T / d ** 0.5).softmax(-1) @ v
        kernel = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0]
        worst = max(worst, *((out - kernel).abs().max().item() for out in (one_line, attention(q, k, v)[0])))
    values = {"difference": worst, "tolerance": EXACT, "n": n, "d": d, "seeds": len(SEEDS)}
    return Measurement(values, holds=worst < EXACT)


def static_embedding() -> Measurement:
    """One token in two sentences: equal rows of the embedding table, different vectors after one attention step."""
    sentences = torch.tensor([[3, 7, 9, 1], [3, 11, 12, 5]])  # token 3 in two contexts
    table_change, changes = 0.0, []
    for seed in SEEDS:
        torch.manual_seed(seed)
        before = torch.nn.Embedding(50, 16)(sentences)
        after, _ = SelfAttention(16)(before)
        table_change = max(table_change, (before[0, 0] - before[1, 0]).norm().item())
        changes.append(((after[0, 0] - after[1, 0]).norm() / after[:, 0].norm(dim=-1).mean()).item())
    values = {"table_change": table_change, "smallest_change": min(changes), "seeds": len(SEEDS)}
    return Measurement(values, holds=table_change == 0 and min(changes) > 0.05)


def visibility() -> Measurement:
    """Every weight is positive; a causal mask makes the future exactly zero. Rows sum to 1, and no two are alike."""
    n, x = 8, normal(0, 3, 8, 16)
    _, free = attention(*x)
    _, causal = attention(*x, causal=True)
    apart = (free[:, None] - free).abs().sum(-1) / 2  # total variation between two rows
    values = {
        "n": n, "pairs": n * n, "seen_all": int((free > 0).sum()), "seen_causal": int((causal > 0).sum()),
        "future": int((causal[~causal_mask(n)] == 0).sum()), "tolerance": EXACT,
        "row_error": (free.sum(-1) - 1).abs().max().item(),
        "column_min": free.sum(0).min().item(), "column_max": free.sum(0).max().item(),
        "rows_differ": apart[~torch.eye(n, dtype=torch.bool)].min().item(),
    }
    seen = values["seen_all"] == n * n and values["seen_causal"] == n * (n + 1) // 2
    none_alike = values["rows_differ"] > 0.05 and values["row_error"] < EXACT
    return Measurement(values, holds=seen and values["future"] == n * (n - 1) // 2 and none_alike)


def convex_mixture() -> Measurement:
    """Every output lies in the convex hull of the values: in no direction does it reach farther than they do."""
    q, k, v = normal(0, 200, 4) * 3, normal(1, 10, 4), normal(2, 10, 2)
    out, weights = attention(q, k, v)
    angle = torch.arange(360, dtype=torch.float64) * math.pi / 180
    directions = torch.stack([angle.cos(), angle.sin()])
    inside = (out @ directions <= (v @ directions).amax(0) + EXACT).all(-1)
    row_error = (weights.sum(-1) - 1).abs().max().item()
    values = {"outputs": len(out), "inside": int(inside.sum()), "row_error": row_error}
    return Measurement(values, holds=bool(inside.all()) and row_error < EXACT and bool((weights >= 0).all()))


def rank_collapse() -> Measurement:
    """Attention alone drives all tokens to one vector; skips, or layer norm with a causal mask, slow it down."""
    plain = max(_spread(seed, layers=4) for seed in SEEDS)
    skip = min(_spread(seed, layers=12, skip=True) for seed in SEEDS)
    causal = min(_spread(seed, layers=4, norm=True, causal=True) for seed in SEEDS)
    values = {"plain_4": plain, "plain_bound": 1e-6, "skip_12": skip, "causal_4": causal, "seeds": len(SEEDS)}
    return Measurement(values, holds=plain < 1e-6 and skip > 0.02 and causal > 0.02)


def _spread(seed, layers, *, skip=False, norm=False, causal=False, n=32, d=32):
    """Distance of n tokens from "all equal", relative to their size, after random attention layers."""
    x, weights = normal(seed, n, d), normal(seed + 100, layers, 3, d, d) / d ** 0.5
    for w in weights:
        z = torch.nn.functional.layer_norm(x, (d,)) if norm else x
        out, _ = attention(*(z @ w), causal=causal)
        x = x + out if skip else out
    return ((x - x.mean(0)).norm() / x.norm()).item()


def hopfield_energy() -> Measurement:
    """With keys = values the modern Hopfield energy never rises; a random value matrix makes it rise."""
    updates, rise = 6, {"stored": [], "projected": []}
    for seed in SEEDS:
        patterns = unit(normal(seed, 20, 8))
        matrices = {"stored": torch.eye(8, dtype=torch.float64), "projected": normal(seed + 100, 8, 8)}
        for name, matrix in matrices.items():
            energy = _energies(normal(seed + 200, 1, 8), patterns, patterns @ matrix, updates)
            rise[name].append(max(b - a for a, b in zip(energy, energy[1:], strict=False)))
    values = {"largest_rise": max(rise["stored"]), "rises": sum(r > 0.01 for r in rise["projected"]),
              "updates": updates, "seeds": len(SEEDS)}
    return Measurement(values, holds=values["largest_rise"] < EXACT and values["rises"] > 0)


def _energies(state, keys, values, updates, beta=4.0):
    """Energy of a state (1, d) before and after each update state <- attention(state, keys, values)."""
    energies = []
    for _ in range(updates + 1):
        energy = state.square().sum() / 2 - torch.logsumexp(beta * keys @ state[0], 0) / beta
        energies.append(energy.item())
        state, _ = attention(state, keys, values, scale=beta)
    return energies


# -- scores and what is read --------------------------------------------------------------

def score_asymmetry() -> Measurement:
    """Scores of a pair differ by direction, and a token is seldom its own best key unless W_Q = W_K."""
    n, d, draws = 64, 16, 300
    x, w_q, w_k = normal(0, n, d), *normal(1, 2, d, d)
    scores = (x @ w_q) @ (x @ w_k).T
    other = ~torch.eye(n, dtype=torch.bool)
    tokens, maps = normal(2, draws, 8, d), normal(3, 2, draws, d, d)
    q, k = tokens @ maps[0], tokens @ maps[1]
    own = torch.arange(8)
    untied, tied = (((q @ key.mT).argmax(-1) == own).double().mean().item() for key in (k, q))
    values = {"n": n, "pairs": int(other.sum()), "differ": int((scores != scores.T)[other].sum()),
              "self_untied": untied, "self_tied": tied, "draws": draws}
    return Measurement(values, holds=values["differ"] == values["pairs"] and untied < 0.2 and tied > 0.8)


def retrieval() -> Measurement:
    """Nearest-neighbour search is attention with its scores scaled up: the number of memories read falls to one."""
    memories, d, betas, read, correct = 1000, 64, (1, 10, 50), [], 0
    for seed in SEEDS:
        stored = unit(normal(seed, memories, d))
        query = unit(stored[7:8] + 0.3 * unit(normal(seed + 100, 1, d)))
        rows = [attention(query, stored, stored, scale=float(beta))[1][0] for beta in betas]
        read.append([entropy(row).exp().item() for row in rows])
        correct += all(row.argmax() == 7 for row in rows)
    mean = [sum(column) / len(column) for column in zip(*read, strict=True)]
    values = {"memories": memories, "correct": correct, "seeds": len(SEEDS)}
    values |= {f"effective_{beta}": effective for beta, effective in zip(betas, mean, strict=True)}
    return Measurement(values, holds=correct == len(SEEDS) and mean[0] > 900 and mean[-1] < 1.1)
