"""Checks of chapter 2 on the three roles: shapes, lookup, gradients of soft and hard choice, shared keys and values."""

from functools import partial

import torch

from attnbook.attention import attention
from attnbook.claims._draws import EXACT, SEEDS, normal
from attnbook.claims.measurement import Measurement
from attnbook.softmax import hard_attention, softmax
from attnbook.tasks.lookup import lookup_accuracy

# -- projections --------------------------------------------------------------------------

def shapes() -> Measurement:
    """Five queries on nine keys: K and V share a length, Q and K a width, and nothing else has to agree."""
    x, y, w_q, w_k, w_v = normal(0, 5, 32), normal(1, 9, 32), *normal(2, 2, 32, 8), normal(3, 32, 12)
    out, weights = attention(x @ w_q, y @ w_k, y @ w_v)
    refused = 0
    for k, v in ((normal(4, 9, 7), y @ w_v), (y @ w_k, normal(4, 8, 12))):  # another width, another length
        try:
            attention(x @ w_q, k, v)
        except ValueError:
            refused += 1
    values = {"queries": 5, "keys": 9, "d_k": 8, "d_v": 12, "weights": str(tuple(weights.shape)),
              "output": str(tuple(out.shape)), "refused": refused}
    return Measurement(values, holds=weights.shape == (5, 9) and out.shape == (5, 12) and refused == 2)


def equal_projections() -> Measurement:
    """W_Q and W_K differ, yet Q = K for every input that their difference maps to zero."""
    w_q = normal(0, 6, 4)
    difference = normal(1, 6, 2) @ normal(2, 2, 4)
    unseen = torch.linalg.svd(difference.T)[2][2:]  # rows x with x @ difference = 0
    inside, generic = normal(3, 5, 4) @ unseen, normal(4, 5, 6)
    apart, free = ((x @ w_q - x @ (w_q + difference)).abs().max().item() for x in (inside, generic))
    return Measurement({"apart": apart, "generic": free, "tolerance": EXACT}, holds=apart < EXACT and free > 0.5)


def coupled_gradients() -> Measurement:
    """The gradients of W_Q and W_K are tied to each other, and gradient descent keeps their balance."""
    n, d, d_k, steps, lr = 8, 10, 4, 1000, 5e-3
    x, target = normal(0, 2, n, d)
    w = [matrix.requires_grad_() for matrix in (normal(1, 3, d, d_k) / d ** 0.5).unbind()]
    w_o = normal(2, d_k, d)

    def gradients(q, k, v):
        loss = (attention(x @ q, x @ k, x @ v)[0] @ w_o - target).square().mean()
        return torch.autograd.grad(loss, (q, k, v))

    first = gradients(*w)
    mismatch = (w[0].T @ first[0] - (w[1].T @ first[1]).T).abs().max().item()
    without_keys = gradients(w[0], torch.zeros_like(w[1]).requires_grad_(), w[2])[0].abs().max().item()
    start = [matrix.detach().clone() for matrix in w]
    for _ in range(steps):
        for matrix, gradient in zip(w, gradients(*w), strict=True):
            matrix.data -= lr * gradient
    moved = (w[0] - start[0]).norm().item()
    balance = [q.T @ q - k.T @ k for q, k in (w[:2], start[:2])]
    drift = (balance[0] - balance[1]).norm().item()
    values = {"mismatch": mismatch, "tolerance": EXACT, "without_keys": without_keys, "moved": moved,
              "drift": drift, "steps": steps}
    return Measurement(values, holds=mismatch < EXACT and without_keys == 0 and drift < 0.02 * moved)


# -- the soft dictionary ------------------------------------------------------------------

def database() -> Measurement:
    """Colder and colder softmax turns the blend into a lookup; a key that nobody stored still gets an answer."""
    keys, records = torch.linalg.qr(normal(0, 16, 16))[0], normal(1, 16, 8)
    errors = {beta: (attention(keys, keys, records, scale=float(beta))[0] - records).abs().max().item()
              for beta in (1, 10, 40)}
    mistyped = keys[3:4] + 0.4 * keys[5:6]
    weights = attention(mistyped, keys, records, scale=10.0)[1][0]
    values = {"keys": len(keys), "error_1": errors[1], "error_10": errors[10], "error_40": errors[40],
              "tolerance": EXACT, "weight_near": weights[3].item(), "weight_next": weights[5].item()}
    return Measurement(values, holds=errors[1] > 1 and errors[40] < EXACT and 0.9 < weights[3].item() < 1)


def hard_gradient() -> Measurement:
    """One-hot of the argmax: no gradient reaches the queries, the values get theirs; straight-through passes one."""
    same, reached = 0, {"query": 0.0, "value": torch.inf, "straight": torch.inf}
    for seed in SEEDS:
        q, k, v = (part.requires_grad_() for part in normal(seed, 3, 4, 6).unbind())
        hard, chosen = attention(q, k, v, normalise=hard_attention)
        through = attention(q, k, v, normalise=partial(hard_attention, straight_through=True))[0]
        gradient = torch.autograd.grad(hard.sum(), (q, v), allow_unused=True)
        straight = torch.autograd.grad(through.square().sum(), q)[0]
        nudged = attention(q + 1e-6 * normal(seed + 100, 4, 6), k, v, normalise=hard_attention)[1]
        same += torch.equal(nudged, chosen)
        reached["query"] = max(reached["query"], 0.0 if gradient[0] is None else gradient[0].abs().max().item())
        reached["value"] = min(reached["value"], gradient[1].abs().max().item())
        reached["straight"] = min(reached["straight"], straight.abs().max().item())
    values = reached | {"same": same, "seeds": len(SEEDS)}
    return Measurement(values, holds=reached["query"] == 0 and same == len(SEEDS)
                       and min(reached["value"], reached["straight"]) > 0.1)


