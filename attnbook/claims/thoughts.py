"""Checks of chapter 7 on what weights show: an impossible map, equal behaviour, replaced weights, importance."""

from functools import cache

import torch

from attnbook.attention import attention
from attnbook.claims._draws import SEEDS, normal
from attnbook.claims.measurement import Measurement
from attnbook.softmax import softmax
from attnbook.tasks.coreference import (
    IT,
    between,
    effects,
    examples,
    one_hot_answers,
    shuffled_answers,
    silenced_answers,
    swapped,
    train_coreference,
    train_habit,
    usual,
)

HEAT_MAP = {"The": (0.1, 0.2, 0.1, 0.1, 0.1), "animal": (0.1, 0.3, 0.1, 0.4, 0.2), "it": (0.05, 0.65, 0.05, 0.05, 0.15)}
"""The heat map of the source, over the keys The, animal, street, it, tired."""
HEADS, HABIT_STEPS = 4, 160


# -- the map of the source ----------------------------------------------------------------

def heat_map() -> Measurement:
    """Sums of its rows: weights of some of the keys may sum to less than 1, never to more."""
    sums = {f"row_{word}": sum(row) for word, row in HEAT_MAP.items()}
    worst = max(softmax(scale * normal(seed, 400, 11)).sum(-1).max().item() for seed in SEEDS for scale in (0.1, 1, 30))
    return Measurement(sums | {"largest": worst}, holds=sums["row_animal"] > 1.05 and worst < 1 + 1e-12)


def animal_reads_it() -> Measurement:
    """How often the row of "animal" has its largest weight on "it" in trained heads, and its weight in a causal one."""
    tokens = _sentences()
    rows = torch.cat([model(tokens)[1][..., 1, :].flatten(0, 2) for model in _rule()])  # animal is word 1
    q, k, v = normal(0, 3, 11, 16)
    causal = attention(q, k, v, causal=True)[1][1, IT].item()
    values = {"share": (rows.argmax(-1) == IT).double().mean().item(), "heads": 2 * HEADS * len(SEEDS), "causal": causal,
              "mean": rows[:, IT].mean().item()}
    return Measurement(values, holds=causal == 0 and values["share"] < 0.5)


# -- behaviour ----------------------------------------------------------------------------

def same_behaviour() -> Measurement:
    """A rule and a habit: no question in the usual order tells them apart, the swapped order does."""
    rule, habit = _both_orders(), _habit()
    values = {}
    for name, models in (("rule", rule), ("habit", habit)):
        for order, data in (("usual", usual()), ("swapped", swapped())):
            found = [between(model, data=data) for model in models]
            values |= {f"{name}_{order}_low": min(found), f"{name}_{order}_high": max(found)}
            values |= {f"{name}_{order}_{seed}": share for seed, share in zip(SEEDS, found)}
    holds = min(values["rule_usual_low"], values["habit_usual_low"]) > 0.9
    return Measurement(values | {"seeds": len(SEEDS)},
                       holds=holds and values["rule_swapped_low"] > 0.95 and values["habit_swapped_high"] < 0.85)


# -- weights ------------------------------------------------------------------------------

def weights_replaced() -> Measurement:
    """Trained heads: how many answers stay when the row behind the answer is shuffled, silenced, or moved elsewhere."""
    tokens = _sentences()
    shuffled = [shuffled_answers(model, tokens) for model in _rule()]
    silent = [silenced_answers(model, tokens) for model in _rule()]
    moved = torch.cat([one_hot_answers(model, tokens).flatten() for model in _rule()])
    values = {"shuffled_low": min(shuffled), "shuffled_high": max(shuffled), "silenced_low": min(silent),
              "silenced_high": max(silent), "moved": (moved > 0.9).double().mean().item(), "heads_each": HEADS}
    return Measurement(values, holds=0.6 < min(shuffled) and max(shuffled) < 1 and values["moved"] > 0.8)


