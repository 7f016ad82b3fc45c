"""Checks of chapter 1 on paths: hops, distance, and the two hops that a pronoun needs."""

import math

import torch

from attnbook.attention import attention
from attnbook.claims._draws import EXACT, SEEDS, normal
from attnbook.claims.measurement import Measurement
from attnbook.softmax import softmax

SENTENCE = ["The", "animal", "didn't", "cross", "the", "street", "because", "it", "was", "too", "tired", "."]


# -- hops and distance -------------------------------------------------------------------

def path_length() -> Measurement:
    """Hops between tokens, counted on the weights themselves: a chain, attention without a mask, a causal mask."""
    n, q = 16, normal(0, 3, 16, 8)
    steps = torch.ones(n, n, dtype=torch.bool).triu(-1).tril(1)  # neighbours: the chain, walked either way
    chain, free, causal = (_hops(edges) for edges in (steps, attention(*q)[1] > 0, attention(*q, causal=True)[1] > 0))
    values = {"n": n, "pairs": n * (n - 1), "chain_longest": int(chain.max()), "attention_longest": int(free.max()),
              "unreachable": int((causal == torch.inf).sum())}
    expected = {"chain_longest": n - 1, "attention_longest": 1, "unreachable": n * (n - 1) // 2}
    return Measurement(values, holds=expected.items() <= values.items())


def _hops(edges):
    """Shortest path between all pairs, infinite where there is none; edges (n, n), True where one hop suffices."""
    hops = torch.full(edges.shape, torch.inf).masked_fill(edges, 1).fill_diagonal_(0)
    for k in range(len(edges)):  # Floyd and Warshall: allow one more stop at a time
        hops = torch.minimum(hops, hops[:, k, None] + hops[k])
    return hops


def cached_decoding() -> Measurement:
    """One causal pass over all tokens equals one token at a time on cached keys and values."""
    steps, (q, k, v) = 12, normal(0, 3, 12, 8)
    at_once, _ = attention(q, k, v, causal=True)
    one_by_one = torch.cat([attention(q[t:t + 1], k[:t + 1], v[:t + 1])[0] for t in range(steps)])
    difference = (at_once - one_by_one).abs().max().item()
    return Measurement({"steps": steps, "difference": difference, "tolerance": EXACT}, holds=difference < EXACT)


def distance_free() -> Measurement:
    """Shuffling tokens changes no weight; rotary positions make the score of one pair depend on distance."""
    n, d, shuffled, spreads = 12, 16, 0.0, []
    for seed in SEEDS:
        q, k, v = normal(seed, 3, n, d)
        order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
        _, weights = attention(q, k, v)
        _, again = attention(q[order], k[order], v[order])
        shuffled = max(shuffled, (again - weights[order][:, order]).abs().max().item())
        scores = [(_rotate(q[0], 64 - distance) @ _rotate(k[0], 0)).item() for distance in range(65)]
        spreads.append((max(scores) - min(scores)) / d ** 0.5)  # such scores have standard deviation sqrt(d)
    values = {"shuffled": shuffled, "rope_spread": sum(spreads) / len(spreads), "rope_smallest": min(spreads),
              "seeds": len(SEEDS)}
    return Measurement(values, holds=shuffled < EXACT and min(spreads) > 0.3)


def _rotate(x, position, base=10000.0):
    """Rotary position in its smallest form: pair i of the features turns by position / base^(i / pairs)."""
    pairs = x.shape[-1] // 2
    angle = position * base ** (-torch.arange(pairs, dtype=x.dtype) / pairs)
    a, b = x[..., :pairs], x[..., pairs:]
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


def dilution() -> Measurement:
    """A fixed lead of the score keeps less and less weight as rivals are added; ln(9 (n - 1)) keeps 0.9."""
    names = {"16": 16, "1024": 1024, "million": 10 ** 6}
    kept = {f"kept_{name}": _top_weight(n, lead=5.0) for name, n in names.items()}
    needed = {f"lead_{name}": math.log(9 * (n - 1)) for name, n in names.items()}
    at_needed = [_top_weight(n, math.log(9 * (n - 1))) for n in names.values()]
    right = all(abs(weight - 0.9) < 1e-9 for weight in at_needed)
    return Measurement(kept | needed, holds=right and kept["kept_16"] > 0.9 and kept["kept_million"] < 0.001)


def _top_weight(n, lead):
    """Weight of one key whose score leads n - 1 equal rivals."""
    scores = torch.zeros(n, dtype=torch.float64)
    scores[0] = lead
    return softmax(scores)[0].item()


# -- the coreference sentence -------------------------------------------------------------

def two_hop() -> Measurement:
    """Another vector for "tired" cannot change how "it" prefers one noun to the other in one layer; in two it can."""
    seeds = range(20)
    one, two, causal = (torch.tensor([_preference_change(seed, layers, causal) for seed in seeds])
                        for layers, causal in ((1, False), (2, False), (2, True)))
    values = {"one_layer": one.max().item(), "two_layers": two.median().item(), "two_layers_least": two.min().item(),
              "causal": causal.max().item(), "tolerance": EXACT, "seeds": len(seeds)}
    moves = values["two_layers_least"] > 1e-6 and values["two_layers"] > 0.1
    return Measurement(values, holds=values["one_layer"] < EXACT and values["causal"] == 0 and moves)


def _preference_change(seed, layers, causal, d=16):
    """By what share a(it, animal) / a(it, street) in the last layer changes, up or down, with another "tired"."""
    x, weights = normal(seed, len(SENTENCE), d), normal(seed + 100, layers, 3, d, d) * 1.5 / d ** 0.5
    other = x.clone()
    other[SENTENCE.index("tired")] = normal(seed + 200, d)
    before, after = (_preference(state, weights, causal) for state in (x, other))
    return max(after / before, before / after) - 1


def _preference(x, weights, causal):
    for w in weights:
        out, a = attention(*(x @ w), causal=causal)
        x = x + out
    row = a[SENTENCE.index("it")]
    return (row[SENTENCE.index("animal")] / row[SENTENCE.index("street")]).item()


def illustrated_weights() -> Measurement:
    """The printed weights of "it" sum to 1, and one row of the table pools the words it does not name."""
    printed = {"it": 0.05, "animal": 0.65, "street": 0.05, "tired": 0.15, "because": 0.05}
    rest = 0.05
    total = sum(printed.values()) + rest
    pooled = sum(word not in printed for word in SENTENCE)
    return Measurement({"total": total, "pooled": pooled, "tokens": len(SENTENCE)}, holds=abs(total - 1) < EXACT)