def hard_training() -> Measurement:
    """Names and digits, trained with soft weights, with hard ones, and with hard ones straight-through."""
    kinds = {"soft": softmax, "hard": hard_attention, "through": partial(hard_attention, straight_through=True)}
    accuracy = {name: lookup_accuracy(8, 8, normalise=kind) for name, kind in kinds.items()}
    values = {"trained": len(accuracy["hard"]), "least_soft": min(accuracy["soft"]),
              "least_through": min(accuracy["through"]), "most_hard": max(accuracy["hard"])}
    solved = min(accuracy["soft"] + accuracy["through"]) > 0.97
    return Measurement(values, holds=solved and max(accuracy["hard"]) < 0.5)


def soft_gradient() -> Measurement:
    """The Jacobian of softmax is diag(p) - p p^T, as autograd confirms; no singular value is above 1/2."""
    x = normal(0, 7)
    p = softmax(x)
    by_hand, by_torch = torch.diag(p) - p[:, None] * p, torch.autograd.functional.jacobian(softmax, x)
    error = (by_hand - by_torch).abs().max().item()
    rows = torch.cat([softmax(normal(seed, 1000, 5) * size) for seed, size in enumerate((0.1, 1.0, 3.0, 10.0))])
    norms = torch.linalg.matrix_norm(torch.diag_embed(rows) - rows[:, :, None] * rows[:, None], 2)
    values = {"error": error, "tolerance": EXACT, "rows": len(rows), "largest": norms.max().item()}
    return Measurement(values, holds=error < EXACT and values["largest"] <= 0.5 + EXACT)


def saturation() -> Measurement:
    """The gradient of soft attention does vanish: median norm of the Jacobian as the scores are stretched."""
    scores = normal(0, 500, 16)
    median = {c: _jacobian_norm(softmax(c * scores)).median().item() for c in (1, 10, 100)}
    values = {"keys": 16, "norm_1": median[1], "norm_10": median[10], "bound_100": 1e-12, "norm_100": median[100]}
    return Measurement(values, holds=median[1] > 0.1 > median[10] and median[100] < 1e-12)


def _jacobian_norm(p):
    """Frobenius norm of diag(p) - p p^T for each row p."""
    return torch.linalg.matrix_norm(torch.diag_embed(p) - p[..., :, None] * p[..., None, :])


def robustness() -> Measurement:
    """Take the best key away: how far the output moves depends on the weights, and as much on the values."""
    values = {"keys": 32, "draws": 200}
    for name, common in (("apart", 0.0), ("alike", 3.0)):
        for scale_name, scale in (("uniform", 0.0), ("scaled", 1 / 8), ("plain", 1.0)):
            moved = [_without_the_best(draw, scale, common) for draw in range(200)]
            values[f"{name}_{scale_name}"] = sum(moved) / len(moved)
    apart_worse = all(values[f"apart_{s}"] > 3 * values[f"alike_{s}"] for s in ("uniform", "scaled", "plain"))
    return Measurement(values, holds=apart_worse and values["apart_plain"] > 1 and values["alike_uniform"] < 0.05)


def _without_the_best(draw, scale, common):
    q, k, v = normal(draw, 1, 64), *normal(draw + 1000, 2, 32, 64)
    v = v + common * normal(draw + 2000, 64)
    out, weights = attention(q, k, v, scale=scale)
    others = torch.arange(32) != weights.argmax()
    return ((attention(q, k[others], v[others], scale=scale)[0] - out).norm() / out.norm()).item()


# -- one vector for key and value ---------------------------------------------------------

def shared_key_value() -> Measurement:
    """K = V recalls exactly: the query looks at the name half of the vector, the output matrix keeps the other half."""
    names, d_v, worst = 16, 8, 0.0
    for seed in SEEDS:
        records = normal(seed, names, d_v)
        stored = torch.cat([torch.eye(names, dtype=torch.float64), records], -1)  # keys = values
        queries = torch.cat([torch.eye(names, dtype=torch.float64), torch.zeros_like(records)], -1)
        out, _ = attention(queries, stored, stored, scale=40.0)
        worst = max(worst, (out[:, names:] - records).abs().max().item())
    values = {"shared_error": worst, "exact": EXACT, "name_width": names, "record_width": d_v}
    return Measurement(values, holds=worst < EXACT)


def shared_width() -> Measurement:
    """Names and digits, trained: at width 4 separate keys and values solve it, shared ones need 16."""
    separate = lookup_accuracy(4, 4)
    narrow, wide = (lookup_accuracy(d, d, shared=True) for d in (4, 16))
    values = {"runs": len(separate), "separate_4": min(separate), "shared_4": max(narrow), "shared_16": min(wide)}
    return Measurement(values, holds=min(separate + wide) > 0.97 and max(narrow) < 0.8)