def weights_and_effects() -> Measurement:
    """Correlation of weight and effect in trained heads, for three meanings of effect, over heads and single rows."""
    found, values = correlations(), {"trained_heads": 2 * HEADS * len(SEEDS), "rows": 2 * HEADS * len(SEEDS) * len(_sentences())}
    for kind, rows in found.items():
        heads = rows.mean(1).flatten()
        low, middle, high = heads.quantile(torch.tensor([0.05, 0.5, 0.95]).double()).tolist()
        values |= {f"{kind}_median": middle, f"{kind}_low": low, f"{kind}_high": high}
        values |= {f"{kind}_lowest": rows.min().item()}
        values |= {f"{kind}_head_{i}": value for i, value in enumerate(heads.tolist())}
        values[f"{kind}_between"] = ((rows > 0.6) & (rows < 0.7)).double().mean().item()
    spread = values["cut_median"] - values["occlusion_median"]
    rare = max(values[f"{kind}_between"] for kind in found)
    return Measurement(values, holds=spread > 0.2 and rare < 0.2 and values["occlusion_lowest"] < 0)


@cache
def correlations() -> dict[str, torch.Tensor]:
    """Pearson correlation over the words of a sentence of weight and effect: (seeds, sentences, layers, heads) each."""
    tokens = _sentences()
    each = [effects(model, tokens) for model in _rule()]
    return {kind: torch.stack([_correlation(one["weight"], one[kind]) for one in each])
            for kind in ("cut", "gradient", "occlusion")}


def random_heads() -> Measurement:
    """200 heads without training: weight against the change of the output along a fixed direction when a key is left out."""
    values, spread = {"heads_random": 200}, {}
    for name, scale, kind in (("wide", 2.0, "plain"), ("narrow", 0.5, "plain"), ("equal", 2.0, "equal"),
                              ("oppose", 2.0, "oppose")):
        found = torch.stack([_left_out(seed, scale, kind) for seed in range(200)])
        values[f"random_{name}"] = found.mean().item()
        spread[name] = found.quantile(torch.tensor([0.05, 0.95]).double()).tolist()
    values |= {"narrow_low": spread["narrow"][0], "narrow_high": spread["narrow"][1]}
    holds = values["random_wide"] > 0.7 > values["random_narrow"] + 0.1 and values["random_equal"] == 0
    holds = holds and values["random_oppose"] < 0.6
    return Measurement(values, holds=holds and spread["narrow"][1] - spread["narrow"][0] > 0.5)


def _left_out(seed, scale, kind, n=12, d=16):
    """Correlation of the weights of one random row with the effects of leaving each key out; 0 if all effects are 0."""
    q, k, v, read = normal(seed, 1, d), normal(seed + 1000, n, d), normal(seed + 2000, n, d), normal(seed + 3000, d)
    weights = attention(scale * q, k, v)[1]
    v = {"plain": v, "equal": v[:1].expand(n, d), "oppose": v / weights[0, :, None] ** 1.5}[kind]
    others = ~torch.eye(n, dtype=torch.bool)
    out = weights @ v
    without = attention(scale * q.expand(n, d), k, v, mask=others)[0]
    effect = ((without - out) @ read).abs()
    return torch.zeros((), dtype=torch.float64) if effect.max() < 1e-12 else _correlation(weights[0], effect)


def _correlation(a, b):
    """Pearson correlation along the last axis."""
    a, b = a - a.mean(-1, keepdim=True), b - b.mean(-1, keepdim=True)
    return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1)).clamp_min(1e-30)


# -- trained once -------------------------------------------------------------------------

def _sentences():
    """Every twelfth held-out sentence: 48 of 576."""
    return examples(True)[0][::12]


@cache
def _rule():
    """Models of two layers with four heads each, trained on both orders of the nouns."""
    return [train_coreference(seed, n_heads=HEADS, steps=200)[0] for seed in SEEDS]


@cache
def _habit():
    """Models of two layers with one head each that have seen the usual order only."""
    return [train_habit(seed, steps=HABIT_STEPS)[0] for seed in SEEDS]


@cache
def _both_orders():
    """Models like those of _habit in everything but the sentences: they have seen both orders."""
    return [train_coreference(seed, steps=HABIT_STEPS)[0] for seed in SEEDS]
