"""Checks of chapter 6 on order, sinusoids, rotations and biases: identities, and what each of them lets through."""

import inspect
import math

import torch
from torch import nn

from attnbook.attention import attention
from attnbook.claims._draws import EXACT, normal
from attnbook.claims.measurement import Measurement
from attnbook.positions import LearnedPositions, alibi_bias, alibi_slopes, rope, rope_frequencies, sinusoidal

D = 16


def _layers(x, n, *, causal=False, turn=None, bias=None, seed=7):
    """n layers of attention with residual and a tanh layer; turn: done to queries and keys, bias: added to scores."""
    w = normal(seed, n, 5, x.shape[-1], x.shape[-1]) / math.sqrt(x.shape[-1])
    for w_q, w_k, w_v, w_1, w_2 in w:
        q, k = (x @ m if turn is None else turn(x @ m) for m in (w_q, w_k))
        x = x + attention(q, k, x @ w_v, causal=causal, bias=bias)[0]
        x = x + torch.tanh(x @ w_1) @ w_2
    return x


def largest(a, b):
    """The largest difference of two tensors."""
    return (a - b).abs().max().item()


# -- order --------------------------------------------------------------------------------

def unordered() -> Measurement:
    """Without a mask attention permutes with its tokens, a convolution does not; two causal layers know the order."""
    x, order = normal(0, 6, D), torch.tensor([3, 0, 5, 1, 4, 2])
    earlier = torch.cat((torch.randperm(5, generator=torch.Generator().manual_seed(1)), torch.tensor([5])))
    slide = nn.functional.conv1d
    kernel = normal(2, D, D, 3) / D
    convolved = [slide(z.T[None], kernel, padding=1)[0].T for z in (x, x[order])]
    last = {n: (_layers(x, n, causal=True)[-1], _layers(x[earlier], n, causal=True)[-1]) for n in (2, 3)}
    q, k, v = (x @ w for w in normal(3, 3, D, D) / 4)
    one = [attention(q[p], k[p], v[p], causal=True)[0][-1] for p in (torch.arange(6), earlier)]
    values = {"permuted": largest(_layers(x[order], 3), _layers(x, 3)[order]), "tolerance": EXACT,
              "convolution": largest(convolved[1], convolved[0][order]), "causal_one": largest(*one),
              "causal_two": largest(*last[2]), "causal_three": largest(*last[3])}
    return Measurement(values, holds=values["permuted"] < EXACT and values["causal_one"] < EXACT
                       and min(values["convolution"], values["causal_two"], values["causal_three"]) > 0.01)


def two_sentences() -> Measurement:
    """我爱中国 and 中国爱我 through three layers: rows differ, but each character's row and the mean are the same."""
    table = dict(zip("我爱中国", normal(0, 4, D), strict=True))
    one, two = (torch.stack([table[c] for c in text]) for text in ("我爱中国", "中国爱我"))
    back = torch.tensor([3, 2, 0, 1])  # where 我, 爱, 中, 国 stand in the second sentence
    a, b = _layers(one, 3), _layers(two, 3)
    places = sinusoidal(4, D, dtype=torch.float64)
    with_places = largest(_layers(one + places, 3).mean(0), _layers(two + places, 3).mean(0))
    values = {"raw": largest(a, b), "permuted": largest(a, b[back]), "pooled": largest(a.mean(0), b.mean(0)),
              "with_places": with_places, "tolerance": EXACT}
    same = max(values["permuted"], values["pooled"]) < EXACT
    return Measurement(values, holds=same and values["raw"] > 0.1 and with_places > 0.01)


def absolute_or_relative() -> Measurement:
    """Each scheme tells the two sentences apart; when all positions move by 50, scores of sinusoids alone change."""
    x, w = normal(0, 4, D), normal(1, 2, D, D) / 4
    swapped, bias = x[[2, 3, 1, 0]], alibi_bias(1, 4, slopes=torch.tensor([0.5])).double()[0]

    def added(x, start):
        x = x + sinusoidal(4, D, start=start, dtype=torch.float64)
        return x @ w[0] @ (x @ w[1]).T

    shifts = {"sinusoidal": largest(added(x, 50), added(x, 0)),
              "rope": largest(*(rope(x @ w[0], s) @ rope(x @ w[1], s).T for s in (50, 0))),
              "alibi": largest(alibi_bias(2, 4, 54)[..., 50:], alibi_bias(2, 4, 4))}
    ways = {"rope": {"turn": lambda z: rope(z, 0)}, "alibi": {"bias": bias}}
    differs = {name: largest(*(_layers(z, 2, **way).mean(0) for z in (x, swapped))) for name, way in ways.items()}
    places = sinusoidal(4, D, dtype=torch.float64)
    differs["sinusoidal"] = largest(*(_layers(z + places, 2).mean(0) for z in (x, swapped)))
    values = {f"shift_{k}": v for k, v in shifts.items()} | {f"differs_{k}": v for k, v in differs.items()}
    relative = max(shifts["rope"], shifts["alibi"]) < EXACT and shifts["sinusoidal"] > 0.1
    return Measurement(values | {"tolerance": EXACT}, holds=relative and min(differs.values()) > 1e-3)


# -- sinusoids and tables -----------------------------------------------------------------

