"""Chapter 5: each check names the mistakes of its wrong solutions and accepts every right variant, in several draws."""


import numpy as np
import pytest
import torch
from chapter_tests import *  # noqa: F403 - the tests that hold for every chapter
from solutions_residual import SOLUTIONS, STARTERS
from torch.nn import functional

from attnbook.exercises import questions, residual

EXERCISES, DRAWS = residual, 12
MODULES = {module.EXERCISE.name: module for module in (
    residual.block, residual.gradient, residual.left, residual.norm, residual.spread, residual.stack)}
RIGHT, WRONG = {}, {}


# -- pre_norm_block --------------------------------------------------------------------------

def loop_block(x, norm, attend, feed):
    for f in (attend, feed):
        x = x + f(norm(x))
    return x


def block(first, second):
    def pre_norm_block(x, norm, attend, feed):
        return second(first(x, norm, attend), norm, feed)
    return pre_norm_block


def good(x, norm, f):
    return x + f(norm(x))


def from_normed(x, norm, f):
    y = norm(x)
    return y + f(y)


def old_x(x, norm, attend, feed):
    h = x + attend(norm(x))
    return x + feed(norm(h))


def old_sight(x, norm, attend, feed):
    return x + attend(norm(x)) + feed(norm(x))


def in_place(x, norm, attend, feed):
    x += attend(norm(x))
    x += feed(norm(x))
    return x


RIGHT["pre_norm_block"] = {
    "solution": written(SOLUTIONS["pre_norm_block"], "pre_norm_block"), "loop": loop_block,
    "float64": lambda x, norm, a, f: loop_block(x.double(), norm, a, f),
    "numpy": lambda x, norm, a, f: loop_block(np.asarray(x), norm, a, f),
    "collected": lambda x, norm, a, f: x + (da := a(norm(x))) + f(norm(x + da)),
    "batch": lambda x, norm, a, f: loop_block(x[None], norm, a, f)[0],
}
WRONG["pre_norm_block"] = {
    "post": (block(*2 * [lambda x, n, f: n(x + f(x))]), "post-norm block still"),
    "normed": (block(from_normed, from_normed), "added to the normed x"),
    "normed second": (block(good, from_normed), "added to the normed x"),
    "final": (lambda x, n, a, f: n(loop_block(x, n, a, f)), "a norm stands at the end"),
    "no residual": (block(*2 * [lambda x, n, f: f(n(x))]), "the residuals are missing"),
    "one residual": (block(good, lambda x, n, f: f(n(x))), "one of the two residuals is missing"),
    "old x": (old_x, "starts from the old x"),
    "old sight": (old_sight, "sees the old x"),
    "twice": (lambda x, n, a, f: x + loop_block(x, n, a, f), "x is counted twice"),
    "no norms": (block(*2 * [lambda x, n, f: x + f(x)]), "the norms are missing"),
    "one norm": (block(good, lambda x, n, f: x + f(x)), "one of the two norms is missing"),
    "output": (block(*2 * [lambda x, n, f: x + n(f(x))]), "the output of the sublayer is normed"),
    "exchanged": (lambda x, n, a, f: loop_block(x, n, f, a), "changed places"),
    "in place": (in_place, "changed its argument x in place"),
}


# -- run_stack -------------------------------------------------------------------------------

def stack(step=lambda x, f, n, first: x + f(n(x)), end=lambda x, n: n(x), order=list):
    def run_stack(x, sublayers, norm):
        first = x
        for f in order(sublayers):
            x = step(x, f, norm, first)
        return end(x, norm)
    return run_stack


def recursive(x, sublayers, norm):
    return recursive(x + sublayers[0](norm(x)), sublayers[1:], norm) if sublayers else norm(x)


RIGHT["run_stack"] = {
    "solution": written(SOLUTIONS["run_stack"], "run_stack"), "recursive": recursive,
    "float64": lambda x, fs, n: recursive(x.double(), fs, n), "numpy": lambda x, fs, n: recursive(np.asarray(x), fs, n),
    "batch": lambda x, fs, n: recursive(x[None], fs, n)[0],
}
WRONG["run_stack"] = {
    "no final": (stack(end=lambda x, n: x), "the final norm is missing"),
    "normed": (stack(lambda x, f, n, first: n(x) + f(n(x))), "added to the normed stream"),
    "post": (stack(lambda x, f, n, first: n(x + f(x))), "this is post-norm"),
    "first x": (stack(lambda x, f, n, first: first + f(n(x))), "added to the first x"),
    "reads first": (stack(lambda x, f, n, first: x + f(n(first))), "reads the first x"),
    "no residual": (stack(lambda x, f, n, first: f(n(x))), "the residual is missing"),
    "no norms": (stack(lambda x, f, n, first: x + f(x)), "without a norm"),
    "output": (stack(lambda x, f, n, first: x + n(f(x))), "the output of the sublayer is normed"),
    "backwards": (stack(order=lambda fs: fs[::-1]), "in the opposite order"),
    "last": (stack(order=lambda fs: fs[-1:]), "only the first or only the last"),
    "first only": (stack(order=lambda fs: fs[:1]), "only the first or only the last"),
}


