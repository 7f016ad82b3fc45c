"""Chapter 6: each check names the mistakes of its wrong solutions and accepts every right variant, in several draws."""

import math

import numpy as np
import pytest
import torch
from chapter_tests import *  # noqa: F403 - the tests that hold for every chapter
from solutions_positions import SOLUTIONS, STARTERS

from attnbook import positions as part
from attnbook.attention import attention
from attnbook.exercises import positions, questions

EXERCISES, DRAWS = positions, 12
MODULES = {module.EXERCISE.name: module for module in (
    positions.bias, positions.layouts, positions.padding, positions.rotation, positions.shuffling, positions.waves)}
RIGHT, WRONG = {}, {}


# -- rotated ---------------------------------------------------------------------------------

def frequencies(d, base, power=2.0):
    return base ** (-power * torch.arange(d // 2) / d)


def spin(x, angles, sign=1.0):
    half = x.shape[-1] // 2
    a, b = x[..., :half], x[..., half:]
    c, s = angles.cos(), sign * angles.sin()
    return torch.cat((a * c - b * s, a * s + b * c), -1)


def rotated(places=lambda L, s: torch.arange(s, s + L), power=2.0, base=None, sign=1.0):
    return lambda x, s, b: spin(x, places(x.shape[-2], s)[:, None] * frequencies(x.shape[-1], base or b, power), sign)


def by_rotate_half(x, start, base):
    """As many libraries write it: x cos + rotate_half(x) sin, with the angles twice side by side."""
    angles = torch.arange(start, start + x.shape[-2])[:, None] * frequencies(x.shape[-1], base)
    angles = torch.cat((angles, angles), -1)
    half = x.shape[-1] // 2
    return x * angles.cos() + torch.cat((-x[..., half:], x[..., :half]), -1) * angles.sin()


def by_matrices(x, start, base):
    d = x.shape[-1]
    out = torch.zeros_like(x, dtype=torch.float64)
    for p in range(x.shape[-2]):
        m = torch.zeros(d, d, dtype=torch.float64)
        for i in range(d // 2):
            t = (start + p) * base ** (-2 * i / d)
            m[i, i] = m[i + d // 2, i + d // 2] = math.cos(t)
            m[i, i + d // 2], m[i + d // 2, i] = -math.sin(t), math.sin(t)
        out[..., p, :] = torch.einsum("ij,...j->...i", m, x[..., p, :].double())
    return out


def complex_numpy(x, start, base):
    x = np.asarray(x, dtype=np.float64)
    d = x.shape[-1]
    turn = np.exp(1j * np.arange(start, start + x.shape[-2])[:, None] * base ** (-2 * np.arange(d // 2) / d))
    z = (x[..., : d // 2] + 1j * x[..., d // 2:]) * turn
    return np.concatenate((z.real, z.imag), -1)


def swapped_functions(x, start, base):
    half = x.shape[-1] // 2
    angles = torch.arange(start, start + x.shape[-2])[:, None] * frequencies(x.shape[-1], base)
    a, b = x[..., :half], x[..., half:]
    return torch.cat((a * angles.sin() - b * angles.cos(), a * angles.cos() + b * angles.sin()), -1)


def lost_sign(x, start, base):
    half = x.shape[-1] // 2
    angles = torch.arange(start, start + x.shape[-2])[:, None] * frequencies(x.shape[-1], base)
    a, b = x[..., :half], x[..., half:]
    return torch.cat((a * angles.cos() + b * angles.sin(), a * angles.sin() + b * angles.cos()), -1)


def over_heads(x, start, base):
    if x.dim() < 3:
        return rotated()(x, start, base)
    angles = torch.arange(start, start + x.shape[-3])[:, None, None] * frequencies(x.shape[-1], base)
    return spin(x, angles)


RIGHT["rotated"] = {
    "solution": written(SOLUTIONS["rotated"], "rotated"), "package": lambda x, s, b: part.rope(x, s, base=b), "rotate half": by_rotate_half,
    "matrices": by_matrices, "numpy": complex_numpy, "float64": lambda x, s, b: written(SOLUTIONS["rotated"], "rotated")(x.double(), s, b),
}
WRONG["rotated"] = {
    "nothing": (lambda x, s, b: x.clone(), "nothing was turned"),
    "neighbours": (lambda x, s, b: part.rope(x, s, "interleaved", b), "neighbours were paired"),
    "direction": (rotated(sign=-1.0), "the other way round"), "sign": (lost_sign, "a sign is missing"),
    "functions": (swapped_functions, "changed places"), "i over d": (rotated(power=1.0), "too small by a factor of 2"),
    "4i over d": (rotated(power=4.0), "too large by a factor of 2"),
    "last pair": (lambda x, s, b: spin(x, torch.arange(s, s + x.shape[-2])[:, None] * b ** -torch.linspace(
        0, 1, x.shape[-1] // 2)), "number of pairs less one"),
    "from 1": (rotated(lambda L, s: torch.arange(s + 1, s + 1 + L)), "positions begin at 1"),
    "base": (rotated(base=10000.0), "whatever was asked for"),
    "start": (rotated(lambda L, s: torch.arange(L)), "start is left out"),
    "one angle": (rotated(lambda L, s: torch.full((L,), s)), "nothing was turned"),
    "one angle, from 1": (lambda x, s, b: rotated(lambda L, s: torch.full((L,), s))(x, s, b) if s else rotated()(x, s, b),
                          "all rows get the same angle"),
    "heads": (over_heads, "another axis"),
}

# -- rotary_scores ---------------------------------------------------------------------------

def scores(q_layout="half", k_layout="half", q_start=lambda s: s, k_start=lambda s: s, after=lambda x, d: x):
    def fn(q, k, s):
        turned = part.rope(q, q_start(s), q_layout, 100.0) @ part.rope(k, k_start(s), k_layout, 100.0).mT
        return after(turned, q.shape[-1])
    return fn


def by_distance(q, k, start):
    """No absolute angle at all: the query is turned by the difference to each key."""
    L, d = q.shape[-2:]
    gaps = (torch.arange(L)[:, None] - torch.arange(L))[..., None] * frequencies(d, 100.0)  # (L, L, d/2)
    half = d // 2
    a, b, c, e = q[..., :half], q[..., half:], k[..., :half], k[..., half:]
    same = torch.einsum("...id,...jd,ijd->...ij", a, c, gaps.cos()) + torch.einsum(
        "...id,...jd,ijd->...ij", b, e, gaps.cos())
    cross = torch.einsum("...id,...jd,ijd->...ij", a, e, gaps.sin()) - torch.einsum(
        "...id,...jd,ijd->...ij", b, c, gaps.sin())
    return same + cross


def backwards(x, s):
    return spin(x, torch.arange(s, s + x.shape[-2])[:, None] * frequencies(x.shape[-1], 100.0), -1.0)


RIGHT["rotary_scores"] = {
    "solution": written(SOLUTIONS["rotary_scores"], "rotary_scores"), "package": scores(), "by distance": by_distance,
    "float64": lambda q, k, s: scores()(q.double(), k.double(), s),
    "numpy": lambda q, k, s: complex_numpy(q, s, 100.0) @ np.swapaxes(complex_numpy(k, s, 100.0), -1, -2),
    "start does not matter": lambda q, k, s: scores()(q, k, 0),
}
WRONG["rotary_scores"] = {
    "starter": (written(STARTERS["rotary_scores"], "rotary_scores"), "different layouts"),
    "mixed": (scores("interleaved", "half"), "different layouts"),
    "neighbours": (scores("interleaved", "interleaved"), "both are turned in the layout of neighbours"),
    "opposite": (lambda q, k, s: part.rope(q, s, base=100.0) @ backwards(k, s).mT, "opposite directions"),
    "keys alone": (lambda q, k, s: q @ part.rope(k, s, base=100.0).mT, "only one of the two is turned"),
    "nothing": (lambda q, k, s: q @ k.mT, "nothing is turned"),
    "restart": (scores(q_start=lambda s: 0), "only one of the two starts"),
    "scaled": (scores(after=lambda x, d: x / d**0.5), "the scores are scaled"),
    "swapped": (lambda q, k, s: scores()(k, q, s), "have changed places"),
}

# -- wave_table ------------------------------------------------------------------------------

def waves(n, d, power=None, cosine_first=False, base=1e4, first=0, columns=None):
    columns = torch.arange(d) if columns is None else columns(d)
    exponent = (columns // 2 * 2 / d) if power is None else power(columns, d)
    angles = torch.arange(first, first + n).double()[:, None] * base ** -exponent.double()
    even = columns % 2 == int(cosine_first)
    return torch.where(even, angles.sin(), angles.cos())


def by_loops(n, d):
    return [[(math.cos if c % 2 else math.sin)(p / 10000 ** (c // 2 * 2 / d)) for c in range(d)] for p in range(n)]


def by_numpy(n, d):
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    return np.stack((np.sin(angles), np.cos(angles)), -1).reshape(n, -1)[:, :d]


RIGHT["wave_table"] = {"solution": written(SOLUTIONS["wave_table"], "wave_table"), "package": part.sinusoidal, "loops": by_loops,
                       "numpy": by_numpy, "float32": lambda n, d: by_numpy(n, d).astype(np.float32)}
WRONG["wave_table"] = {
    "from 1": (lambda n, d: waves(n, d, first=1), "positions begin at 1"),
    "cosine first": (lambda n, d: waves(n, d, cosine_first=True), "cosines come first"),
    "sines": (lambda n, d: torch.where(torch.arange(d) % 2 == 1, (torch.arange(n)[:, None] * 1e4 ** -(
        torch.arange(d) // 2 * 2 / d)).sin(), waves(n, d).float()), "only sines"),
    "own frequencies": (lambda n, d: waves(n, d, lambda c, d: c / d), "different frequencies"),
    "doubled": (lambda n, d: waves(n, d, lambda c, d: c // 2 * 4 / d), "too large by a factor of 2"),
    "halved": (lambda n, d: waves(n, d, lambda c, d: c // 2 / d), "too small by a factor of 2"),
    "blocks": (lambda n, d: waves(n, d, columns=lambda d: torch.cat((torch.arange(0, d, 2), torch.arange(1, d, 2)))),
               "sines in the first half"),
    "base": (lambda n, d: waves(n, d, base=1e3), "base is 1000"),
    "rounded up": (lambda n, d: by_numpy(n, d + d % 2)[:, :d], "was rounded when"),
    "rounded down": (lambda n, d: waves(n, d, lambda c, d: c // 2 * 2 / max(d - d % 2, 1)), "rounded down"),
    "last cosine": (lambda n, d: [[*row[:-1], math.cos(p * 1e4 ** (-(d - 1) / d))] if d % 2 else row
                                  for p, row in enumerate(by_loops(n, d))], "ends with a cosine"),
}

# -- token_positions -------------------------------------------------------------------------

def by_counting(mask):
    rows = mask.reshape(-1, mask.shape[-1])
    return torch.tensor([[max(int(row[: j + 1].sum()) - 1, 0) for j in range(len(row))] for row in rows]).view(mask.shape)


RIGHT["token_positions"] = {
    "solution": written(SOLUTIONS["token_positions"], "token_positions"), "package": part.positions_from_mask, "counting": by_counting,
    "less the padding": lambda m: (torch.arange(m.shape[-1]) - (~m).sum(-1, keepdim=True)).clamp(min=0),
    "numpy": lambda m: np.maximum(np.cumsum(np.asarray(m), -1) - 1, 0),
    "masked": lambda m: (m.cumsum(-1) - 1) * m,
}
WRONG["token_positions"] = {
    "starter": (written(STARTERS["token_positions"], "token_positions"), "padding is counted"),
    "from 1": (lambda m: m.long().cumsum(-1), "counted from 1"), "minus one": (lambda m: m.long().cumsum(-1) - 1,
                                                                              "negative position"),
    "minus padding": (lambda m: torch.arange(m.shape[-1]) - (~m).sum(-1, keepdim=True), "negative position"),
    "reversed": (lambda m: (~m).long().cumsum(-1), "padding and real tokens have changed places"),
    "from the right": (lambda m: (m.flip(-1).cumsum(-1).flip(-1) - 1) * m, "from the right"),
    "over the batch": (lambda m: (m.long().cumsum(0) - 1).clamp(min=0) if m.dim() > 1 else part.positions_from_mask(m),
                       "over the sequences"),
    "first": (lambda m: (torch.arange(m.shape[-1]).expand(m.shape) - (~m).sum(-1).flatten()[0]).clamp(min=0),
              "padding of the first sequence"),
    "goes on": (lambda m: (m.flatten().long().cumsum(0).view(m.shape) - 1).clamp(min=0), "goes on from one sequence"),
    "mask": (lambda m: m.long(), "0 and 1 in place"),
}

# -- linear_bias -----------------------------------------------------------------------------

def bias(slopes, L, S, distance=lambda i, j, L, S: (i + S - L - j).abs(), weigh=lambda m, d: -m[:, None, None] * d):
    return weigh(slopes, distance(torch.arange(L)[:, None], torch.arange(S), L, S))


def from_weights(slopes, L, S):
    """Read off attention itself: the log of its weights with our bias, up to a constant a row."""
    log = attention(torch.zeros(len(slopes), L, 2).double(), torch.zeros(len(slopes), S, 2).double(),
                    torch.zeros(len(slopes), S, 1).double(),
                    bias=part.alibi_bias(len(slopes), L, S, slopes=slopes).double())[1].log()
    return log - log.amax(-1, keepdim=True)


RIGHT["linear_bias"] = {
    "solution": written(SOLUTIONS["linear_bias"], "linear_bias"), "package": lambda m, L, S: part.alibi_bias(len(m), L, S, slopes=m),
    "einsum": lambda m, L, S: -torch.einsum("h,ij->hij", m.double(), (torch.arange(L)[:, None] + S - L
                                                                        - torch.arange(S)).abs().double()),
    "numpy": lambda m, L, S: -np.asarray(m)[:, None, None] * abs(np.arange(S - L, S)[:, None] - np.arange(S)),
    "weights": from_weights,
    "last rows": lambda m, L, S: bias(m, S, S)[:, S - L:],
}
WRONG["linear_bias"] = {
    "first key": (lambda m, L, S: bias(m, L, S, lambda i, j, L, S: (i - j).abs()), "aligned to the first key"),
    "sign": (lambda m, L, S: -bias(m, L, S), "the sign is missing"),
    "signed": (lambda m, L, S: bias(m, L, S, lambda i, j, L, S: i + S - L - j), "distance has a sign"),
    "from 1": (lambda m, L, S: bias(m, L, S) - m[:, None, None], "a distance of 1 from a token to itself"),
    "squared": (lambda m, L, S: bias(m, L, S, lambda i, j, L, S: (i + S - L - j) ** 2), "square of the distance"),
    "one slope": (lambda m, L, S: bias(m[:1].expand(len(m)), L, S), "one slope for all heads"),
    "divided": (lambda m, L, S: bias(1 / m, L, S), "divided by the slope"),
    "last axis": (lambda m, L, S: bias(m, L, S).permute(1, 2, 0), "heads on the last axis"),
    "transposed": (lambda m, L, S: bias(m, L, S).mT, "queries and keys have changed places"),
    "hidden": (lambda m, L, S: bias(m, L, S).masked_fill(torch.arange(S) > torch.arange(L)[:, None] + S - L, -torch.inf),
               "minus infinity"),
}

# -- last_output_changes ---------------------------------------------------------------------

def by_experiment(layers, causal, scheme):
    g = torch.Generator().manual_seed(0)
    x, w = (torch.randn(*shape, generator=g, dtype=torch.float64) for shape in ((6, 8), (layers, 4, 8, 8)))

    def last(x):
        x = x + part.sinusoidal(6, 8, dtype=torch.float64) if scheme == "sinusoidal" else x
        for w_q, w_k, w_v, w_f in w / 3:
            q, k = (part.rope(x @ m, 0) if scheme == "rope" else x @ m for m in (w_q, w_k))
            slope = part.alibi_bias(1, 6, slopes=torch.tensor([0.5]))[0].double() if scheme == "alibi" else None
            x = x + attention(q, k, x @ w_v, causal=causal, bias=slope)[0]
            x = x + torch.tanh(x @ w_f)
        return x[-1]

    return bool((last(x) - last(x[[3, 0, 4, 1, 2, 5]])).abs().max() > 1e-9)


truth = written(SOLUTIONS["last_output_changes"], "last_output_changes")
RIGHT["last_output_changes"] = {
    "solution": truth, "experiment": by_experiment, "integers": lambda *asked: int(truth(*asked)),
    "numpy": lambda *asked: np.bool_(truth(*asked)),
}
WRONG["last_output_changes"] = {
    "exchanged": (lambda *asked: not truth(*asked), "a set was thought to have an order"),
    "always": (lambda *asked: True, "a set was thought to have an order"),
    "depth": (lambda n, causal, scheme: n >= 2 or truth(n, causal, scheme), "a set was thought to have an order"),
    "mask is nothing": (lambda n, causal, scheme: scheme != "none", "the mask was thought to change nothing"),
    "one layer": (lambda n, causal, scheme: scheme != "none" or causal, "one masked layer"),
    "three layers": (lambda n, causal, scheme: scheme != "none" or (causal and n > 2), "two masked layers"),
    "rope": (lambda n, causal, scheme: scheme != "rope" and truth(n, causal, scheme), "RoPE was thought"),
    "alibi": (lambda n, causal, scheme: scheme != "alibi" and truth(n, causal, scheme), "ALiBi was thought"),
    "sinusoids": (lambda n, causal, scheme: scheme != "sinusoidal" and truth(n, causal, scheme), "sinusoids were thought"),
    "relative": (lambda n, causal, scheme: n > 1 if scheme in ("rope", "alibi") else truth(n, causal, scheme),
                 "a relative scheme"),
}


# -- the tests -------------------------------------------------------------------------------

# -- the questions ---------------------------------------------------------------------------

ASKED = {name: question for name, question in questions().items() if name.startswith("ch6-")}


def test_the_chapter_asks_enough_of_each_kind():
    kinds = [question["kind"] for question in ASKED.values()]
    assert len(kinds) >= 6 and set(kinds) == {"choice", "number", "order"}


def test_the_longest_wave_is_right():
    answer = 2 * math.pi / part.rope_frequencies(4)[-1].item()
    assert ASKED["ch6-longest-wave"]["answer"] == round(answer)


def test_the_answer_on_shuffling_is_what_happens():
    assert [by_experiment(n, True, "none") for n in (1, 2)] == [False, True] and not by_experiment(3, False, "none")


@pytest.mark.parametrize("name", [name for name, question in ASKED.items() if question["kind"] == "choice"])
def test_each_answer_has_its_own_feedback(name):
    for language in ("en", "zh"):
        feedback = [option["why"][language] for option in ASKED[name]["options"]]
        assert len(set(feedback)) == len(feedback)
        assert sum(option["right"] for option in ASKED[name]["options"]) == 1
