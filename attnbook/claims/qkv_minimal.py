"""Checks of chapter 2 on the number three: gauge freedom, a fourth vector, a gate, shared and latent caches."""

import torch

from attnbook.attention import SelfAttention, attention
from attnbook.caches import PUBLISHED
from attnbook.claims._draws import EXACT, SEEDS, normal
from attnbook.claims.measurement import Measurement
from attnbook.projections import (
    GroupedAttention, LatentAttention, TiedAttention, head_from_circuits, ov_circuit, qk_circuit)

# -- what a head is made of ---------------------------------------------------------------

def gauge() -> Measurement:
    """W_Q R and W_K R^-T, W_V T and T^-1 W_O: other matrices, the same head. Two products rebuild it."""
    d, d_k, moved, rebuilt, ranks = 12, 4, 0.0, 0.0, set()
    for seed in SEEDS:
        x, (w_q, w_k, w_v), w_o, (r, t) = (normal(seed, 10, d), normal(seed + 100, 3, d, d_k),
                                           normal(seed + 200, d_k, d), normal(seed + 300, 2, d_k, d_k))
        head = attention(x @ w_q, x @ w_k, x @ w_v)[0] @ w_o
        other = attention(x @ w_q @ r, x @ w_k @ r.inverse().T, x @ w_v @ t)[0] @ (t.inverse() @ w_o)
        qk, ov = qk_circuit(w_q, w_k), ov_circuit(w_v, w_o)
        moved = max(moved, ((other - head).abs().max() / head.abs().max()).item())
        rebuilt = max(rebuilt, ((head_from_circuits(x, qk, ov, d_k) - head).abs().max() / head.abs().max()).item())
        ranks |= {int(torch.linalg.matrix_rank(m)) for m in (qk, ov)}
    values = {"gauge_change": moved, "gauge_bound": 1e-9, "rebuilt": rebuilt, "rebuilt_bound": EXACT,
              "rank": max(ranks), "d_model": d}
    return Measurement(values, holds=moved < 1e-9 and rebuilt < EXACT and ranks == {d_k})


