"""Chapter 3: each check names the mistakes of its wrong solutions and accepts every right variant, in 20 draws."""

import io
import math
from contextlib import redirect_stdout

import numpy as np
import pytest
import torch
from torch.nn import functional

from attnbook.exercises import questions, scaling
from attnbook.scaling import SelfAttention, qk_norm

DRAWS = 20
RIGHT, WRONG = {}, {}


def said(name, fn):
    """The one message of a check, on one line."""
    out = io.StringIO()
    with redirect_stdout(out):
        assert getattr(scaling, f"check_{name}")(fn) is None
    return " ".join(out.getvalue().split())


def heads(x, n):
    return x.reshape(*x.shape[:-1], n, -1).transpose(-3, -2)


# -- scaled_scores ------------------------------------------------------------------------

RIGHT["scaled_scores"] = {
    "divide the scores": lambda q, k: torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1)),
    "divide the queries": lambda q, k: q / q.shape[-1] ** 0.5 @ k.mT,
    "fourth roots on both": lambda q, k: (q / q.shape[-1] ** 0.25) @ (k / k.shape[-1] ** 0.25).mT,
    "einsum": lambda q, k: torch.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5,
    "numpy": lambda q, k: np.matmul(np.asarray(q), np.swapaxes(np.asarray(k), -1, -2)) / np.sqrt(q.shape[-1]),
    "float64": lambda q, k: q.double() @ k.double().mT / q.shape[-1] ** 0.5,
}
WRONG["scaled_scores"] = {
    "forgotten": (lambda q, k: q @ k.mT, "not scaled"),
    "d": (lambda q, k: q @ k.mT / q.shape[-1], "d_k in place of its root"),
    "twice": (lambda q, k: q / q.shape[-1] ** 0.5 @ (k / k.shape[-1] ** 0.5).mT, "d_k in place of its root"),
    "keys": (lambda q, k: q @ k.mT / k.shape[-2] ** 0.5, "number of keys or queries"),
    "multiplied": (lambda q, k: q @ k.mT * q.shape[-1] ** 0.5, "multiplied in place of divided"),
    "weights": (lambda q, k: (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1), "softmax is applied"),
    "swapped": (lambda q, k: k @ q.mT / q.shape[-1] ** 0.5, "expected (3, 5)"),
    "constant divisor": (lambda q, k: q @ k.mT / 7 ** 0.5, "shape (5, 12)"),
}

# -- head_weights -------------------------------------------------------------------------


def head_weights(divisor, split=heads, axis=-1):
    def fn(x, w_q, w_k, n):
        q, k = split(x @ w_q, n), split(x @ w_k, n)
        return (q @ k.transpose(-2, -1) / divisor(x, n)).softmax(axis)
    return fn


def by_slices(x, w_q, w_k, n):
    d = x.shape[-1] // n
    parts = [(x @ w_q[:, h * d:(h + 1) * d], x @ w_k[:, h * d:(h + 1) * d]) for h in range(n)]
    return torch.stack([(q @ k.mT / d**0.5).softmax(-1) for q, k in parts], -3)


def by_layer(x, w_q, w_k, n):
    layer = SelfAttention(x.shape[-1], n)
    with torch.no_grad():
        layer.query.weight.copy_(w_q.T)
        layer.key.weight.copy_(w_k.T)
        return layer(x)[1]


