"""Implement: softmax with a temperature, for scores of any size and down to T = 0.

tempered(x, temperature): x (..., n), temperature at least 0. Returns the softmax of x / temperature along the last axis;
at temperature 0 the one-hot rows of the largest scores. No two scores of a row are equal.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, holds_nan, normal
from attnbook.exercises._report import report


def check_tempered(fn) -> None:
    """Check tempered(x, temperature) and print one message."""
    report(EXERCISE, fn)


def _one_hot(x):
    return (x == x.amax(-1, keepdim=True)).to(x.dtype)


def _tempered(weigh=lambda z: torch.softmax(z, -1), divide=lambda x, t: x / t, zero=_one_hot):
    """divide -> weigh, with one stage changed."""
    def fn(x, t):
        return zero(x) if t == 0 else weigh(divide(x - x.amax(-1, keepdim=True), t))
    return fn


right = _tempered()


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    giants = normal(generator, 2, 3, 5) + torch.tensor([1e4, -1e4, 0.0])[:, None]
    return [
        Case("shares", "x of shape (5,), temperature 1.0", (normal(generator, 5), 1.0)),
        Case("axis", "x of shape (3, 5), temperature 1.0", (normal(generator, 3, 5), 1.0)),
        Case("temperature", "x of shape (2, 3, 5), temperature 0.4", (normal(generator, 2, 3, 5), 0.4)),
        Case("size", "x of shape (2, 3, 5), one row near 10000 and one near -10000, temperature 2.0", (giants, 2.0)),
        Case("cold", "x of shape (2, 3, 5), temperature 0.001", (_apart(generator), 1e-3)),
        Case("zero", "x of shape (2, 3, 5), temperature 0", (_apart(generator), 0)),
    ]


def _apart(generator):
    """Scores of a row at least 0.5 from each other: at a low temperature none of them is nearly equal."""
    order = torch.rand(2, 3, 5, generator=generator).argsort(-1)
    return 0.7 * order - 1 + 0.1 * torch.rand(2, 3, 5, generator=generator)


# -- the mistakes ----------------------------------------------------------------------------

def _plain(peak):
    """Exponentials of (x - peak) / T by their sum; at T = 0 as it should be."""
    def fn(x, t):
        e = ((x - peak(x)) / t).exp()
        return e / e.sum(-1, keepdim=True)
    return fn


def _after(x, t):
    return torch.softmax(x, -1)


MISTAKES = (
    Mistake("the scores were not exponentiated", lambda x, t: x / x.sum(-1, keepdim=True),
            "Plain division has no use for a negative score; the exponential comes first.", ("shares",)),
    Mistake("the exponentials were not normalised", (lambda x, t: (x / t).exp(), _tempered(weigh=torch.exp)),
            "They are positive but sum to anything; divide each row by its sum.", ("shares",)),
    Mistake("argmax at every temperature", lambda x, t: _one_hot(x),
            "The winner takes all at temperature 0 only.", ("shares",)),
    Mistake("logarithms of the weights", lambda x, t: torch.log_softmax(x / t, -1),
            "The weights themselves were asked for.", ("shares",)),
    Mistake("softmax over the wrong axis", (lambda x, t: torch.softmax(x / t, -2), lambda x, t: torch.softmax(x / t, 0)),
            "Each row shares out 1 along its last axis.", ("axis",)),
    Mistake("one sum for the whole array", lambda x, t: torch.softmax((x / t).flatten(), 0).view_as(x),
            "Each row has its own sum: sum along the last axis and keep that axis.", ("axis",)),
    Mistake("the temperature is not used, or has no effect", _after,
            "A temperature that divides the finished weights vanishes when they are normalised again. "
            "It must act on the scores.", ("temperature",)),
    Mistake("the temperature acts after the softmax",
            (lambda x, t: _after(x, t) / t, lambda x, t: torch.softmax(_after(x, t) / t, -1)),
            "There it stretches weights that are made already. It must act on the scores.", ("temperature",)),
    Mistake("the scores were multiplied by the temperature", _tempered(divide=lambda x, t: x * t),
            "A low temperature must sharpen the choice; here it blurs it.", ("temperature",)),
    Mistake("the square or the root of the temperature",
            (_tempered(divide=lambda x, t: x / t ** 2), _tempered(divide=lambda x, t: x / t ** 0.5)),
            "The scores are divided by the temperature itself.", ("temperature",)),
    Mistake("the largest score is not subtracted", _plain(lambda x: 0.0),
            "The exponential of a large number overflows. Subtract the maximum of each row first; no weight changes.",
            ("size",)),
    Mistake("one maximum was subtracted for all rows",
            (_plain(lambda x: x.max()), _plain(lambda x: x.amax((-2, -1), keepdim=True))),
            "A row far below it underflows to zero divided by zero. Each row needs its own maximum.", ("size",)),
    Mistake("the division makes large numbers after the maximum was subtracted", (),
            "At a low temperature the quotients overflow again. Subtract the maximum last, or before the division and "
            "from the scores.", ("cold",), sign=holds_nan),
    Mistake("temperature 0 was divided by", (), "A quotient by 0 has no value here. The case T = 0 is defined apart: the "
            "largest score of a row takes all.", ("zero",), sign=holds_nan),
    Mistake("the place of the largest in place of weights", _tempered(zero=lambda x: x.argmax(-1)),
            "A place is one number a row; weights are one number a score.", ("zero",)),
    Mistake("temperature 0 was taken for no temperature", _tempered(zero=lambda x: torch.softmax(x, -1)),
            "As T falls, the row sharpens; T = 0 is the sharp end.", ("zero",)),
    Mistake("equal weights at temperature 0", _tempered(zero=lambda x: torch.ones_like(x) / x.shape[-1]),
            "Equal weights are the hot end. T = 0 is the cold one.", ("zero",)),
    Mistake("nothing at temperature 0", _tempered(zero=torch.zeros_like),
            "One share must stay: that of the largest score.", ("zero",)),
)

EXERCISE = Exercise(
    name="tempered",
    usage="tempered(x, temperature)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="x (..., n) holds rows of scores along its last axis; the result has the shape of x and rows that sum to 1.",
)
