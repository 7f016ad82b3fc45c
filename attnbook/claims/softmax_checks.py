"""Checks of chapter 4 on softmax itself: what it returns, what it softens, and what a temperature does."""

import math
from functools import partial

import torch

from attnbook.attention import attention
from attnbook.claims._draws import EXACT, normal
from attnbook.claims.measurement import Measurement
from attnbook.softmax import entropy, hard_attention, softmax

EXAMPLE = (2.0, 1.0, 0.1)  # the source's own
CLOSE = (1.0, 0.9, 0.8)  # the same order, smaller gaps
TEMPERATURES = (0.2, 0.7, 1.0, 1.5)


def _row(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)


# -- a distribution -----------------------------------------------------------------------

def distribution() -> Measurement:
    """Rows sum to 1 and every entry of a finite score lies inside (0, 1), in float64; float32 rounds the small ones to 0."""
    x = 5 * normal(0, 1000, 9)
    p = softmax(x)
    narrow = softmax(torch.tensor([0.0, -80.0, -120.0]))
    values = {"rows": len(x), "sum_error": (p.sum(-1) - 1).abs().max().item(), "least": p.min().item(), "bound": 1e-15,
              "most": p.max().item(), "exact": EXACT, "gap": 120, "narrow_zero": int((narrow == 0).sum())}
    inside = values["least"] > values["bound"] and values["most"] < 1
    return Measurement(values, holds=inside and values["sum_error"] < EXACT and values["narrow_zero"] == 1)


def argmax_example() -> Measurement:
    """The source's example: the largest of [2, 1, 0.1] stands first."""
    x = _row(*EXAMPLE)
    one_hot = hard_attention(x).int().tolist()
    return Measurement({"one_hot": str(one_hot)}, holds=one_hot == [1, 0, 0])


def softmax_example() -> Measurement:
    """The source's example: softmax of [2, 1, 0.1]."""
    p = softmax(_row(*EXAMPLE)).tolist()
    return Measurement(dict(zip(("first", "second", "third"), p)),
                       holds=max(abs(a - b) for a, b in zip(p, (0.659, 0.242, 0.099))) < 5e-4)


def what_is_softened() -> Measurement:
    """Sharpened, softmax goes to the one-hot of the largest; log-sum-exp goes to the largest number itself."""
    x, sharp = _row(*EXAMPLE), (1, 3, 10)
    largest = [torch.logsumexp(b * x, 0).item() / b for b in sharp]
    away = [(softmax(b * x) - hard_attention(x)).abs().max().item() for b in sharp]
    values = {f"lse_{b}": v for b, v in zip(sharp, largest)} | {f"away_{b}": v for b, v in zip(sharp, away)}
    return Measurement(values, holds=abs(largest[-1] - 2) < 1e-4 and away[-1] < 1e-4 and largest[0] > 2.4)


# -- argmax has no slope ------------------------------------------------------------------

def argmax_is_flat() -> Measurement:
    """A small nudge leaves a one-hot row as it is; at a tie the smallest nudge moves all of it; softmax moves a little."""
    x, nudge = normal(0, 200, 8), 1e-6 * normal(1, 200, 8)
    same = (hard_attention(x + nudge) == hard_attention(x)).all(-1)
    slope = ((softmax(x + nudge) - softmax(x)).norm(dim=-1) / nudge.norm(dim=-1)).median().item()
    tie = (hard_attention(_row(1 + 1e-12, 1)) - hard_attention(_row(1, 1 + 1e-12))).abs().max().item()
    q, k, v = (normal(seed, 4, 6).requires_grad_() for seed in (2, 3, 4))
    out, _ = attention(q, k, v, normalise=hard_attention)
    to_q, to_v = torch.autograd.grad(out.square().sum(), (q, v), allow_unused=True)
    through, _ = attention(q, k, v, normalise=partial(hard_attention, straight_through=True))
    passed, = torch.autograd.grad(through.square().sum(), q)
    values = {"rows": len(x), "same": int(same.sum()), "slope": slope, "tie": tie, "to_v": to_v.abs().max().item(),
              "passed": passed.abs().max().item(), "none_to_q": int(to_q is None),
              "differs": (out - through).abs().max().item()}
    flat = values["same"] == len(x) and to_q is None and tie == 1
    return Measurement(values, holds=flat and slope > 0.05 and values["passed"] > 0.01 and values["differs"] == 0)


# -- temperature --------------------------------------------------------------------------

def temperature_limits() -> Measurement:
    """T -> 0 gives the one-hot of the largest (shared between equals), T -> infinity gives equal weights."""
    x = _row(*EXAMPLE)
    printed = (x / 0.7).exp() / (x / 0.7).exp().sum()
    values = {
        "formula": (softmax(x, temperature=0.7) - printed).abs().max().item(), "exact": EXACT,
        "cold": softmax(x, temperature=0.01).max().item(), "hot": softmax(x, temperature=1e6).max().item(),
        "tie": softmax(_row(2, 2, 0.1), temperature=0.01).max().item(),
    }
    near = abs(values["cold"] - 1) < 1e-9 and abs(values["hot"] - 1 / 3) < 1e-5 and abs(values["tie"] - 0.5) < 1e-9
    return Measurement(values, holds=near and values["formula"] < EXACT)


def temperature_table() -> Measurement:
    """Entropy rises with T for every row; how sharp a T is depends on the gaps of the scores."""
    values, rising = {}, True
    for name, row in (("wide", EXAMPLE), ("close", CLOSE)):
        p = torch.stack([softmax(_row(*row), temperature=T) for T in TEMPERATURES])
        values |= {f"{name}_{str(T).replace('.', '')}": q.max().item() for T, q in zip(TEMPERATURES, p)}
        rising = rising and bool((entropy(p).diff() > 0).all())
    random = torch.stack([softmax(3 * normal(0, 500, 20), temperature=T) for T in TEMPERATURES])
    values["rows"], values["risen"] = 500, int((entropy(random).diff(dim=0) > 0).all(0).sum())
    differ = values["wide_02"] > 0.99 and values["close_02"] < 0.55
    return Measurement(values, holds=rising and values["risen"] == 500 and differ)


def two_temperatures() -> Measurement:
    """On the output logits a temperature keeps the order and touches no state; inside attention it changes the states."""
    logits = 3 * normal(0, 200, 50)
    ranks = [logits.div(T).argsort(-1, descending=True) for T in TEMPERATURES]
    kept = sum(bool((rank == ranks[0]).all()) for rank in ranks)
    x, w = normal(1, 12, 16), normal(2, 3, 16, 16) / 4
    states = [attention(*(x @ w), scale=1 / T)[0] for T in (math.sqrt(16), math.sqrt(16) / 2)]
    changed = ((states[0] - states[1]).norm() / states[0].norm()).item()
    values = {"temperatures": len(TEMPERATURES), "kept": kept, "states_changed": changed}
    return Measurement(values, holds=kept == len(TEMPERATURES) and changed > 0.1)