root = head_weights(lambda x, n: (x.shape[-1] / n) ** 0.5)
RIGHT["head_weights"] = {
    "divide the scores": root, "slice by slice": by_slices, "as a layer": by_layer,
    "float64": lambda x, q, k, n: root(x.double(), q.double(), k.double(), n),
}
WRONG["head_weights"] = {
    "d_model root": (head_weights(lambda x, n: x.shape[-1] ** 0.5), "root of d_model in place of d_k"),
    "d_k": (head_weights(lambda x, n: x.shape[-1] // n), "d_k in place of its root"),
    "d_model": (head_weights(lambda x, n: x.shape[-1]), "divided by d_model"),
    "forgotten": (head_weights(lambda x, n: 1), "not scaled"),
    "words": (head_weights(lambda x, n: x.shape[-2] ** 0.5), "number of words"),
    "heads": (head_weights(lambda x, n: n ** 0.5), "number of heads"),
    "multiplied": (head_weights(lambda x, n: (x.shape[-1] // n) ** -0.5), "multiplied"),
    "queries": (head_weights(lambda x, n: (x.shape[-1] // n) ** 0.5, axis=-2), "softmax over the queries"),
    "late": (lambda x, q, k, n: head_weights(lambda x, n: 1)(x, q, k, n) / (x.shape[-1] // n) ** 0.5, "after softmax"),
    "reshape": (head_weights(lambda x, n: (x.shape[-1] // n) ** 0.5,
                             lambda x, n: x.reshape(*x.shape[:-2], n, x.shape[-2], -1)), "reshape alone"),
}

# -- score_moments ------------------------------------------------------------------------


def moments(kind, d, s):
    if kind == "same":
        return d * s * s, s * s * math.sqrt(2 * d)
    if kind == "one number":
        return 0.0, d * s * s
    return 0.0, s * s * (math.sqrt(d) if kind == "independent" else 1.0)


RIGHT["score_moments"] = {"tuple": moments, "list": lambda *a: list(moments(*a)),
                          "tensor": lambda *a: torch.tensor(moments(*a)), "numpy": lambda *a: np.array(moments(*a))}
WRONG["score_moments"] = {
    "variance": (lambda kind, d, s: (moments(kind, d, s)[0], moments(kind, d, s)[1] ** 2), "the variance"),
    "d": (lambda kind, d, s: (0, d * s * s), "variance in place"),
    "no spread": (lambda kind, d, s: moments(kind, d, 1), "spread of the entries is left out"),
    "spread once": (lambda kind, d, s: (moments(kind, d, s)[0], moments(kind, d, s)[1] / s), "counted once"),
    "always the root": (lambda kind, d, s: (0, s * s * d**0.5), "not scaled"),
    "one number cancels": (lambda kind, d, s: (0, s * s * d**0.5) if kind == "one number" else moments(kind, d, s),
                           "nothing cancels"),
    "mean zero": (lambda kind, d, s: (0, moments(kind, d, s)[1]), "mean 0 for a query"),
    "same as independent": (lambda kind, d, s: (moments(kind, d, s)[0], s * s * d**0.5) if kind == "same"
                            else moments(kind, d, s), "spread of independent"),
    "swapped": (lambda *a: moments(*a)[::-1], "changed places"),
    "one of two": (lambda *a: moments(*a)[1], "expected (2,)"),
}

# -- jacobian_norms -----------------------------------------------------------------------


def jacobian(s, axis=-1):
    p = torch.softmax(s, axis)
    return torch.diag_embed(p) - p.unsqueeze(-1) * p.unsqueeze(-2)


def by_sums(s):
    p = torch.softmax(s.double(), -1)
    two, three = (p**2).sum(-1), (p**3).sum(-1)
    return (two - 2 * three + two**2).clamp(min=0).sqrt()


def by_numpy(s):
    e = np.exp(np.asarray(s) - np.asarray(s).max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    j = p[..., :, None] * (np.eye(p.shape[-1]) - p[..., None, :])
    return np.linalg.norm(j, axis=(-2, -1))


RIGHT["jacobian_norms"] = {"matrix": lambda s: jacobian(s).flatten(-2).norm(dim=-1), "sums": by_sums, "numpy": by_numpy,
                           "linalg": lambda s: torch.linalg.matrix_norm(jacobian(s))}
WRONG["jacobian_norms"] = {
    "squared": (lambda s: jacobian(s).square().sum((-2, -1)), "squared norm"),
    "spectral": (lambda s: torch.linalg.matrix_norm(jacobian(s), 2), "largest singular value"),
    "diagonal": (lambda s: jacobian(s).diagonal(dim1=-2, dim2=-1).norm(dim=-1), "only the diagonal"),
    "mean": (lambda s: jacobian(s).square().mean((-2, -1)).sqrt(), "a mean in place of a sum"),
    "absolute": (lambda s: jacobian(s).abs().sum((-2, -1)), "absolute values"),
    "matrix": (jacobian, "the Jacobian itself"),
    "queries": (lambda s: torch.linalg.matrix_norm(jacobian(s, -2)), "over the queries"),
    "no softmax": (lambda s: torch.linalg.matrix_norm(torch.diag_embed(s) - s.unsqueeze(-1) * s.unsqueeze(-2)),
                   "scores in place of the weights"),
    "one norm": (lambda s: jacobian(s).norm(), "one norm for all rows"),
    "overflow": (lambda s: torch.linalg.matrix_norm((p := s.exp() / s.exp().sum(-1, keepdim=True)).diag_embed()
                                                    - p.unsqueeze(-1) * p.unsqueeze(-2)), "NaN"),
}

# -- divisor_of ---------------------------------------------------------------------------


def probed(attend, d, gap=1.0, dtype=torch.float32):
    q, k = torch.zeros(1, d, dtype=dtype), torch.zeros(2, d, dtype=dtype)
    q[0, -1], k[1, -1] = gap, 1.0
    return attend(q, k, torch.eye(2, dtype=dtype))[0]


def by_gradient(attend, d):
    q, k = torch.zeros(1, d), torch.zeros(2, d)
    k[0, 0] = 1
    q.requires_grad_()
    return 0.25 / torch.autograd.grad(attend(q, k, torch.eye(2))[0, 0], q)[0][0, 0]


RIGHT["divisor_of"] = {
    "log ratio": lambda attend, d: 1 / (lambda w: (w[1] / w[0]).log())(probed(attend, d)),
    "wider gap": lambda attend, d: 3 / (lambda w: (w[1] / w[0]).log())(probed(attend, d, 3.0)),
    "logit": lambda attend, d: 1 / torch.logit(probed(attend, d, dtype=torch.float64)[1]).item(),
    "slope at zero": by_gradient,
}
WRONG["divisor_of"] = {
    "root": (lambda attend, d: d**0.5, "whatever attend does"),
    "factor": (lambda attend, d: torch.logit(probed(attend, d)[1]), "factor in place of the divisor"),
    "ratio": (lambda attend, d: (lambda w: w[1] / w[0])(probed(attend, d)), "logarithm is missing"),
    "base 2": (lambda attend, d: 1 / (lambda w: (w[1] / w[0]).log2())(probed(attend, d)), "base 2 or 10"),
    "square": (lambda attend, d: torch.logit(probed(attend, d)[1]) ** -2, "square of the divisor"),
    "one weight": (lambda attend, d: 1 / probed(attend, d)[1], "a weight in place of a ratio"),
}

# -- unit_weights -------------------------------------------------------------------------


def unit(on_q=lambda x: functional.normalize(x, dim=-1), on_k=None, scale=lambda s, f, d: s * f, axis=-1):
    def fn(q, k, factor):
        return (scale(on_q(q) @ (on_k or on_q)(k).transpose(-2, -1), factor, q.shape[-1])).softmax(axis)
    return fn


def same(x):
    return x


RIGHT["unit_weights"] = {
    "normalize": unit(), "norm": unit(lambda x: x / x.norm(dim=-1, keepdim=True)),
    "cosine": lambda q, k, f: (f * functional.cosine_similarity(q.unsqueeze(-2), k.unsqueeze(-3), -1)).softmax(-1),
    "divide the scores": lambda q, k, f: (
        f * (q @ k.mT) / (q.norm(dim=-1)[..., None] * k.norm(dim=-1)[..., None, :])).softmax(-1),
    "the book's": lambda q, k, f: (lambda a, b: (a @ b.mT * f).softmax(-1))(*qk_norm(q, k)),
}
WRONG["unit_weights"] = {
    "keys": (unit(on_k=same), "keys keep their length"),
    "queries": (unit(same, lambda x: functional.normalize(x, dim=-1)), "queries keep their length"),
    "nothing": (unit(same), "nothing is normalised"),
    "squared": (unit(lambda x: x / x.square().sum(-1, keepdim=True)), "squared length"),
    "axis": (unit(lambda x: functional.normalize(x, dim=-2)), "wrong axis"),
    "whole": (unit(lambda x: x / x.norm()), "whole matrix"),
    "root too": (unit(scale=lambda s, f, d: s * f / d**0.5), "root of d_k as well"),
    "divided": (unit(scale=lambda s, f, d: s / f), "divided by the factor"),
    "ignored": (unit(scale=lambda s, f, d: s), "not used"),
    "cosines": (lambda q, k, f: f * functional.normalize(q, dim=-1) @ functional.normalize(k, dim=-1).mT,
                "cosines themselves"),
    "queries axis": (unit(axis=-2), "over the queries"),
}


def each(table):
    return [pytest.param(name, fn, id=f"{name}-{label}")
            for name, found in table.items() for label, fn in found.items()]


@pytest.mark.parametrize("name, fn", each(RIGHT))
def test_right_solutions_pass(name, fn):
    for _ in range(DRAWS):
        text = said(name, fn)
        assert text.startswith(f"{name}: passed on new inputs"), text


@pytest.mark.parametrize("name, fn", each(WRONG))
def test_wrong_solutions_are_named(name, fn):
    fn, words = fn
    for _ in range(DRAWS):
        text = said(name, fn)
        assert text.startswith(f"{name}: not right yet") and words in text, text


@pytest.mark.parametrize("name", WRONG)
def test_every_exercise_has_enough_wrong_and_right_ways(name):
    assert len(WRONG[name]) >= 6 and len(RIGHT[name]) >= 4


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("value", [None, "text", float("nan"), torch.ones(2, 2, 2, 2, 2), [], {}, 1j], ids=str)
def test_any_return_value_gets_one_message(name, value):
    text = said(name, lambda *args: value)
    assert text.startswith(f"{name}: not ") and "could not finish" not in text


@pytest.mark.parametrize("name", WRONG)
def test_exceptions_and_wrong_signatures_get_one_message(name):
    def broken(*args):
        raise ValueError("bad")

    assert "raised ValueError: bad" in said(name, broken)
    assert f"expected {name}(" in said(name, lambda: 1)
    assert "needs the function itself" in said(name, 3)


# -- the questions ------------------------------------------------------------------------

ASKED = {name: question for name, question in questions().items() if name.startswith("ch3-")}


def test_the_chapter_asks_enough_of_each_kind():
    kinds = [question["kind"] for question in ASKED.values()]
    assert len(kinds) >= 6 and set(kinds) == {"choice", "number", "order"}


@pytest.mark.parametrize("name, answer", [("ch3-which-d", (512 / 8) ** 0.5), ("ch3-std", 2 * 2 * 256**0.5)])
def test_numbers_are_right(name, answer):
    assert ASKED[name]["answer"] == answer


def test_the_largest_of_many_scores():
    """ch3-bounded: about 3.2 among 1000, and 4.4 among 100 000."""
    generator = torch.Generator().manual_seed(0)
    assert torch.randn(2000, 1000, generator=generator).amax(-1).mean().item() == pytest.approx(3.24, abs=0.05)
    assert torch.randn(50, 100_000, generator=generator).amax(-1).mean().item() == pytest.approx(4.39, abs=0.1)


@pytest.mark.parametrize("name", [name for name, question in ASKED.items() if question["kind"] == "choice"])
def test_each_answer_has_its_own_feedback(name):
    for language in ("en", "zh"):
        feedback = [option["why"][language] for option in ASKED[name]["options"]]
        assert len(set(feedback)) == len(feedback)
        assert sum(option["right"] for option in ASKED[name]["options"]) == 1
