"""Chapter 4: each check names the mistakes of its wrong solutions and accepts every right variant, in several draws."""

import math

import numpy as np
import pytest
import torch
from chapter_tests import *  # noqa: F403 - the tests that hold for every chapter
from solutions_softmax import SOLUTIONS, STARTERS
from torch import nn
from torch.nn.functional import cross_entropy

from attnbook import softmax as part
from attnbook.exercises import _report, questions, softmax

EXERCISES, DRAWS = softmax, 12
MODULES = {module.EXERCISE.name: module for module in (
    softmax.backward, softmax.invariance, softmax.loss, softmax.nucleus, softmax.sampler, softmax.tempered)}
RIGHT, WRONG = {}, {}


def soft(z, axis=-1):
    return torch.softmax(z, axis)


# -- tempered --------------------------------------------------------------------------------

def tempered(x, t, divide=lambda x, t: x / t, weigh=soft, zero=part.hard_attention):
    return zero(x) if t == 0 else weigh(divide(x, t))


def with_(**stages):
    return lambda x, t: tempered(x, t, **stages)


def numpy_tempered(x, t):
    x = np.asarray(x, dtype=np.float64)
    if t == 0:
        return (x == x.max(-1, keepdims=True)).astype(float)
    e = np.exp((x - x.max(-1, keepdims=True)) / t)
    return e / e.sum(-1, keepdims=True)


def divided_late(x, t):
    """The maximum is subtracted, then its exponential is raised to 1 / T: no better than right."""
    e = (x - x.amax(-1, keepdim=True)).exp()
    z = e ** (1 / t) if t else (e == 1).float()
    return z / z.sum(-1, keepdim=True)


def naive(x, t):
    e = (x / t).exp()
    return e / e.sum(-1, keepdim=True)


def one_peak(x, t):
    if t == 0:
        return part.hard_attention(x)
    e = ((x - x.max()) / t).exp()
    return e / e.sum(-1, keepdim=True)


def shifted_only_hot(x, t):
    """Right at any size, but at a low temperature the quotient overflows."""
    if t >= 0.01:
        return tempered(x, t)
    return naive(x + 1, t)


RIGHT["tempered"] = {
    "solution": written(SOLUTIONS["tempered"], "tempered"), "torch": tempered, "numpy": numpy_tempered, "power": divided_late,
    "float64": lambda x, t: tempered(x.double(), t), "batch": lambda x, t: tempered(x[None], t),
    "gradient": lambda x, t: tempered(x.clone().requires_grad_(), t), "list": lambda x, t: tempered(x, t).tolist(),
}
WRONG["tempered"] = {
    "plain division": (lambda x, t: x / x.sum(-1, keepdim=True), "not exponentiated"),
    "exponentials": (lambda x, t: (x / t).exp(), "not normalised"),
    "always argmax": (lambda x, t: part.hard_attention(x), "argmax at every temperature"),
    "logarithms": (lambda x, t: torch.log_softmax(x / t, -1), "logarithms of the weights"),
    "rows": (with_(weigh=lambda z: soft(z, 0)), "softmax over the wrong axis"),
    "whole": (with_(weigh=lambda z: soft(z.flatten(), 0).view_as(z)), "one sum for the whole array"),
    "no temperature": (with_(divide=lambda x, t: x), "not used, or has no effect"),
    "divided and normalised": (lambda x, t: soft(x) / t / (soft(x) / t).sum(-1, keepdim=True), "no effect"),
    "after": (lambda x, t: soft(x) / t, "acts after the softmax"),
    "multiplied": (with_(divide=lambda x, t: x * t), "multiplied by the temperature"),
    "square": (with_(divide=lambda x, t: x / t ** 2), "the square or the root"),
    "naive": (naive, "the largest score is not subtracted"),
    "one peak": (one_peak, "one maximum was subtracted for all rows"),
    "cold": (shifted_only_hot, "after the maximum was subtracted"),
    "zero": (lambda x, t: soft((x - x.amax(-1, keepdim=True)) / t), "temperature 0 was divided by"),
    "place": (with_(zero=lambda x: x.argmax(-1)), "the place of the largest"),
    "zero is one": (with_(zero=soft), "taken for no temperature"),
    "uniform": (with_(zero=lambda x: torch.full_like(x, 1 / x.shape[-1])), "equal weights at temperature 0"),
    "nothing": (with_(zero=torch.zeros_like), "nothing at temperature 0"),
}


