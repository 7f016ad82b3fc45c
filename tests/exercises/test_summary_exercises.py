"""Chapter 8: each check names the mistakes of its wrong solutions and accepts every right variant, in several draws."""

import inspect
import math
import re

import numpy as np
import pytest
import torch
from chapter_tests import (  # noqa: F401 - collected here
    chapter, pytest_generate_tests, test_any_exception_gets_one_message, test_any_return_value_gets_one_message,
    test_replayed_answers_fail, test_starters_say_the_same_in_every_run_and_do_not_pass, written)
from solutions_summary import SOLUTIONS, STARTERS
from torch import nn

from attnbook.exercises import _report, summary
from attnbook.transformer import CachedSelfAttention, KVCache, TinyTransformer

EXERCISES, DRAWS = summary, 20
CHECKS = {name.removeprefix("check_"): getattr(summary, name) for name in summary.__all__}
MODULES = {name: inspect.getmodule(check) for name, check in CHECKS.items()}


def solution(name, source=SOLUTIONS):
    return written(source[name], name)


# -- right, in several ways --------------------------------------------------------------------

def by_einsum(q, k, v, old_k, old_v):
    k, v = torch.cat((old_k, k), -2), torch.cat((old_v, v), -2)
    L, S = q.shape[-2], k.shape[-2]
    hidden = torch.full((L, S), -math.inf).triu(S - L + 1)
    return torch.einsum("...ls,...sd->...ld", (torch.einsum("...ld,...sd->...ls", q, k) / 2 + hidden).softmax(-1), v)


def by_numpy(q, k, v, old_k, old_v):
    q, k, v = np.asarray(q, dtype=float), np.concatenate((old_k, k), -2), np.concatenate((old_v, v), -2)
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    L, S = scores.shape[-2:]
    e = np.where(np.tri(L, S, S - L, dtype=bool), np.exp(scores - scores.max(-1, keepdims=True)), 0)
    return e / e.sum(-1, keepdims=True) @ v


def row_by_row(q, k, v, old_k, old_v):
    rows = []
    for i in range(q.shape[-2]):
        keys = torch.cat((old_k, k[..., :i + 1, :]), -2)
        values = torch.cat((old_v, v[..., :i + 1, :]), -2)
        rows.append(torch.softmax(q[..., i:i + 1, :] @ keys.mT / 2, -1) @ values)
    return torch.cat(rows, -2)


def by_the_book(q, k, v, old_k, old_v):
    """The cache of the package itself."""
    from attnbook.attention import attention
    cache = KVCache()
    cache.extend(old_k, old_v)
    return attention(q, *cache.extend(k, v), causal=True)[0]


def separately(q, k, old_k, turn):
    start = old_k.shape[-2]
    q = turn(q, start)
    return torch.cat((q @ old_k.mT, q @ turn(k, start).mT), -1)


def numpy_scores(q, k, old_k, turn):
    q, k, old_k = (np.asarray(x) for x in (q, k, old_k))
    start = old_k.shape[-2]
    return turn(q, start) @ np.swapaxes(np.concatenate((old_k, turn(k, start)), -2), -1, -2)


def counted(n_tokens, d_model, n_heads, n_layers):
    return sum(weight.numel() for weight in TinyTransformer(n_tokens, d_model, n_heads, n_layers).parameters())


def by_least_squares(a, share):
    """The best factor found by experiment on exact moments."""
    factors = np.linspace(0, 2, 200001)
    b = 1 - a
    first = ((factors * a - 1) ** 2 + (factors * b) ** 2).min()
    second = ((factors * b - 1) ** 2 + (factors * a) ** 2).min()
    return share * first + (1 - share) * second


RIGHT = {
    "cache_step": {"einsum": by_einsum, "numpy": by_numpy, "rows": row_by_row, "package": by_the_book,
                   "float64": lambda *a: solution("cache_step")(*(x.double() for x in a))},
    "chunk_scores": {"separately": separately, "numpy": numpy_scores,
                     "float64": lambda q, k, o, turn: separately(q.double(), k.double(), o.double(), turn)},
    "parameters": {"counted": counted, "float": lambda *a: float(counted(*a)), "numpy": lambda *a: np.int64(counted(*a))},
    "wall": {"experiment": by_least_squares, "tensor": lambda a, s: torch.tensor(solution("wall")(a, s)),
             "list": lambda a, s: [solution("wall")(a, s)]},
}