def sinusoid_pair() -> Measurement:
    """A shift by 7 is one fixed rotation if sine and cosine stand together; with sines alone no matrix does it."""
    table = sinusoidal(400, 64, dtype=torch.float64)
    angles = 7 * rope_frequencies(64)
    a, b = table[:-7, 0::2], table[:-7, 1::2]
    turned = torch.stack((a * angles.cos() + b * angles.sin(), b * angles.cos() - a * angles.sin()), -1).flatten(-2)
    sines = table[:, :8:2]  # the four fastest pairs, without their cosines
    fit = torch.linalg.lstsq(sines[:-7], sines[7:]).solution
    left = ((sines[:-7] @ fit - sines[7:]).norm() / sines[7:].norm()).item()
    products = (table @ table.T).diagonal(9)
    values = {"rotation": largest(turned, table[7:]), "sines_left": left, "tolerance": 1e-9,
              "spread": (products.max() - products.min()).item(), "length": table[0].norm().item()}
    right = max(values["rotation"], values["spread"]) < 1e-9
    return Measurement(values, holds=right and left > 0.3 and abs(values["length"] - math.sqrt(32)) < 1e-9)


def learned_limit() -> Measurement:
    """A learned table has no row beyond its length: an error that names both numbers, or torch's IndexError."""
    outcome = {}
    for name, call in {"ours": lambda: LearnedPositions(64, 8)(torch.zeros(65, 8)),
                       "torch": lambda: nn.Embedding(64, 8)(torch.tensor([64]))}.items():
        try:
            call()
            outcome[name] = "no error"
        except (IndexError, ValueError) as error:
            outcome[name] = type(error).__name__
    return Measurement(outcome | {"rows": 64}, holds=outcome == {"ours": "ValueError", "torch": "IndexError"})


# -- RoPE ---------------------------------------------------------------------------------

def rope_relative() -> Measurement:
    """Scores depend on the difference of positions, with its sign; lengths are kept; a pair is a complex number."""
    q, k = normal(0, 2, 1, 64)

    def score(m, n):
        return (rope(q, m) @ rope(k, n).T).item()

    moved = max(abs(score(10 + s, 3 + s) - score(10, 3)) for s in (1, 100, 5000))
    length = abs(rope(q, 77).norm() - q.norm()).item()
    pairs = torch.view_as_complex(q.unflatten(-1, (-1, 2)))
    turned = torch.view_as_real(pairs * torch.exp(77j * rope_frequencies(64))).flatten(-2)
    values = {"moved": moved, "direction": abs(score(10, 3) - score(3, 10)), "length": length,
              "as_phase": largest(rope(q, 77, "interleaved"), turned), "tolerance": 1e-9}
    exact = max(moved, length, values["as_phase"]) < 1e-9
    return Measurement(values, holds=exact and values["direction"] > 0.1)


def _written_out(x, base=10000.0):
    h = x.shape[-1] // 2
    angles = torch.arange(x.shape[-2])[:, None] * base ** (-torch.arange(h) / h)
    a, b = x.chunk(2, -1)
    return torch.cat((a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()), -1)


def rope_lines() -> Measurement:
    """RoPE written out plainly, against the package's: same numbers, and how many lines it takes."""
    x = normal(0, 50, 32)
    lines = len(inspect.getsource(_written_out).strip().splitlines())
    error = largest(_written_out(x), rope(x, 0))
    return Measurement({"lines": lines, "error": error, "tolerance": 1e-4}, holds=error < 1e-4 and lines <= 6)


def rope_waves() -> Measurement:
    """Width 128: pairs that never complete a turn within the context of training, for two published bases."""
    values = {"pairs": 64}
    for name, base, context in (("base_10k", 1e4, 4096), ("base_500k", 5e5, 8192)):
        waves = 2 * math.pi / rope_frequencies(128, base)
        values |= {f"slow_{name}": int((waves > context).sum()), f"longest_{name}": round(waves.max().item())}
    return Measurement(values, holds=values["slow_base_10k"] == 18 and values["slow_base_500k"] > 20
                       and values["longest_base_10k"] > 50_000)


# -- ALiBi --------------------------------------------------------------------------------

def alibi_is_a_signal() -> Measurement:
    """No vector is added anywhere, yet swapped words change the pooled result, as they do not without the bias."""
    x = normal(0, 4, D)
    swapped, bias = x[[2, 3, 1, 0]], alibi_bias(1, 4, slopes=torch.tensor([0.5])).double()[0]
    without, found = (largest(*(_layers(z, 2, bias=b).mean(0) for z in (x, swapped))) for b in (None, bias))
    return Measurement({"without": without, "found": found, "tolerance": EXACT},
                       holds=without < EXACT and found > 0.01)


def alibi_reach() -> Measurement:
    """Equal scores, 4096 keys: what the steepest and the gentlest of 8 heads keep near and far."""
    steps, values = torch.arange(4096, dtype=torch.float64), {"keys": 4096}
    for name, slope in (("steep", alibi_slopes(8)[0].double()), ("gentle", alibi_slopes(8)[-1].double())):
        weights = torch.softmax(-slope * steps, 0)
        values |= {f"near_{name}": weights[:16].sum().item(), f"far_{name}": weights[1024:].sum().item()}
    values["nearest_ln2"] = torch.softmax(-math.log(2) * steps, 0)[0].item()
    return Measurement(values, holds=values["near_steep"] > 0.999 and values["near_gentle"] < 0.1
                       and 0.01 < values["far_gentle"] < 0.05 and abs(values["nearest_ln2"] - 0.5) < 1e-9)