def rotary_gauge() -> Measurement:
    """With rotary positions the same change of W_Q and W_K gives another head; turning inside each pair does not."""
    d, d_k, free, inside = 12, 4, torch.inf, 0.0
    for seed in SEEDS:
        x, w_q, w_k, r = normal(seed, 10, d), *normal(seed + 100, 2, d, d_k), normal(seed + 200, d_k, d_k)
        base = _rotated(x @ w_q) @ _rotated(x @ w_k).T
        for name, change in (("free", r), ("inside", _within_pairs(normal(seed + 300, 2, d_k // 2)))):
            scores = _rotated(x @ w_q @ change) @ _rotated(x @ w_k @ change.inverse().T).T
            gap = ((scores - base).abs().max() / base.abs().max()).item()
            free, inside = (min(free, gap), inside) if name == "free" else (free, max(inside, gap))
    return Measurement({"rotary_free": free, "rotary_inside": inside, "rotary_bound": 1e-10},
                       holds=free > 0.1 and inside < 1e-10)


def _rotated(x, base=10000.0):
    """Each row turned by its place: pair i of features by place / base^(i / pairs)."""
    pairs = x.shape[-1] // 2
    angle = torch.arange(len(x), dtype=x.dtype)[:, None] * base ** (-torch.arange(pairs, dtype=x.dtype) / pairs)
    a, b = x[:, :pairs], x[:, pairs:]
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


def _within_pairs(numbers):
    """A matrix that turns and stretches each pair of features by itself; numbers (2, pairs)."""
    a, b = torch.diag(numbers[0] + 2), torch.diag(numbers[1])
    return torch.cat([torch.cat([a, -b], 1), torch.cat([b, a], 1)])


def one_matrix() -> Measurement:
    """One learned matrix, Q = X M with K = V = X, is the head of W_Q and W_K with V = X."""
    gap = 0.0
    for seed in SEEDS:
        x, w_q, w_k = normal(seed, 10, 12), *normal(seed + 100, 2, 12, 12) / 12 ** 0.5
        gap = max(gap, (attention(x @ w_q, x @ w_k, x)[0] - attention(x @ (w_q @ w_k.T), x, x)[0]).abs().max().item())
    return Measurement({"one_matrix_gap": gap, "one_matrix_bound": EXACT}, holds=gap < EXACT)


def score_rank() -> Measurement:
    """The score matrix of a head has rank d_k, however many tokens there are."""
    x, w_q, w_k = normal(0, 32, 64), *normal(1, 2, 64, 8)
    rank = int(torch.linalg.matrix_rank((x @ w_q) @ (x @ w_k).T))
    return Measurement({"tokens": 32, "head_width": 8, "score_rank": rank}, holds=rank == 8)


# -- a fourth vector ----------------------------------------------------------------------

def fourth_vector() -> Measurement:
    """The best aQ + bK + cV misses a fourth projection almost entirely; with matrices for a, b, c one vector may do."""
    missed, exact, narrow = [], 0.0, []
    for seed in SEEDS:
        x, w = normal(seed, 64, 64), normal(seed + 100, 4, 64, 64) / 8
        three, fourth = (x @ w)[:3], (x @ w)[3]
        missed.append(_missed(three.flatten(1).T, fourth.flatten()))
        exact = max(exact, ((three[0] @ torch.linalg.solve(w[0], w[3]) - fourth).norm() / fourth.norm()).item())
        x, w = normal(seed, 200, 64), normal(seed + 100, 4, 64, 8) / 8
        narrow.append(_missed(torch.cat(list((x @ w)[:3]), -1), (x @ w)[3]))
    values = {"numbers_miss": min(missed), "matrix_miss": exact, "matrix_bound": 1e-9, "narrow_miss": min(narrow),
              "projections": 64 * 64}
    return Measurement(values, holds=min(missed) > 0.99 and exact < 1e-9 and min(narrow) > 0.6)


def _missed(basis, target):
    """Share of the target's length that no combination of the columns of basis reaches."""
    best = torch.linalg.lstsq(basis, target[:, None] if target.dim() == 1 else target).solution
    return ((basis @ best - target.view(len(basis), -1)).norm() / target.norm()).item()


def gate() -> Measurement:
    """One token, target x^2: a head is linear in x and explains nothing; a fourth projection that multiplies does."""
    plain, gated = -torch.inf, torch.inf
    for seed in SEEDS:
        x = normal(seed, 2000, 1, 8)  # 2000 sequences of one token
        target = x.square() - 1
        read, _ = attention(x, x, x)  # softmax over one key is 1: read = x, whatever Q and K are
        basis = torch.nn.functional.pad(read[:, 0], (0, 1), value=1.0)
        plain = max(plain, 1 - _missed(basis, target[:, 0]) ** 2)
        gated_basis = torch.nn.functional.pad((read * x)[:, 0], (0, 1), value=1.0)
        gated = min(gated, 1 - _missed(gated_basis, target[:, 0]) ** 2)
    return Measurement({"plain_fit": plain, "gated_fit": gated}, holds=plain < 0.05 and gated > 0.999)


# -- shared and narrow projections --------------------------------------------------------

def parameter_counts() -> Measurement:
    """Numbers in the four matrices: tied, grouped, latent, counted on the modules themselves."""
    d, heads = 64, 8
    layers = {"full": SelfAttention(d, heads), "tied": TiedAttention(d, heads),
              "grouped": GroupedAttention(d, heads, 2)}
    count = {name: len(torch.nn.utils.parameters_to_vector(layer.parameters())) for name, layer in layers.items()}
    values = {"saved_tied": 1 - count["tied"] / count["full"], "saved_grouped": 1 - count["grouped"] / count["full"],
              "block": count["full"], "query_heads": heads, "key_heads": 2}
    return Measurement(values, holds=values["saved_tied"] == 0.25 and values["saved_grouped"] == 0.375)


def grouped_cache() -> Measurement:
    """Llama 3 70B: eight heads of keys for 64 of queries, so an eighth of the cache."""
    model = PUBLISHED["Llama 3 70B"]
    ratio = model.n_heads / model.n_kv_heads
    values = {"queries": model.n_heads, "shared_keys": model.n_kv_heads, "smaller": ratio,
              "kib": model.cache_bytes() / 1024, "kib_full": model.cache_bytes() * ratio / 1024}
    return Measurement(values, holds=ratio == 8 and values["kib"] == 320)


def latent_absorbed() -> Measurement:
    """Latent attention on rebuilt keys and values and on the latents themselves: equal, and of low rank."""
    gaps, tokens, d_latent = {torch.float32: 0.0, torch.float64: 0.0}, 40, 16
    for seed in SEEDS:
        torch.manual_seed(seed)
        layer = LatentAttention(64, 4, d_latent)
        for dtype in gaps:
            layer, x = layer.to(dtype), normal(seed, tokens, 64).to(dtype)
            gaps[dtype] = max(gaps[dtype], (layer(x)[0] - layer.absorbed(x)[0]).abs().max().item())
    c = layer.latent(x)
    both = torch.cat([layer.key_up(c), layer.value_up(c)], -1)
    free = torch.cat([x @ w for w in normal(7, 2, 64, 64)], -1)
    values = {"gap_32": gaps[torch.float32], "bound_32": 1e-4, "gap_64": gaps[torch.float64], "bound_64": 1e-9,
              "latent_rank": int(torch.linalg.matrix_rank(both)), "free_rank": int(torch.linalg.matrix_rank(free)),
              "latent_width": d_latent}
    ranks = values["latent_rank"] == d_latent and values["free_rank"] == tokens
    return Measurement(values, holds=gaps[torch.float32] < 1e-4 and gaps[torch.float64] < 1e-9 and ranks)


def latent_cache() -> Measurement:
    """The 93.3 % rebuilt: DeepSeek-V2 against DeepSeek 67B in numbers, then with 6 bits; and against its own heads."""
    old, new = PUBLISHED["DeepSeek 67B"], PUBLISHED["DeepSeek-V2"]
    own_heads = 2 * new.n_heads * new.d_head * new.n_layers
    values = {"old_numbers": old.numbers(), "new_numbers": new.numbers(),
              "cut_numbers": 1 - new.numbers() / old.numbers(),
              "cut_bytes": 1 - new.cache_bytes(bits=6) / old.cache_bytes(), "cut_own": 1 - new.numbers() / own_heads}
    rebuilt = abs(values["cut_bytes"] - 0.933) < 5e-4 and abs(values["cut_numbers"] - 0.822) < 5e-4
    return Measurement(values, holds=rebuilt)