# -- softmax_backward ------------------------------------------------------------------------

def by_matrix(p, g):
    J = torch.diag_embed(p) - p[..., :, None] * p[..., None, :]
    return (J @ g[..., None])[..., 0]


def by_autograd(p, g):
    x = p.log().requires_grad_()
    return torch.autograd.grad((soft(x) * g).sum(), x)[0]


def numpy_backward(p, g):
    p, g = np.asarray(p), np.asarray(g)
    return p * (g - (p * g).sum(-1, keepdims=True))


RIGHT["softmax_backward"] = {
    "solution": written(SOLUTIONS["softmax_backward"], "softmax_backward"), "matrix": by_matrix, "autograd": by_autograd, "numpy": numpy_backward,
    "einsum": lambda p, g: p * g - p * torch.einsum("...i,...i->...", p, g)[..., None],
    "float64": lambda p, g: by_matrix(p.double(), g.double()),
}
WRONG["softmax_backward"] = {
    "first term": (lambda p, g: p * g, "only the first term"),
    "diagonal": (lambda p, g: p * (1 - p) * g, "only the diagonal"),
    "second term": (lambda p, g: -p * (p * g).sum(-1, keepdim=True), "only the second term"),
    "no factor": (lambda p, g: g - (p * g).sum(-1, keepdim=True), "the factor in front is missing"),
    "plain sum": (lambda p, g: p * (g - g.sum(-1, keepdim=True)), "the plain sum"),
    "plain mean": (lambda p, g: p * (g - g.mean(-1, keepdim=True)), "the plain mean"),
    "sign": (lambda p, g: -by_matrix(p, g), "the sign is reversed"),
    "twice": (lambda p, g: by_matrix(soft(p), g), "applied to the shares again"),
    "handed on": (lambda p, g: g.clone(), "handed on as it came"),
    "axis": (lambda p, g: p * (g - (p * g).sum(0, keepdim=True)), "the wrong axis"),
    "whole": (lambda p, g: p * (g - (p * g).sum()), "one sum for all rows"),
}


# -- keep_nucleus ----------------------------------------------------------------------------

def ranked(q, p, keep):
    order = q.argsort(descending=True)
    kept = torch.zeros(len(q), dtype=torch.bool)
    kept[order] = keep(q[order])
    return kept


def by_part(q, p):
    return part.keep_top_p(q.log(), p) > -torch.inf


def by_loop(q, p):
    kept, total = [False] * len(q), 0.0
    for i in sorted(range(len(q)), key=lambda i: -float(q[i])):
        if total >= p:
            break
        kept[i], total = True, total + float(q[i])
    return kept


def by_count(q, p):
    n = int((q.sort(descending=True).values.cumsum(0) < p).sum()) + 1
    return torch.isin(torch.arange(len(q)), q.topk(min(n, len(q))).indices)


def numpy_nucleus(q, p):
    q = np.asarray(q)
    order = np.argsort(-q)
    kept = np.zeros(len(q), dtype=int)
    kept[order[: np.searchsorted(np.cumsum(q[order]), p) + 1]] = 1
    return kept


RIGHT["keep_nucleus"] = {"solution": written(SOLUTIONS["keep_nucleus"], "keep_nucleus"), "part": by_part, "loop": by_loop, "count": by_count,
                         "numpy": numpy_nucleus}
WRONG["keep_nucleus"] = {
    "drops": (lambda q, p: ranked(q, p, lambda r: r.cumsum(0) <= p), "the token that crosses p is dropped"),
    "too many": (lambda q, p: ranked(q, p, lambda r: torch.arange(len(r)) < (r.cumsum(0) < p).sum() + 2), "one token too many"),
    "single": (lambda q, p: q >= p, "compared with single tokens"),
    "exchanged": (lambda q, p: ~by_part(q, p), "the kept and the dropped"),
    "all": (lambda q, p: q > 0, "all tokens are kept"),
    "best": (lambda q, p: q == q.max(), "only the best token"),
    "worst first": (lambda q, p: worst_first(q, p), "least likely tokens come first"),
    "ranking": (lambda q, p: q.sort(descending=True).values.cumsum(0) - q.sort(descending=True).values < p,
                "in the order of the ranking"),
    "unranked": (lambda q, p: q.cumsum(0) - q < p, "never ranked"),
    "gather": (lambda q, p: (q.sort(descending=True).values.cumsum(0) - q.sort(descending=True).values < p)[
        q.argsort(descending=True)], "the wrong direction"),
}


