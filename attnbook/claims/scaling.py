"""Checks of chapter 3 on the scores: their variance, what softmax makes of them, and where the gradient goes."""

import math

import torch

from attnbook.attention import attention
from attnbook.claims._draws import EXACT, SEEDS, normal
from attnbook.claims.measurement import Measurement
from attnbook.saturation import dead_rows, jacobian_norm
from attnbook.scaling import scale_factor
from attnbook.softmax import entropy, softmax, softmax_jacobian

PAIRS = 40_000  # independent pairs of a query and a key: the standard deviation is then known to about 0.4 %


def _dots(d, seed=0):
    """Dot products of independent standard normal queries and keys."""
    return torch.cat([(q * k).sum(-1) for q, k in (normal(seed + i, 2, PAIRS // 10, d) for i in range(10))])


# -- variance -----------------------------------------------------------------------------

def dot_spread() -> Measurement:
    """Independent entries of variance 1: the standard deviation of a dot product is sqrt(d)."""
    found = {d: _dots(d) for d in (64, 128, 512)}
    values = {f"std_{d}": dots.std().item() for d, dots in found.items()}
    values |= {f"within_20_{d}": (dots.abs() < 20).double().mean().item() for d, dots in found.items()}
    values |= {f"two_sigma_{d}": 2 * math.sqrt(d) for d in found} | {"pairs": PAIRS}
    right = all(abs(values[f"std_{d}"] / math.sqrt(d) - 1) < 0.02 for d in found)
    return Measurement(values, holds=right and values["within_20_64"] > 0.97 and values["within_20_512"] < 0.7)


def variance_assumptions() -> Measurement:
    """d = 64: what mean and variance become when queries and keys, or coordinates, depend on each other."""
    d = 64
    q, k = normal(0, 2, PAIRS, d)
    mixed = 0.3 * q + math.sqrt(1 - 0.3**2) * k
    one_number = normal(1, 2, PAIRS, 1).expand(2, PAIRS, d)  # all coordinates of a vector are the same number
    signs = torch.where(k > 0, 1.0, -1.0).double()  # variance 1, and far from normal
    cases = {"independent": (q, k), "same": (q, q), "aligned": (q, mixed), "shifted": (q + 0.5, k + 0.5),
             "one_number": tuple(one_number), "signs": (signs, normal(2, PAIRS, d).sign())}
    dots = {name: (a * b).sum(-1) for name, (a, b) in cases.items()}
    values = {f"mean_{name}": round(x.mean().item(), 1) + 0.0 for name, x in dots.items()}
    values |= {f"var_{name}": x.var().item() for name, x in dots.items()} | {"d": d}
    expected = {"independent": d, "same": 2 * d, "aligned": 1.09 * d, "shifted": 1.5 * d, "one_number": d * d,
                "signs": d}
    right = all(abs(values[f"var_{name}"] / var - 1) < 0.1 for name, var in expected.items())
    return Measurement(values, holds=right and values["mean_same"] > 0.95 * d and values["mean_aligned"] > 0.25 * d)


def scaled_variance() -> Measurement:
    """Divided by sqrt(d) the variance is 1 at every width, as long as the entries are independent."""
    values = {}
    for d in (64, 512):
        scaled = _dots(d) * scale_factor("sqrt", d)
        values |= {f"mean_scaled_{d}": round(scaled.mean().item(), 2) + 0.0, f"var_scaled_{d}": scaled.var().item()}
    same = normal(0, PAIRS, 64).square().sum(-1) / 8
    values |= {"mean_scaled_same": same.mean().item(), "var_scaled_same": same.var().item()}
    right = all(abs(values[f"var_scaled_{d}"] - 1) < 0.04 and abs(values[f"mean_scaled_{d}"]) < 0.03 for d in (64, 512))
    return Measurement(values, holds=right and values["mean_scaled_same"] > 7.5 and values["var_scaled_same"] > 1.8)


# -- softmax ------------------------------------------------------------------------------

def softmax_examples() -> Measurement:
    """The printed rows, and what the rounding hides: no weight is 0 in real arithmetic."""
    rows = {"1": (1, 2, 3), "10": (10, 20, 30), "100": (100, 200, 300)}
    values = {f"{name}_{i}": w for name, row in rows.items()
              for i, w in enumerate(softmax(torch.tensor(row, dtype=torch.float64)).tolist())}
    values = {f"row_{name}": w for name, w in values.items()}
    single = torch.tensor([100.0, 200.0, 300.0])
    values["smallest"] = softmax(torch.tensor([10.0, 100.0], dtype=torch.float64))[0].item()
    values["zeros"] = int((softmax(single) == 0).sum())
    values["plain"] = str((single.exp() / single.exp().sum()).isnan().any().item())
    first = [round(values[f"row_1_{i}"], 2) for i in range(3)] == [0.09, 0.24, 0.67]
    sharp = 0 < values["row_100_0"] < 1e-80 and values["row_10_2"] < 1 and values["smallest"] < 1e-38
    return Measurement(values, holds=first and sharp and values["zeros"] == 1 and values["plain"] == "True")


def differences_only() -> Measurement:
    """Adding a constant to all scores changes no weight; multiplying them does. It is a function of the whole row."""
    row = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    shifted = (softmax(row + 1000) - softmax(row)).abs().max().item()
    other = softmax(torch.tensor([1.0, 2.0, 5.0], dtype=torch.float64))  # only the third score differs
    values = {"shifted": shifted, "doubled": (softmax(2 * row) - softmax(row)).abs().max().item(),
              "first": softmax(row)[0].item(), "first_with_other": other[0].item(), "tolerance": EXACT}
    moved = values["first"] - values["first_with_other"]
    return Measurement(values, holds=shifted < EXACT and values["doubled"] > 0.1 and moved > 0.05)


def derivative() -> Measurement:
    """p_i (delta_ij - p_j) is what autograd finds; it is symmetric, and no direction is stretched by more than 1/2."""
    worst, largest = 0.0, 0.0
    for seed in SEEDS:
        x = normal(seed, 7)
        formula = softmax_jacobian(x)
        worst = max(worst, (torch.autograd.functional.jacobian(softmax, x) - formula).abs().max().item())
        rows = torch.cat([scale * normal(seed, 500, 5) for scale in (0.1, 1, 3, 10)])
        largest = max(largest, torch.linalg.matrix_norm(softmax_jacobian(rows), 2).max().item())
    values = {"error": worst, "largest": largest, "tolerance": EXACT}
    values |= {name: p * (1 - p) for name, p in (("slope_5", 0.5), ("slope_99", 0.99), ("slope_9999", 0.9999))}
    return Measurement(values, holds=worst < EXACT and largest <= 0.5 + EXACT and values["slope_9999"] < 1e-3)


def sharpness() -> Measurement:
    """128 random keys: share of the largest entropy and largest weight, for three factors and two widths."""
    n, values = 128, {"n": 128, "seeds": len(SEEDS)}
    for d in (64, 512):
        drawn = [normal(seed, 2, n, d) for seed in SEEDS]
        for kind in ("none", "sqrt", "d"):
            rows = softmax(torch.cat([q @ k.T for q, k in drawn]) * scale_factor(kind, d))
            values[f"entropy_{kind}_{d}"] = entropy(rows).mean().item() / math.log(n)
            values[f"top_{kind}_{d}"] = rows.amax(-1).mean().item()
    scaled = min(values["entropy_sqrt_64"], values["entropy_sqrt_512"])
    unscaled = max(values["entropy_none_64"], values["entropy_none_512"])
    return Measurement(values, holds=scaled > 0.85 and unscaled < 0.3 and values["entropy_d_64"] > 0.99)


# -- gradients ----------------------------------------------------------------------------

def saturated_gradients() -> Measurement:
    """Without the factor rows die, not layers: mean norm, gradients of W_Q and W_V, and the share of dead rows."""
    plain, scaled = (_gradients(512, 32, kind) for kind in ("none", "sqrt"))
    values = {f"{name}_{kind}": x for kind, found in (("none", plain), ("sqrt", scaled)) for name, x in found.items()}
    values |= {f"per_score_{n}": _per_score(512, n) for n in (4, 32, 512)}
    values |= {"value_ratio": plain["value"] / scaled["value"], "query_ratio": plain["query"] / scaled["query"],
               "d": 512, "keys": 32, "seeds": len(SEEDS)}
    dies = 0.3 < values["dead_none"] < 0.6 and values["dead_sqrt"] == 0 and values["norm_none"] > 0.05
    crosses = values["per_score_4"] < 0.5 and values["per_score_512"] > 1.5
    return Measurement(values, holds=dies and values["value_ratio"] > 1 and values["query_ratio"] > 1 and crosses)


def _gradients(d, n, kind):
    """Share of dead rows, mean Jacobian norm, and gradient norms of W_Q and W_V, means over seeds."""
    found = []
    for seed in SEEDS:
        x, probe = normal(seed, n, d), normal(seed + 200, n, d)
        w = [(m / math.sqrt(d)).requires_grad_() for m in normal(seed + 100, 3, d, d)]
        q, k, v = (x @ m for m in w)
        out, weights = attention(q, k, v, scale=scale_factor(kind, d))
        by_query, by_value = torch.autograd.grad((out * probe).sum() / n, (w[0], w[2]))
        dead = dead_rows((q @ k.T).detach() * scale_factor(kind, d))
        found.append([dead, jacobian_norm(weights.detach()).mean(), by_query.norm(), by_value.norm()])
    return dict(zip(("dead", "norm", "query", "value"), torch.tensor(found).mean(0).tolist(), strict=True))


def _per_score(d, n):
    """What reaches the scores without the factor over with it: root mean square of the Jacobian norms, 1600 rows."""
    q, k = normal(n, 200, 8, d), normal(n + 1, 200, n, d)
    scores = q @ k.mT
    plain, scaled = (jacobian_norm(softmax(scores * scale_factor(kind, d))).square().mean().sqrt()
                     for kind in ("none", "sqrt"))
    return (plain / scaled).item()


def values_still_learn() -> Measurement:
    """Scores (20, 0, 0): next to nothing reaches the scores, the whole gradient reaches the value that is read."""
    scores = torch.tensor([20.0, 0.0, 0.0], dtype=torch.float64, requires_grad=True)
    v = normal(0, 3, 4).requires_grad_()
    (softmax(scores) @ v).sum().backward()
    values = {"to_scores": scores.grad.abs().max().item(), "to_value": v.grad[0].max().item()}
    return Measurement(values, holds=values["to_scores"] < 1e-7 and values["to_value"] > 0.999)
