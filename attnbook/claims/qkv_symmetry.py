"""Checks of chapter 2 on direction: tied scores, cycles, word order, and a head that has to look to one side."""

import math

import torch

from attnbook.attention import attention, causal_mask
from attnbook.claims._draws import EXACT, SEEDS, normal
from attnbook.claims.measurement import Measurement
from attnbook.softmax import softmax
from attnbook.tasks.previous import LENGTH, previous_accuracy

# -- tied scores --------------------------------------------------------------------------

def tied_scores() -> Measurement:
    """Q = K: scores symmetric, weights not, unless all rows have the same sum of exponentials."""
    q = torch.tensor([[0.0], [1.0], [2.0]], dtype=torch.float64)
    hand = attention(q, q, q)[1]
    score_gap, weight_gap, balance, lowest = 0.0, torch.inf, 0.0, torch.inf
    for seed in SEEDS:
        q = normal(seed, 8, 16) @ normal(seed + 100, 16, 16) / 4
        scores, weights = q @ q.T / 4, attention(q, q, q)[1]
        flow = scores.exp().sum(-1, keepdim=True) * weights  # Z_i A_ij
        score_gap = max(score_gap, (scores - scores.T).abs().max().item())
        weight_gap = min(weight_gap, (weights - weights.T).abs().max().item())
        balance = max(balance, ((flow - flow.T).abs().max() / flow.max()).item())
        lowest = min(lowest, torch.linalg.eigvalsh(scores).min().item())
    circle = _circle(8)
    even = attention(circle, circle, circle)[1]
    values = {"a12": hand[0, 1].item(), "a21": hand[1, 0].item(), "a23": hand[1, 2].item(), "score_gap": score_gap,
              "weight_gap": weight_gap, "balance": balance, "lowest": lowest, "tolerance": EXACT,
              "circle_gap": (even - even.T).abs().max().item(), "seeds": len(SEEDS)}
    exact = max(score_gap, balance, values["circle_gap"]) < EXACT and lowest > -EXACT
    return Measurement(values, holds=exact and weight_gap > 0.05)


def _circle(n):
    angle = 2 * math.pi * torch.arange(n, dtype=torch.float64) / n
    return torch.stack([angle.cos(), angle.sin()], -1)


def self_match() -> Measurement:
    """How often a random token is its own best key, tied and untied, for few and for many tokens."""
    values = {"draws": 100}
    for n in (8, 128):
        x, w_q, w_k = normal(n, 100, n, 16), *normal(n + 1, 2, 100, 16, 16)
        own, q = torch.arange(n), x @ w_q
        for name, k in (("tied", q), ("untied", x @ w_k)):
            values[f"{name}_{n}"] = ((q @ k.mT).argmax(-1) == own).double().mean().item()
    return Measurement(values, holds=all(values[f"tied_{n}"] > 0.5 and values[f"untied_{n}"] < 0.2 for n in (8, 128)))


def three_cycle() -> Measurement:
    """1 prefers 2 to 3, 2 prefers 3 to 1, 3 prefers 1 to 2: never with tied scores, whose three leads sum to zero."""
    draws = 20000
    x, w_q, w_k = normal(0, draws, 3, 4), *normal(1, 2, draws, 4, 4)
    q, found, sums = x @ w_q, {}, {}
    for name, k in (("tied", q), ("untied", x @ w_k)):
        s = q @ k.mT
        leads = torch.stack([s[:, i, (i + 1) % 3] - s[:, i, (i + 2) % 3] for i in range(3)])
        found[name], sums[name] = int((leads > 1e-9).all(0).sum()), leads.sum(0).abs().max().item()
    values = {"cycle_draws": draws, "tied_cycles": found["tied"], "untied_cycles": found["untied"],
              "leads_sum": sums["tied"], "exact": 1e-10}
    return Measurement(values, holds=found["tied"] == 0 and found["untied"] > draws / 50 and sums["tied"] < 1e-10)