def worst_first(q, p):
    order = q.argsort()
    kept = torch.zeros(len(q), dtype=torch.bool)
    kept[order] = q[order].cumsum(0) - q[order] < p
    return kept


# -- next_probabilities ----------------------------------------------------------------------

def sampler(divide=lambda z, t: z / t, cut=part.keep_top_k, weigh=soft):
    return lambda z, t, k: weigh(cut(divide(z, t), k))


def cut_first(z, t, k):
    return soft(part.keep_top_k(z, k) / t)


def renormalised(z, t, k):
    p = soft(z / t)
    p = torch.where(p >= p.topk(k, -1).values[..., -1:], p, 0.0)
    return p / p.sum(-1, keepdim=True)


def numpy_sampler(z, t, k):
    z = np.asarray(z, dtype=np.float64) / t
    z = np.where(z >= np.sort(z, -1)[..., -k:][..., :1], z, -np.inf)
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def late(z, t, k):
    p = soft(z / t)
    return torch.where(p >= p.topk(k, -1).values[..., -1:], p, 0.0)


RIGHT["next_probabilities"] = {"solution": written(SOLUTIONS["next_probabilities"], "next_probabilities"), "part": sampler(), "cut first": cut_first,
                               "renormalised": renormalised, "numpy": numpy_sampler}
WRONG["next_probabilities"] = {
    "logits": (lambda z, t, k: z / t, "the logits were returned"),
    "logarithms": (lambda z, t, k: torch.log_softmax(z / t, -1), "logarithms of the probabilities"),
    "twice": (sampler(weigh=lambda z: soft(soft(z))), "softmax was applied twice"),
    "after": (lambda z, t, k: late(z, 1, k) / t, "divides the probabilities"),
    "no effect": (lambda z, t, k: renormalised(z, 1, k), "the temperature has no effect"),
    "multiplied": (sampler(divide=lambda z, t: z * t), "multiplied by the temperature"),
    "T twice": (sampler(divide=lambda z, t: z / t / t), "applied twice"),
    "no cut": (sampler(cut=lambda z, k: z), "the tail was never cut"),
    "late": (late, "not normalised again"),
    "zero": (sampler(cut=lambda z, k: part.keep_top_k(z, k).masked_fill(part.keep_top_k(z, k) == -torch.inf, 0.0)),
             "hidden logits are set to 0"),
    "worst": (sampler(cut=lambda z, k: z.masked_fill(z > z.sort(-1).values[..., k - 1:k], -torch.inf)), "the k worst"),
    "too few": (sampler(cut=lambda z, k: part.keep_top_k(z, k - 1)), "one token too few"),
    "too many": (sampler(cut=lambda z, k: part.keep_top_k(z, k + 1)), "one token too many"),
    "one threshold": (sampler(cut=lambda z, k: z.masked_fill(z < z.flatten().topk(k).values[-1], -torch.inf)),
                      "one threshold for all rows"),
    "axis": (sampler(weigh=lambda z: soft(z, 0) if z.dim() == 1 else soft(z, 1)), "softmax over the wrong axis"),
}


# -- mean_loss -------------------------------------------------------------------------------

def flat(z, y):
    return z.flatten(0, -2), y.flatten()


def by_logsumexp(z, y):
    return (torch.logsumexp(z, -1) - z.gather(-1, y[..., None])[..., 0]).mean()


def numpy_loss(z, y):
    z, y = np.asarray(z, dtype=np.float64).reshape(-1, 10), np.asarray(y).reshape(-1)
    z = z - z.max(-1, keepdims=True)
    return float((np.log(np.exp(z).sum(-1)) - z[np.arange(len(y)), y]).mean())


def of_target(x, y):
    return x.gather(-1, y[..., None])[..., 0]