# -- norm_features ---------------------------------------------------------------------------

def numpy_norm(x, w, b, eps):
    x, w, b = (np.asarray(t) for t in (x, w, b))
    c = x - x.mean(-1, keepdims=True)
    return w * c / np.sqrt((c**2).mean(-1, keepdims=True) + eps) + b


def normed(axis=-1, correction=0, divide=lambda v, e: (v + e).sqrt(), finish=lambda y, w, b: w * y + b):
    def norm_features(x, w, b, eps):
        c = x - x.mean(axis, keepdim=True)
        return finish(c / divide(x.var(axis, keepdim=True, correction=correction), eps), w, b)
    return norm_features


def whole(x, w, b, eps):
    return w * (x - x.mean()) / (x.var(correction=0) + eps).sqrt() + b


def mixed(x, w, b, eps):
    return w * (x - x.mean(-2, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + eps).sqrt() + b


RIGHT["norm_features"] = {
    "solution": written(SOLUTIONS["norm_features"], "norm_features"), "numpy": numpy_norm, "var": normed(),
    "torch": lambda x, w, b, e: functional.layer_norm(x, x.shape[-1:], w, b, e),
    "float64": lambda x, w, b, e: normed()(x.double(), w.double(), b.double(), e),
    "einsum": lambda x, w, b, e: torch.einsum("...d,d->...d", normed(finish=lambda y, w, b: y)(x, w, b, e), w) + b,
}
WRONG["norm_features"] = {
    "tokens": (normed(-2), "normalised over the tokens"),
    "starter": (written(STARTERS["norm_features"], "norm_features"), "normalised over the tokens"),
    "whole": (whole, "one mean and one deviation"),
    "mixed": (mixed, "deviation over the other"),
    "rms": (lambda x, w, b, e: w * functional.rms_norm(x, x.shape[-1:], eps=e) + b, "the mean is not taken away"),
    "d - 1": (normed(correction=1), "one less than the number of features"),
    "outside": (normed(divide=lambda v, e: v.sqrt() + e), "epsilon stands outside the root"),
    "no eps": (normed(divide=lambda v, e: v.sqrt()), "epsilon is left out"),
    "variance": (normed(divide=lambda v, e: v + e), "by the variance in place of its root"),
    "centred": (normed(divide=lambda v, e: torch.ones_like(v)), "only centred"),
    "bare": (normed(finish=lambda y, w, b: y), "weight and bias are not used"),
    "no bias": (normed(finish=lambda y, w, b: w * y), "the bias is missing"),
    "no weight": (normed(finish=lambda y, w, b: y + b), "the weight is missing"),
    "bias first": (normed(finish=lambda y, w, b: w * (y + b)), "the bias is multiplied"),
}


# -- input_gradient --------------------------------------------------------------------------

def back(step, order=lambda js: list(js)[::-1]):
    def input_gradient(jacobians, grad):
        for j in order(jacobians):
            grad = step(j, grad)
        return grad
    return input_gradient


def by_product(jacobians, grad):
    whole = torch.eye(grad.shape[0], dtype=grad.dtype)
    for j in jacobians:
        whole = whole + j @ whole
    return grad @ whole


def by_autograd(jacobians, grad):
    x = first = torch.zeros_like(grad).requires_grad_()
    for j in jacobians:
        x = x + j @ x
    return torch.autograd.grad((x * grad).sum(), first)[0]


def numpy_gradient(jacobians, grad):
    jacobians, grad = np.asarray(jacobians), np.asarray(grad)
    for j in jacobians[::-1]:
        grad = grad + grad @ j
    return grad


RIGHT["input_gradient"] = {
    "solution": written(SOLUTIONS["input_gradient"], "input_gradient"), "product": by_product, "autograd": by_autograd, "numpy": numpy_gradient,
    "einsum": back(lambda j, g: g + torch.einsum("ij,i->j", j, g)),
    "float64": lambda js, g: by_product(js.double(), g.double()),
}
WRONG["input_gradient"] = {
    "not transposed": (back(lambda j, g: g + j @ g), "not transposed"),
    "plain": (back(lambda j, g: j.T @ g), "the plus sign is missing"),
    "skip": (lambda js, g: g.clone(), "only the skip path"),
    "forward": (back(lambda j, g: g + j.T @ g, list), "in the order of the forward pass"),
    "sum": (lambda js, g: g + js.sum(0).T @ g, "paths through more than one layer"),
    "one skip": (lambda js, g: g + back(lambda j, h: j.T @ h)(js, g), "one skip around the whole stack"),
    "minus": (back(lambda j, g: g - j.T @ g), "subtracted"),
    "twice": (back(lambda j, g: 2 * g + j.T @ g), "counted twice"),
}


# -- what_is_left ----------------------------------------------------------------------------

def believes(name, **beliefs):
    """Right, but for some kinds."""
    return lambda kind, *args: beliefs[kind](*args) if kind in beliefs else written(SOLUTIONS[name], name)(kind, *args)


def by_steps(kind, slope, layers):
    x = 1.0
    for _ in range(layers):
        f = slope * x
        x = {"plain": f, "residual": x + f, "scaled": x + f / layers, "rezero": x, "highway": 0.75 * x + 0.25 * f}[kind]
    return x


def left(**beliefs):
    return believes("what_is_left", **beliefs)


RIGHT["what_is_left"] = {
    "solution": written(SOLUTIONS["what_is_left"], "what_is_left"), "steps": by_steps, "numpy": lambda *args: np.float64(by_steps(*args)),
    "tensor": lambda *args: torch.tensor(by_steps(*args), dtype=torch.float64),
}
WRONG["what_is_left"] = {
    "one layer": (lambda kind, s, n: by_steps(kind, s / n if kind == "scaled" else s, 1), "one layer only"),
    "added": (left(plain=lambda s, n: s * n), "added up in place of multiplied"),
    "no residual": (left(residual=lambda s, n: s**n), "the residual is forgotten"),
    "at least 1": (left(residual=lambda s, n: max(1, 1 + s) ** n), "at least 1"),
    "sign": (left(residual=lambda s, n: (1 + abs(s)) ** n), "the sign of the slope"),
    "skip": (left(residual=lambda s, n: 1), "the skip path alone"),
    "scale": (left(scaled=lambda s, n: (1 + s) ** n), "the scale is forgotten"),
    "root": (left(scaled=lambda s, n: (1 + s / n**0.5) ** n), "the root of the number of layers"),
    "rezero nothing": (left(rezero=lambda s, n: 0), "for no connection"),
    "rezero full": (left(rezero=lambda s, n: (1 + s) ** n), "at full scale"),
    "gated": (left(highway=lambda s, n: (1 + 0.25 * s) ** n), "does not touch x"),
    "gate": (left(highway=lambda s, n: (0.25 + 0.75 * s) ** n), "the other way round"),
}


# -- stream_spread ---------------------------------------------------------------------------

def variances(kind, n, s):
    v = 1.0
    for _ in range(n):
        v = 1.0 if kind == "post" else v + (s**2 / n if kind == "rooted" else s**2)
    return 1.0 if kind == "final" else v**0.5


def spread(**beliefs):
    return believes("stream_spread", **beliefs)


RIGHT["stream_spread"] = {
    "solution": written(SOLUTIONS["stream_spread"], "stream_spread"), "steps": variances, "numpy": lambda *args: np.array(variances(*args)),
    "list": lambda *args: [variances(*args)],
}
WRONG["stream_spread"] = {
    "first": (spread(pre=lambda n, s: n**0.5 * s), "the first vector is not counted"),
    "variance": (spread(pre=lambda n, s: 1 + n * s * s), "the variance in place of"),
    "added": (spread(pre=lambda n, s: 1 + n * s), "standard deviations were added"),
    "one": (spread(pre=lambda n, s: (1 + s * s) ** 0.5), "one sublayer only"),
    "kept": (spread(pre=lambda n, s: 1), "pre-norm was thought to keep"),
    "no size": (spread(pre=lambda n, s: (1 + n) ** 0.5), "the size of the parcels is left out"),
    "not squared": (spread(pre=lambda n, s: (1 + n * s) ** 0.5), "s is not squared"),
    "post": (spread(post=lambda n, s: (1 + n * s * s) ** 0.5), "post-norm was thought to grow"),
    "final": (spread(final=lambda n, s: (1 + n * s * s) ** 0.5), "the final norm was forgotten"),
    "root": (spread(rooted=lambda n, s: (1 + n * s * s) ** 0.5), "the root was forgotten"),
    "by n": (spread(rooted=lambda n, s: (1 + s * s / n) ** 0.5), "divided by n"),
    "vanish": (spread(rooted=lambda n, s: 1), "were thought to vanish"),
}


# -- the tests -------------------------------------------------------------------------------

@pytest.mark.parametrize("name, fragment", [
    ("pre_norm_block", "it is a post-norm block still"), ("run_stack", "added to the normed stream"),
    ("norm_features", "normalised over the tokens")])
def test_the_bugs_of_the_starters_are_named(said, name, fragment):
    assert fragment in said(getattr(residual, f"check_{name}"), written(STARTERS[name], name))


def test_the_second_bug_of_the_stack_is_named_when_the_first_is_mended(said):
    started = written(STARTERS["run_stack"], "run_stack")
    assert "added to the normed stream" in said(residual.check_run_stack, lambda x, fs, n: n(started(x, fs, n)))
    assert "the final norm is missing" in said(residual.check_run_stack, stack(end=lambda x, n: x))


def test_the_numbers_of_the_questions_are_right():
    known = questions()
    assert known["ch5-at-least-one"]["answer"] == pytest.approx(0.8**10, abs=1e-4)
    assert known["ch5-final-norm"]["answer"] == variances("pre", 24, 1)