def one_way_scores() -> Measurement:
    """Two matrices make scores of a pair differ by direction, unless W_Q W_K^T happens to be symmetric."""
    n, d = 64, 16
    x, w_q, w_k, mirror = normal(0, n, d), *normal(1, 2, d, d), normal(2, d, d)
    scores = (x @ w_q) @ (x @ w_k).T
    other = ~torch.eye(n, dtype=torch.bool)
    mirrored = (x @ w_q) @ (x @ (w_q @ (mirror + mirror.T))).T  # W_K = W_Q S with symmetric S
    gap = ((mirrored - mirrored.T).abs().max() / mirrored.abs().max()).item()
    values = {"all_pairs": int(other.sum()), "one_way": int((scores != scores.T)[other].sum()), "mirror_gap": gap,
              "rounding": EXACT}
    return Measurement(values, holds=values["one_way"] == values["all_pairs"] and gap < EXACT)


# -- word order ---------------------------------------------------------------------------

def word_order() -> Measurement:
    """"dog bites man" and "man bites dog": each word's output without positions, with positions, with a causal mask."""
    kinds = {"bare": {}, "placed": {"placed": True}, "causal": {"causal": True}}
    change = {name: [_order_change(seed, **kind) for seed in SEEDS] for name, kind in kinds.items()}
    values = {"bare": max(change["bare"]), "placed": min(change["placed"]), "causal": min(change["causal"]),
              "tolerance": 1e-14, "seeds": len(SEEDS)}
    return Measurement(values, holds=values["bare"] < 1e-14 and min(values["placed"], values["causal"]) > 0.1)


def _order_change(seed, placed=False, causal=False, d=16):
    """Largest change of a word's output, relative to the largest output, when three words are said backwards."""
    words, w, places = normal(seed, 3, d), normal(seed + 100, 3, d, d) / d ** 0.5, normal(seed + 200, 3, d)
    places = places if placed else 0 * places
    there, back = (attention(*((x + places) @ w), causal=causal)[0] for x in (words, words.flip(0)))
    return ((there - back.flip(0)).abs().max() / there.abs().max()).item()


def previous_token() -> Measurement:
    """A head that has to name its left neighbour on a ring: untied, tied, and tied under a causal mask."""
    kinds = {"untied": (False, {}), "tied": (True, {}), "hidden": (True, {"hide_self": True}),
             "causal": (True, {"causal": True}), "causal_hidden": (True, {"causal": True, "hide_self": True})}
    accuracy = {name: previous_accuracy(tied, **kind) for name, (tied, kind) in kinds.items()}
    values = {"ring": LENGTH, "cap": (LENGTH - 1) / LENGTH, "seeds": len(accuracy["tied"])}
    for name, shares in accuracy.items():
        values |= {f"{name}_low": min(shares), f"{name}_high": max(shares)}
    solved = min(values["untied_low"], values["causal_hidden_low"]) > 0.97
    return Measurement(values, holds=solved and max(values["tied_high"], values["hidden_high"]) < 0.97)


# -- the printed heat map -----------------------------------------------------------------

def heat_map() -> Measurement:
    """The chapter's own map gives "animal -> it" the largest weight of its row, and that row sums to more than 1."""
    rows = {"The": (0.1, 0.2, 0.1, 0.1, 0.1), "animal": (0.1, 0.3, 0.1, 0.4, 0.2), "it": (0.05, 0.65, 0.05, 0.05, 0.15)}
    columns = ("The", "animal", "street", "it", "tired")
    sums = {word: sum(row) for word, row in rows.items()}
    top = columns[rows["animal"].index(max(rows["animal"]))]
    causal = softmax(normal(0, 5, 5).masked_fill(~causal_mask(5), -torch.inf))
    values = {"back": max(rows["animal"]), "back_to": top, "animal_sum": sums["animal"],
              "largest_sum": causal.sum(-1).max().item()}
    return Measurement(values, holds=top == "it" and sums["animal"] > 1.05 and values["largest_sum"] < 1 + EXACT)
