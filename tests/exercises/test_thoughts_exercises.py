"""Chapter 7: each check names the mistakes of its wrong solutions and accepts every right variant, in several draws."""

import math

import numpy as np
import pytest
import torch
from chapter_tests import *  # noqa: F403 - the tests that hold for every chapter
from solutions_thoughts import SOLUTIONS, STARTERS
from torch import nn
from torch.nn.functional import elu

from attnbook.attention import attention, causal_mask, local_mask
from attnbook.efficient import linear_attention, merge_partials, partial_attention, strided_mask
from attnbook.exercises import questions, thoughts

EXERCISES, DRAWS = thoughts, 8
MODULES = {module.EXERCISE.name: module for module in (
    thoughts.linear, thoughts.merging, thoughts.online, thoughts.pattern, thoughts.possible, thoughts.products,
    thoughts.window)}
RIGHT, WRONG = {}, {}


# -- online_attention ------------------------------------------------------------------------

def at_once(scores, values, block):
    return attention(torch.ones(1, 1).to(scores), scores[:, None].nan_to_num(neginf=0.0), values, scale=1.0,
                     mask=(scores > -torch.inf)[None])[0][0]


def numpy_online(scores, values, block):
    s, v = np.asarray(scores, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if np.isinf(s).all():
        return np.zeros(v.shape[1])
    e = np.exp(s - s.max())
    return np.einsum("n,nd->d", e, v) / e.sum()


def by_merging(scores, values, block):
    one, zero = torch.ones(1, 1).to(scores), torch.zeros(1, values.shape[-1]).to(values)
    out, lse = zero, torch.full((1,), -torch.inf).to(scores)
    for s, v in zip(scores.split(block), values.split(block)):
        seen = s > -torch.inf
        out, lse = merge_partials(out, lse, *partial_attention(one, s[seen][:, None], v[seen]))
    return out[0]


def online(start=-torch.inf, keep_sum=False, keep_mix=False, stop=None, begin=0, way=1.0, own=False, last=True):
    def fn(scores, values, block):
        peak, total, mixed = torch.tensor(start).to(scores), torch.zeros(()).to(scores), torch.zeros_like(values[0])
        for i in range(begin * block, stop(len(scores), block) if stop else len(scores), block):
            s, v = scores[i:i + block], values[i:i + block]
            new = torch.maximum(peak, s.max())
            fade = torch.exp(way * (peak - new))
            e = torch.exp(s - (s.max() if own else new))
            total = (total if keep_sum else total * fade) + e.sum()
            mixed = (mixed if keep_mix else mixed * fade) + e @ v
            peak = new
        return mixed / total if last else mixed
    return fn


def no_last_guard(scores, values, block):
    return torch.full((values.shape[-1],), torch.nan) if (scores == -torch.inf).all() else at_once(scores, values, block)


RIGHT["online_attention"] = {
    "solution": written(SOLUTIONS["online_attention"], "online_attention"), "at once": at_once, "numpy": numpy_online, "merging": by_merging,
    "float64": lambda s, v, b: at_once(s.double(), v.double(), b), "batch": lambda s, v, b: at_once(s, v, b)[None]}
WRONG["online_attention"] = {
    "undivided": (online(last=False), "not divided by the sum"),
    "mixture": (online(keep_mix=True), "the mixture is not rescaled"),
    "sum": (online(keep_sum=True), "the sum is not rescaled"),
    "neither": (online(keep_sum=True, keep_mix=True), "neither sum nor mixture"),
    "wrong way": (online(way=-1.0), "the wrong way"),
    "own": (online(own=True), "each block has its own maximum"),
    "mean of blocks": (lambda s, v, b: torch.stack([torch.softmax(x, 0) @ y for x, y in zip(s.split(b), v.split(b))]).mean(0),
                       "a softmax of its own"),
    "last": (lambda s, v, b: torch.softmax(s.split(b)[-1], 0) @ v.split(b)[-1], "only the last block"),
    "ragged": (online(stop=lambda n, b: n - n % b), "after the last full block"),
    "first": (lambda s, v, b: online(begin=1)(s, v, b) if len(s) > b else at_once(s, v, b), "the first block is skipped"),
    "zero": (lambda s, v, b: online(start=0.0)(s, v, b).nan_to_num(), "starts at 0"),
    "infinities": (online(), "two infinities"),
    "nothing": (no_last_guard, "a sum of 0"),
}


# -- merged ----------------------------------------------------------------------------------

def by_sigmoid(out_a, a, out_b, b):
    share = torch.sigmoid(a - b)[..., None]
    return share * out_a + (1 - share) * out_b, torch.logaddexp(a, b)


def numpy_merged(out_a, a, out_b, b):
    out_a, a, out_b, b = (np.asarray(x, dtype=np.float64) for x in (out_a, a, out_b, b))
    lse = np.logaddexp(a, b)
    return np.exp(a - lse)[..., None] * out_a + np.exp(b - lse)[..., None] * out_b, lse


def shares(weigh, lse=torch.logaddexp):
    def fn(out_a, a, out_b, b):
        p, q = weigh(a, b)
        return p[..., None] * out_a + q[..., None] * out_b, lse(a, b)
    return fn


def fair(a, b):
    return torch.sigmoid(a - b), torch.sigmoid(b - a)


def naive(out_a, a, out_b, b):
    total = a.exp() + b.exp()
    return shares(lambda a, b: (a.exp() / total, b.exp() / total), lambda a, b: total.log())(out_a, a, out_b, b)


def naive_when_small(out_a, a, out_b, b):
    return (naive if a.max() < 0 else by_sigmoid)(out_a, a, out_b, b)


def nan_when_empty(out_a, a, out_b, b):
    out, lse = by_sigmoid(out_a, a, out_b, b)
    return out, torch.where(a == -torch.inf, torch.nan, lse)


RIGHT["merged"] = {
    "solution": written(SOLUTIONS["merged"], "merged"), "sigmoid": by_sigmoid, "numpy": numpy_merged, "part": merge_partials,
    "list": lambda *x: list(by_sigmoid(*x)), "float64": lambda *x: by_sigmoid(*(y.double() for y in x)),
    "einsum": lambda oa, a, ob, b: (torch.einsum("...l,...ld->...ld", fair(a, b)[0], oa)
                                    + torch.einsum("...l,...ld->...ld", fair(a, b)[1], ob), torch.logaddexp(a, b))}
WRONG["merged"] = {
    "mean": (shares(lambda a, b: (0.5 + 0 * a, 0.5 + 0 * a)), "the plain mean"),
    "added": (shares(lambda a, b: (1 + 0 * a, 1 + 0 * a)), "both outputs were added"),
    "logarithms": (shares(lambda a, b: (a / (a + b), b / (a + b))), "from the logarithms themselves"),
    "exchanged": (shares(lambda a, b: fair(b, a)), "the shares are exchanged"),
    "undivided": (shares(lambda a, b: (a.exp(), b.exp())), "not divided by the sum"),
    "larger": (shares(lambda a, b: ((a > b).float(), (a <= b).float())), "only the larger part"),
    "sum of logs": (shares(fair, torch.add), "the logarithms were added"),
    "peak": (shares(fair, torch.maximum), "the larger logarithm"),
    "no log": (shares(fair, lambda a, b: a.exp() + b.exp()), "in place of its logarithm"),
    "overflow": (naive, "overflows"),
    "underflow": (naive_when_small, "both exponentials round to 0"),
    "empty": (nan_when_empty, "an empty part makes NaN"),
}


# -- far_sight -------------------------------------------------------------------------------

def strided(n):
    step = max(1, round(math.sqrt(n)))
    mask = strided_mask(n, n, step, step)
    return mask, mask.sum()


def landmarks(n):
    """Every step-th token is read by all later ones and reads everything before it since the last landmark; else near ones."""
    step, i, j = math.isqrt(n), np.arange(n)[:, None], np.arange(n)
    mask = (j <= i) & ((i - j < step) | (j % step == step - 1))
    return mask, mask.sum()


def with_mask(change, count=lambda mask: mask.sum()):
    def fn(n):
        mask = change(strided(n)[0].clone(), n)
        return mask, count(mask)
    return fn


def ahead(mask, n):
    mask[0, -1] = True
    return mask if n > 1 else mask[:1]


def blind(mask, n):
    mask[n // 2, n // 2] = False
    return mask


RIGHT["far_sight"] = {
    "solution": written(SOLUTIONS["far_sight"], "far_sight"), "strided": strided, "landmarks in numpy": landmarks,
    "integers": lambda n: (strided(n)[0].long(), int(strided(n)[1])), "lists": lambda n: [strided(n)[0].tolist(), float(strided(n)[1])]}
WRONG["far_sight"] = {
    "size": (lambda n: strided(n + 1), "another size than n"),
    "future": (with_mask(lambda mask, n: mask | mask.mT), "a token sees a later one"),
    "one ahead": (with_mask(ahead), "a token sees a later one"),
    "no diagonal": (with_mask(blind), "does not see itself"),
    "triangle": (with_mask(lambda mask, n: causal_mask(n)), "too many True entries"),
    "window": (with_mask(lambda mask, n: local_mask(n, n, max(1, math.isqrt(n)))), "two layers do not carry"),
    "count": (with_mask(lambda mask, n: mask, lambda mask: mask.sum() + 1), "number of edges"),
}


# -- possible --------------------------------------------------------------------------------

def checks(w, mask, axis=-1, sums=True, signs=True, hidden=True, empty=True, below=False, zeros=True):
    wanted = mask.any(axis).to(w.dtype) if empty else 1.0
    gap = w.sum(axis) - wanted
    good = bool((gap < 0.03).all() if below else (gap.abs() < 0.03).all()) if sums else True
    good = good and (bool((w >= 0).all()) or not signs)
    good = good and (not w[~mask].any() or not hidden)
    return bool(good and (zeros or not (w[mask] == 0).any()))


def but(**options):
    return lambda w, mask: checks(w, mask, **options)


def numpy_possible(w, mask):
    w, mask = np.asarray(w), np.asarray(mask)
    return all(abs(row.sum() - seen.any()) < 0.04 and (row >= 0).all() and not row[~seen].any() for row, seen in zip(w, mask))


RIGHT["possible"] = {"solution": written(SOLUTIONS["possible"], "possible"), "plain": checks, "numpy": numpy_possible,
                     "integer": lambda w, m: int(checks(w, m)), "tensor": lambda w, m: torch.tensor(checks(w, m))}
WRONG["possible"] = {
    "columns": (but(axis=-2), "columns were summed"), "below": (but(below=True), "less than 1, either"),
    "no sums": (but(sums=False), "sums were not looked at"), "all": (lambda w, m: True, "sums were not looked at"),
    "none": (lambda w, m: False, "every map was refused"), "exchanged": (lambda w, m: not checks(w, m), "are exchanged"),
    "negative": (but(signs=False), "negative numbers"), "zeros": (but(zeros=False), "rounded 1 and zeros"),
    "mask": (but(hidden=False), "mask was not looked at"), "nothing": (but(empty=False), "asked to sum to 1")}


# -- products --------------------------------------------------------------------------------

def counts(**changed):
    def fn(method, n, d, window):
        return changed[method](n, d, window) if method in changed else written(SOLUTIONS["products"], "products")(method, n, d, window)
    return fn


RIGHT["products"] = {
    "solution": written(SOLUTIONS["products"], "products"), "float": lambda *x: float(written(SOLUTIONS["products"], "products")(*x)),
    "numpy": lambda *x: np.int64(written(SOLUTIONS["products"], "products")(*x)), "tensor": lambda *x: torch.tensor(float(written(SOLUTIONS["products"], "products")(*x)))}
WRONG["products"] = {
    "half": (counts(dense=lambda n, d, w: n * n * d), "only the scores were counted"),
    "twice": (counts(dense=lambda n, d, w: 4 * n * n * d), "counted twice"),
    "width": (counts(dense=lambda n, d, w: 2 * n * n), "the width was forgotten"),
    "tiles": (counts(tiled=lambda n, d, w: 2 * n * d), "tiles were thought to save work"),
    "no window": (counts(window=lambda n, d, w: 2 * n * n * d), "the window was not used"),
    "pairs": (lambda method, n, d, w: n * n, "the width was forgotten"),
    "quadratic": (counts(linear=lambda n, d, w: 2 * n * n * d), "counted as quadratic"),
    "vector": (counts(linear=lambda n, d, w: 4 * n * d), "the state was taken for a vector")}


# -- linear_causal ---------------------------------------------------------------------------

def quadratic(q, k, v, phi=lambda x: elu(x) + 1, tri=torch.tril, divide=True):
    mass = tri(phi(q) @ phi(k).mT)
    return mass @ v / mass.sum(-1, keepdim=True) if divide else mass @ v


def numpy_linear(q, k, v):
    q, k, v = (np.asarray(x, dtype=np.float64) for x in (q, k, v))
    q, k = (np.where(x > 0, x + 1, np.exp(x)) for x in (q, k))
    mass = np.tril(np.einsum("id,jd->ij", q, k))
    return mass @ v / mass.sum(-1, keepdims=True)


def running(q, k, v):
    q, k = elu(q) + 1, elu(k) + 1
    states, totals = (k[:, :, None] * v[:, None]).cumsum(0), k.cumsum(0)
    return (q[:, None] @ states)[:, 0] / (q * totals).sum(-1, keepdim=True)


def total_of_all(q, k, v):
    q, k = elu(q) + 1, elu(k) + 1
    return (q @ k.mT).tril() @ v / (q @ k.sum(0))[:, None]


RIGHT["linear_causal"] = {
    "solution": written(SOLUTIONS["linear_causal"], "linear_causal"), "quadratic": quadratic, "numpy": numpy_linear, "running": running,
    "part": lambda q, k, v: linear_attention(q, k, v, True), "float64": lambda q, k, v: quadratic(q.double(), k.double(), v.double())}
WRONG["linear_causal"] = {
    "bare": (lambda q, k, v: quadratic(q, k, v, lambda x: x, divide=False), "and the features may be negative"),
    "unnormalised": (lambda q, k, v: quadratic(q, k, v, divide=False), "the normaliser is missing"),
    "not itself": (lambda q, k, v: quadratic(q, k, v, tri=lambda m: m.tril(-1)).nan_to_num(), "does not see itself"),
    "count": (lambda q, k, v: quadratic(q, k, v, divide=False) / torch.arange(1, len(q) + 1)[:, None], "the normaliser is missing"),
    "all keys": (total_of_all, "future ones included"),
    "identity": (lambda q, k, v: quadratic(q, k, v, lambda x: x), "the feature map is missing"),
    "softmax": (lambda q, k, v: attention(q, k, v, causal=True)[0], "softmax was applied"),
    "future": (lambda q, k, v: quadratic(q, k, v, tri=lambda m: m), "future tokens are seen"),
    "itself alone": (lambda q, k, v: v, "reads itself alone"),
    "exp": (lambda q, k, v: quadratic(q, k, v, torch.exp), "another feature map")}


# -- window ----------------------------------------------------------------------------------

def distances(seen, shift=lambda L, S: S - L):
    return lambda L, S, w: seen(torch.arange(L)[:, None] + shift(L, S) - torch.arange(S), w)


RIGHT["window"] = {
    "solution": written(SOLUTIONS["window"], "window"), "part": local_mask, "list": lambda *x: local_mask(*x).tolist(),
    "numpy": lambda L, S, w: np.triu(np.tri(L, S, S - L), S - L - w + 1), "batch": lambda *x: local_mask(*x)[None]}
WRONG["window"] = {
    "one more": (distances(lambda d, w: (d >= 0) & (d <= w)), "so w + 1 in all"),
    "not itself": (distances(lambda d, w: (d > 0) & (d <= w)), "the own key is not seen"),
    "both sides": (distances(lambda d, w: d.abs() < w), "reaches into the future"),
    "ahead": (distances(lambda d, w: (d <= 0) & (d > -w)), "looks ahead"),
    "causal": (distances(lambda d, w: d >= 0), "everything earlier"),
    "exchanged": (lambda *x: ~local_mask(*x), "are exchanged"),
    "aligned left": (distances(lambda d, w: (d >= 0) & (d < w), lambda L, S: 0), "aligned with the first key"),
    "one early": (distances(lambda d, w: (d >= 0) & (d < w), lambda L, S: max(S - L - 1, 0)), "one place too early")}


# -- the tests -------------------------------------------------------------------------------

@pytest.mark.parametrize("name, fragment", [
    ("online_attention", "the mixture is not rescaled"), ("window", "so w + 1 in all"),
    ("linear_causal", "the normaliser is missing, and the features"), ("possible", "columns were summed"),
    ("far_sight", "two layers do not carry"), ("products", "the width was forgotten")])
def test_the_bugs_of_the_starters_are_named(said, name, fragment):
    assert fragment in said(getattr(thoughts, f"check_{name}"), written(STARTERS[name], name))


def test_no_argument_is_changed_and_one_that_is_gets_told(said):
    def spoils(w, mask):
        w += 1.0
        return True

    assert "changed its argument numbers in place" in said(thoughts.check_possible, spoils)


def test_the_numbers_of_the_questions_are_right():
    known = questions()
    assert known["ch7-tile-memory"]["answer"] == 64 * 64 and known["ch7-breakeven"]["answer"] == 6
    assert known["ch7-reach"]["answer"] == 3 * (5 - 1) + 1