@pytest.mark.parametrize("name", CHECKS)
def test_right_solutions_pass(said, name):
    for way, fn in {"solution": solution(name), **RIGHT[name]}.items():
        for _ in range(DRAWS if way != "counted" else 3):
            text = said(CHECKS[name], fn)
            assert text.startswith(f"{name}: passed on new inputs"), (way, text)


# -- wrong, each with its message ---------------------------------------------------------------

def named_mistakes():
    """Each named mistake of each exercise, once for each way to make it."""
    for name, module in MODULES.items():
        for mistake in module.MISTAKES:
            for i, way in enumerate(mistake.ways):
                yield pytest.param(name, mistake.name, way, id=f"{name}-{mistake.name}-{i}")


@pytest.mark.parametrize("name, mistake, fn", [*named_mistakes()])
def test_a_named_mistake_gets_its_name(said, name, mistake, fn):
    assert len(MODULES[name].MISTAKES) >= 5
    for _ in range(DRAWS):
        text = said(CHECKS[name], fn)
        assert "not right yet" in text and f"Likely mistake: {mistake}." in text, text


def top_left(q, k, v, old_k, old_v):
    return nn.functional.scaled_dot_product_attention(
        q, torch.cat((old_k, k), -2), torch.cat((old_v, v), -2), is_causal=True)


def a_layer_without_its_cache(q, k, v, old_k, old_v):
    return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def scales_in_place(q, k, v, old_k, old_v):
    q /= 2
    return solution("cache_step")(2 * q, k, v, old_k, old_v)


def returns_the_cache_too(q, k, v, old_k, old_v):
    return solution("cache_step")(q, k, v, old_k, old_v), torch.cat((old_k, k), -2)


@pytest.mark.parametrize("name, fn, words", [
    ("cache_step", top_left, "the mask starts at the first key"),
    ("cache_step", a_layer_without_its_cache, "only the new keys were read"),
    ("cache_step", returns_the_cache_too, "parts of unequal shapes"),
    ("cache_step", scales_in_place, "changed its argument q in place"),
    ("cache_step", lambda q, k, v, old_k, old_v: v, "not right yet"),
    ("cache_step", lambda q, k, v: v, "does not take these arguments"),
    ("chunk_scores", solution("chunk_scores", STARTERS), "turned twice, and positions restart at 0"),
    ("chunk_scores", lambda q, k, old, turn: separately(q, k, old, turn) / math.sqrt(q.shape[-1]), "The largest error is"),
    ("chunk_scores", lambda q, k, old, turn: torch.zeros(*q.shape[:-1], q.shape[-2] + old.shape[-2]), "a constant"),
    ("parameters", lambda *sizes: 1000, "The answer is wrong"),
    ("parameters", lambda *sizes: None, "not written yet, it returns None"),
    ("wall", lambda a, share: 0.5, "one half for every share"),
    ("wall", lambda a, share: -1.0, "The answer is wrong"),
])
def test_a_wrong_solution_gets_its_message(said, name, fn, words):
    for _ in range(DRAWS):
        assert words in said(CHECKS[name], fn)


@pytest.mark.parametrize("name, mistake, fn", [*named_mistakes()])
def test_messages_give_neither_numbers_nor_solution(name, mistake, fn):
    text = _report.message(MODULES[name].EXERCISE, fn)
    assert not re.findall(r"\d+\.\d+", text)
    assert not [line for line in SOLUTIONS[name].splitlines() if len(line.strip()) > 12 and line.strip() in text]


def test_the_cached_layer_of_the_package_solves_the_exercise_of_positions(said):
    """The exercise and the package mean the same by a cached key: it is stored turned."""
    layer, cache, x = CachedSelfAttention(6, 1, rotary=True), KVCache(), torch.randn(5, 6)
    layer(x, cache=cache)
    assert not torch.allclose(cache.keys[0], layer.key(x), atol=1e-3)
