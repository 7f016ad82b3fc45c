"""Chapter 2: each check names the mistakes of its wrong solutions and accepts every right variant, in 20 draws."""

import inspect
import math

import numpy as np
import pytest
import torch
from solutions_qkv import SOLUTIONS

from attnbook.exercises import qkv

DRAWS = 20
CHECKS = {name.removeprefix("check_"): getattr(qkv, name) for name in qkv.__all__}
F = torch.nn.functional


def solution(name):
    space = {"torch": torch, "math": math}
    exec(SOLUTIONS[name], space)
    return space[name]


def as_numpy(name):
    """The solution's arithmetic on numpy arrays, which a reader may prefer."""
    def softmax(x):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def T(x):
        return np.swapaxes(x, -1, -2)

    def sdpa(q, k, v, mask=None):
        q, k, v = (np.asarray(a, dtype=np.float64) for a in (q, k, v))
        s = q @ T(k) / np.sqrt(q.shape[-1])
        return softmax(s if mask is None else np.where(np.asarray(mask), s, -np.inf)) @ v

    def grouped(q, k, v):
        q, k, v = (np.asarray(a) for a in (q, k, v))
        heads = [sdpa(q[..., h, :, :], *(x[..., h * k.shape[-3] // q.shape[-3], :, :] for x in (k, v)))
                 for h in range(q.shape[-3])]
        return np.stack(heads, -3)

    def latent(x, w_q, w_down, w_uk, w_uv):
        x, w_q, w_down, w_uk, w_uv = (np.asarray(a) for a in (x, w_q, w_down, w_uk, w_uv))
        return sdpa(x @ w_q, x @ w_down @ w_uk, x @ w_down @ w_uv)

    def cross(target, source, w_q, w_k, w_v):
        target, source, w_q, w_k, w_v = (np.asarray(a) for a in (target, source, w_q, w_k, w_v))
        return sdpa(target @ w_q, source @ w_k, source @ w_v)

    def impossible(weights, causal):
        return [bool(abs(sum(row) - 1) > 1e-3 or min(row) < 0 or (causal and any(row[i + 1:])))
                for i, row in enumerate(np.asarray(weights, dtype=np.float64).tolist())]

    return {"scaled_dot_product_attention": sdpa, "grouped_attention": grouped, "latent_attention": latent,
            "cross_attention": cross, "impossible_rows": impossible,
            "cache_bytes": lambda *a: np.float64(solution("cache_bytes")(*a))}[name]


def torchs_own(q, k, v, mask=None):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def einsum(q, k, v, mask=None):
    s = torch.einsum("...ld,...sd->...ls", q / q.shape[-1] ** 0.5, k)
    if mask is not None:
        s = torch.where(mask, s, torch.finfo(s.dtype).min)
    return torch.einsum("...ls,...sd->...ld", s.softmax(-1), v)


def reshaped(q, k, v):
    """Query heads of a group as one axis: nothing is repeated."""
    q = q.unflatten(-3, (k.shape[-3], -1))
    out = torchs_own(q, k.unsqueeze(-3).expand(*q.shape[:-2], *k.shape[-2:]),
                     v.unsqueeze(-3).expand(*q.shape[:-2], *v.shape[-2:]))
    return out.flatten(-4, -3)


RIGHT = {
    "scaled_dot_product_attention": {"torch": torchs_own, "einsum": einsum},
    "grouped_attention": {"torch": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
                          "reshaped": reshaped},
    "latent_attention": {"expanded": lambda x, a, d, b, c: torchs_own(x @ a, x @ d @ b, x @ d @ c)},
    "cross_attention": {"torch": lambda t, s, a, b, c: torchs_own(t @ a, s @ b, s @ c)},
    "impossible_rows": {"list": lambda w, causal: solution("impossible_rows")(w, causal).tolist()},
    "cache_bytes": {"whole": lambda *a: round(solution("cache_bytes")(*a) * 8) / 8},
}


@pytest.mark.parametrize("name", CHECKS)
def test_right_solutions_pass(said, name):
    ways = {"solution": solution(name), "numpy": as_numpy(name), **RIGHT[name],
            "float64": lambda *a: solution(name)(*(t.double() if isinstance(t, torch.Tensor) and t.is_floating_point()
                                                   else t for t in a))}
    for way, fn in ways.items():
        for _ in range(DRAWS):
            text = said(CHECKS[name], fn)
            assert text.startswith(f"{name}: passed on new inputs"), (way, text)


def needs_mask(way):
    """A wrong solution written for the masked cases, with the right one in front of it."""
    def fn(q, k, v, mask=None):
        return torchs_own(q, k, v) if mask is None else way(q, k, v, mask)
    return fn


def wrong_ways():
    """Each named mistake of each exercise, once for each way to make it."""
    for name, check in CHECKS.items():
        for mistake in inspect.getmodule(check).MISTAKES:
            for i, way in enumerate(mistake.ways):
                if name == "scaled_dot_product_attention" and not set(mistake.stages) & {"operands and scale"}:
                    way = needs_mask(way)
                if mistake.name != "a latent for each head":  # below
                    yield pytest.param(name, mistake.name, way, id=f"{name}-{mistake.name}-{i}")


@pytest.mark.parametrize("name, mistake, fn", [*wrong_ways()])
def test_a_named_mistake_gets_its_name(said, name, mistake, fn):
    for _ in range(DRAWS):
        text = said(CHECKS[name], fn)
        assert "not right yet" in text and f"Likely mistake: {mistake}." in text, text


def per_head(n_layers, n_heads, n_kv, d, n, bits, c):
    return n_layers * (2 * n_kv * d if c is None else n_kv * c) * n * bits / 8


def overflowing(q, k, v, mask=None):
    e = (q @ k.mT / q.shape[-1] ** 0.5).exp()
    return (e if mask is None else e * mask) / (e if mask is None else e * mask).sum(-1, keepdim=True) @ v


def times_infinity(q, k, v, mask=None):
    s = q @ k.mT / q.shape[-1] ** 0.5
    return (s if mask is None else s + (1 - mask.float()) * -math.inf).softmax(-1) @ v


def starter_latent(x, w_q, w_down, w_uk, w_uv):
    c = x @ w_down
    scores = (x @ w_q @ w_uk.mT) @ c.mT
    return torch.softmax(scores / math.sqrt(c.shape[-1]), dim=-1) @ c @ w_uk


def starter_cross(target, source, w_q, w_k, w_v):
    q, k, v = source @ w_q, target @ w_k, target @ w_v
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v


def changes_its_input(q, k, v, mask=None):
    q /= q.shape[-1] ** 0.5
    return (q @ k.mT).softmax(-1) @ v


@pytest.mark.parametrize("name, fn, words", [
    ("cache_bytes", per_head, "a latent for each head"),
    ("scaled_dot_product_attention", overflowing, "the largest score is not subtracted"),
    ("scaled_dot_product_attention", times_infinity, "NaN from infinities"),
    ("scaled_dot_product_attention", changes_its_input, "changed its argument q in place"),
    ("scaled_dot_product_attention", lambda q, k, v, mask=None: v, "has shape (5, 6), expected (3, 6)"),
    ("scaled_dot_product_attention", lambda q, k: q, "does not take these arguments"),
    ("latent_attention", starter_latent, "both: the root of the latent's width"),
    ("cross_attention", starter_cross, "the source asks"),
    ("cross_attention", lambda t, s, a, b, c: torchs_own(t @ a, s @ b, s @ c) * 1.1, "The largest error is"),
    ("grouped_attention", lambda q, k, v: torch.ones(*q.shape[:-1], v.shape[-1]), "a constant"),
    ("impossible_rows", lambda w, causal: (w.sum(-1) != 1) | (w < 0).any(-1), "sums were compared exactly"),
    ("impossible_rows", lambda w, causal: w.sum(-1), "numbers other than 0 and 1"),
    ("cache_bytes", lambda *a: None, "not written yet, it returns None"),
    ("cache_bytes", lambda *a: 12, "The answer is wrong"),
])
def test_a_wrong_solution_gets_its_message(said, name, fn, words):
    for _ in range(DRAWS):
        assert words in said(CHECKS[name], fn)


@pytest.mark.parametrize("name", CHECKS)
def test_no_message_holds_the_right_numbers(said, name):
    text = said(CHECKS[name], lambda *a: torch.full((2, 2), 7.0))
    assert not any(c.isdigit() and len(word.strip("().,")) > 6 for word in text.split() for c in word[:1])