RIGHT["mean_loss"] = {
    "solution": written(SOLUTIONS["mean_loss"], "mean_loss"), "logsumexp": by_logsumexp, "numpy": numpy_loss,
    "log-softmax first": lambda z, y: cross_entropy(*flat(torch.log_softmax(z, -1), y)),  # twice makes no difference
    "float64": lambda z, y: by_logsumexp(z.double(), y), "item": lambda z, y: by_logsumexp(z, y).item(),
    "one number in a list": lambda z, y: [by_logsumexp(z, y).item()],
}
WRONG["mean_loss"] = {
    "twice": (lambda z, y: cross_entropy(*flat(soft(z), y)), "softmax is applied twice"),
    "sum": (lambda z, y: cross_entropy(*flat(z, y), reduction="sum"), "the sum in place of the mean"),
    "each": (lambda z, y: -of_target(torch.log_softmax(z, -1), y), "one loss for each target"),
    "bits": (lambda z, y: by_logsumexp(z, y) / math.log(2), "bits in place of nats"),
    "sign": (lambda z, y: -by_logsumexp(z, y), "the sign is reversed"),
    "no log": (lambda z, y: 1 - of_target(soft(z), y).mean(), "no logarithm"),
    "logit": (lambda z, y: -of_target(z, y).mean(), "the logit was taken"),
    "all": (lambda z, y: -torch.log_softmax(z, -1).mean(), "the mean over all tokens"),
    "rows": (lambda z, y: -of_target(torch.log_softmax(z, 0), y).mean(), "softmax over the rows"),
    "log of softmax": (lambda z, y: -of_target(soft(z).log(), y).mean(), "the logarithm of 0"),
}


# -- same_weights ----------------------------------------------------------------------------

def believes(**beliefs):
    wrong = {kind.replace("_", " "): answer for kind, answer in beliefs.items()}
    return lambda change, c: wrong.get(change.replace(",", ""), written(SOLUTIONS["same_weights"], "same_weights")(change, c))


def by_experiment(change, c):
    x = torch.linspace(-1, 2, 5, dtype=torch.float64) ** 3
    w, one = part.softmax(x), torch.zeros(5, dtype=torch.float64)
    one[0] = c
    new = {"add to all": lambda: soft(x + c), "add to one": lambda: soft(x + one), "multiply": lambda: soft(c * x),
           "multiply, and T": lambda: soft(c * x / c), "subtract the peak": lambda: soft(x - x.max() + c),
           "shares again": lambda: w / c / (w / c).sum(), "softmax twice": lambda: soft(c * w)}[change]()
    return torch.allclose(new, w, atol=1e-9)


RIGHT["same_weights"] = {
    "solution": written(SOLUTIONS["same_weights"], "same_weights"), "experiment": by_experiment,
    "integers": lambda change, c: int(written(SOLUTIONS["same_weights"], "same_weights")(change, c)),
    "numpy": lambda change, c: np.bool_(written(SOLUTIONS["same_weights"], "same_weights")(change, c)),
}
WRONG["same_weights"] = {
    "constant": (believes(add_to_all=False), "a constant on all scores"),
    "peak": (believes(subtract_the_peak=False), "subtracting the peak"),
    "one": (believes(add_to_one=True), "a change of one score"),
    "exchanged": (lambda change, c: not written(SOLUTIONS["same_weights"], "same_weights")(change, c), "are exchanged"),
    "factor": (believes(multiply=True), "a factor was thought harmless"),
    "never": (believes(multiply=False), "a factor that changes nothing"),
    "T": (believes(multiply_and_T=False), "not set off against each other"),
    "shares": (believes(shares_again=False), "a division of the weights"),
    "twice": (believes(softmax_twice=True), "a second softmax"),
}


# -- the tests -------------------------------------------------------------------------------

@pytest.mark.parametrize("name, fragment", [
    ("keep_nucleus", "the token that crosses p is dropped"), ("mean_loss", "softmax is applied twice"),
    ("next_probabilities", "the temperature divides the probabilities")])
def test_the_bugs_of_the_starters_are_named(said, name, fragment):
    assert fragment in said(getattr(softmax, f"check_{name}"), written(STARTERS[name], name))


def test_the_value_error_of_a_right_signature_is_told():
    def fails(change, c):
        raise ValueError("bad")

    assert "raised ValueError: bad" in _report.message(softmax.invariance.EXERCISE, fails)


def test_the_numbers_of_the_questions_are_right():
    known = questions()
    p = part.softmax(torch.tensor([0.8, 0.2], dtype=torch.float64).log(), temperature=2.0)
    assert known["ch4-temperature-after"]["answer"] == pytest.approx(p.max().item(), abs=1e-4)
    row = torch.tensor([0.5, 0.3, 0.15, 0.05], dtype=torch.float64).log()
    assert known["ch4-top-p"]["answer"] == (part.keep_top_p(row, 0.6) > -torch.inf).sum()
