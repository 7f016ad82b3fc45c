"""Checks of chapter 3 on the factor in use: in training, in the kernel, in the weights, and against temperature."""

import math
from functools import lru_cache

import torch

from attnbook.attention import attention
from attnbook.claims._draws import EXACT, SEEDS, normal
from attnbook.claims.measurement import Measurement
from attnbook.scaling import cosine_bound, qk_norm
from attnbook.softmax import entropy, softmax
from attnbook.tasks.noisy_lookup import train_lookup


# -- training -----------------------------------------------------------------------------

@lru_cache(maxsize=4)
def _trained(d_k, lr, *kinds):
    return train_lookup(kinds, d_k, pairs=12, steps=300, lr=lr)


def _summary(runs, note):
    """Means over seeds by kind: accuracy, worst seed, steps, gradient."""
    values = {}
    for kind, run in runs.items():
        n = len(run.accuracy)
        values |= {f"{note}acc_{kind}": sum(run.accuracy) / n, f"{note}worst_{kind}": min(run.accuracy),
                   f"{note}steps_{kind}": sum(run.steps) / n, f"{note}gradient_{kind}": sum(run.gradient) / n}
    return values | {"seeds": 5}


def lookup_training() -> Measurement:
    """Recall among 12 noisy pairs, d_k 128, 300 steps of Adam 3e-3: the root is quick, d_k is mild, none is rough."""
    runs = _trained(128, 3e-3, "none", "sqrt", "d", "learned", "start")
    v = _summary(runs, "")
    good = min(v["worst_sqrt"], v["worst_d"], v["worst_learned"]) > 0.98
    slow = v["steps_sqrt"] < v["steps_d"] < v["steps_none"] and v["steps_none"] > 1.5 * v["steps_sqrt"]
    rough = v["gradient_d"] < v["gradient_sqrt"] < min(v["gradient_none"], v["gradient_start"]) / 3
    return Measurement(v, holds=good and slow and rough and v["acc_none"] < v["worst_sqrt"])


def lookup_rates() -> Measurement:
    """The same task at 1e-2: without the factor every seed learns, none as well as with it; at 1e-3 d_k is behind."""
    v = _summary(_trained(128, 1e-2, "none", "sqrt", "d"), "fast_")
    v |= _summary(_trained(128, 1e-3, "none", "sqrt", "d"), "slow_")
    learns = v["fast_worst_none"] > 0.4 and v["fast_acc_none"] < v["fast_worst_sqrt"]
    behind = v["slow_acc_d"] < v["slow_acc_sqrt"] - 0.05 and v["slow_acc_none"] < v["slow_acc_d"]
    return Measurement(v, holds=learns and behind and v["fast_worst_d"] > 0.98)


def lookup_wide() -> Measurement:
    """The same task at d_k 512, Adam 3e-3: without the factor the budget no longer suffices, with d_k it does."""
    v = _summary(_trained(512, 3e-3, "none", "sqrt", "d", "start"), "wide_")
    good = min(v["wide_worst_sqrt"], v["wide_worst_d"]) > 0.98
    return Measurement(v, holds=good and v["wide_acc_none"] < 0.9 and v["wide_acc_start"] < 0.97)


def score_range() -> Measurement:
    """Scores within +-5 are normal at the start; a trained head that is right uses more, and must with many keys."""
    run = _trained(128, 3e-3, "none", "sqrt", "d", "learned", "start")["sqrt"]
    values = {"beyond": math.erfc(5 / math.sqrt(2)), "lead": math.log(99 * 1023), "keys": 1024,
              "largest_before": run.before[0].largest, "largest_after": run.after[0].largest,
              "accuracy": run.accuracy[0]}
    return Measurement(values, holds=values["largest_after"] > 10 and values["accuracy"] > 0.98 and values["lead"] > 10)


# -- the factor as a parameter ------------------------------------------------------------

def factor_absorbed() -> Measurement:
    """Any factor can move into W_Q: the same function, so it adds nothing to what a plain head can represent."""
    worst = 0.0
    for seed in SEEDS:
        x, w = normal(seed, 10, 64), normal(seed + 100, 3, 64, 64) / 8
        q, k, v = x @ w
        moved = x @ (w[0] / 8)
        worst = max(worst, (attention(q, k, v)[0] - attention(moved, k, v, scale=1.0)[0]).abs().max().item())
    return Measurement({"difference": worst, "tolerance": EXACT, "seeds": len(SEEDS)}, holds=worst < EXACT)


def default_kernel() -> Measurement:
    """torch's fused attention divides by the root unless told otherwise."""
    q, k, v = normal(0, 3, 2, 6, 16)
    ours = torch.nn.functional.scaled_dot_product_attention(q, k, v) - attention(q, k, v, scale=1 / math.sqrt(16))[0]
    values = {"kernel": ours.abs().max().item(), "tolerance": EXACT}
    return Measurement(values, holds=values["kernel"] < EXACT)


def bounded_by_qk_norm() -> Measurement:
    """Weights 100 times as large: plain scores grow 100 times, cosines stay, so there a factor is needed."""
    q, k = normal(0, 2, 200, 64)
    plain = (q @ k.T / 8).abs().max().item()
    cosines = [torch.matmul(a, b.T).abs().max().item() for a, b in (qk_norm(q, k), qk_norm(100 * q, k))]
    values = {"plain": plain, "grown": 100 * plain, "cosine": cosines[0], "cosine_grown": cosines[1],
              "bound_100": cosine_bound(1.0, 100), "bound_1000": cosine_bound(1.0, 1000), "tolerance": EXACT}
    same = abs(cosines[0] - cosines[1]) < EXACT
    return Measurement(values, holds=same and cosines[0] <= 1 and values["bound_100"] < 0.1)


# -- temperature --------------------------------------------------------------------------

def same_form() -> Measurement:
    """Dividing scores by the root is softmax at that temperature, and entropy rises with the divisor."""
    q, k, v = normal(0, 3, 12, 16)
    form = (attention(q, k, v)[1] - softmax(q @ k.T, temperature=4.0)).abs().max().item()
    rows = [entropy(softmax(q @ k.T, temperature=T)).mean().item() for T in (0.5, 1.0, 4.0, 16.0)]
    values = {"form": form, "tolerance": EXACT, "entropy_cold": rows[0], "entropy_one": rows[1],
              "entropy_root": rows[2], "entropy_hot": rows[3], "keys": 12}
    return Measurement(values, holds=form < EXACT and rows == sorted(rows))


def two_softmaxes() -> Measurement:
    """A sampling temperature leaves states and ranking as they are; another factor inside changes both."""
    seeds, kept, changed, reordered = range(20), 0, [], 0
    for seed in seeds:
        x, w, read = normal(seed, 12, 16), normal(seed + 100, 3, 16, 16) / 4, normal(seed + 200, 16, 50)
        q, k, v = x @ w
        state, other = (attention(q, k, v, scale=scale)[0] for scale in (1 / 4, 1 / 2))
        logits, others = state[-1] @ read, other[-1] @ read
        order = logits.argsort(descending=True)
        kept += all(torch.equal((logits / T).softmax(-1).argsort(descending=True), order) for T in (0.5, 0.7, 1.5, 2.0))
        reordered += not torch.equal(others.argsort(descending=True)[:10], order[:10])
        changed.append(((other - state).norm() / state.norm()).item())
    values = {"kept": kept, "reordered": reordered, "states": len(seeds), "changed": sum(changed) / len(changed)}
    return Measurement(values, holds=kept == len(seeds) and reordered > 15 and values["changed"] > 0.2)
