"""Implement: RoPE in the layout of halves.

rotated(x, start, base): x (..., L, d), d even; row p stands at position start + p. Features i and i + d/2 form pair i
and are turned by position * base^(-2i/d), from the first towards the second. Returns the shape of x.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report


def check_rotated(fn) -> None:
    """Check rotated(x, start, base) and print one message."""
    report(EXERCISE, fn)


def exponents(d):
    """2i / d for each pair of features, (d/2,)."""
    return torch.arange(0, d, 2, dtype=torch.float64) / d


def turn(x, angles, *, halves=True, sign=1):
    """x (..., L, d) by angles (L, d/2) or more axes."""
    a, b = x.chunk(2, -1) if halves else (x[..., 0::2], x[..., 1::2])
    c, s = angles.cos(), sign * angles.sin()
    pair = (a * c - b * s, a * s + b * c)
    return torch.cat(pair, -1) if halves else torch.stack(pair, -1).flatten(-2)


def _rotated(*, positions=lambda x, start: torch.arange(start, start + x.shape[-2], dtype=torch.float64),
             power=exponents, base_used=None, halves=True, sign=1):
    def rotated(x, start, base):
        frequencies = (base_used or base) ** -power(x.shape[-1])
        return turn(x.double(), positions(x, start)[..., None] * frequencies, halves=halves, sign=sign)
    return rotated


right = _rotated()


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    start = int(torch.randint(3, 9, (), generator=generator))
    q, k = normal(generator, 5, 8), normal(generator, 5, 8)

    def scores(fn, args):
        """Scores of turned queries and keys, all 50 places further on."""
        x, start, base = args
        turned = (fn(one if isinstance(x, torch.Tensor) else one.numpy(), start, base) for one in (x, k))
        first, second = (torch.as_tensor(one).double() for one in turned)
        return first @ second.mT

    return [
        Case("angles", "x of shape (3, 8), start 0, base 10000", (normal(generator, 3, 8), 0, 10000.0)),
        Case("base", "x of shape (5, 6), start 0, base 30", (normal(generator, 5, 6), 0, 30.0)),
        Case("start", "x of shape (4, 6), a start above 0, base 30", (normal(generator, 4, 6), start, 30.0)),
        Case("batch", "x of shape (2, 3, 5, 8)", (normal(generator, 2, 3, 5, 8), start, 30.0)),
        Case("relative distance", "scores of q and k of shape (5, 8), all moved by 50", (q, 50, 30.0), scores),
    ]


# -- the mistakes ----------------------------------------------------------------------------

def _mirrored(x, start, base):
    angles = torch.arange(start, start + x.shape[-2]).double()[:, None] * base ** -exponents(x.shape[-1])
    a, b = x.double().chunk(2, -1)
    return torch.cat((a * angles.cos() + b * angles.sin(), a * angles.sin() + b * angles.cos()), -1)


def _swapped(x, start, base):
    angles = torch.arange(start, start + x.shape[-2]).double()[:, None] * base ** -exponents(x.shape[-1])
    return turn(x.double(), torch.pi / 2 - angles)


def _other_axis(x, start, base):
    """Positions along the axis before the last but one."""
    if x.dim() < 3:
        return right(x, start, base)
    return right(x.transpose(-3, -2), start, base).transpose(-3, -2)


MISTAKES = (
    Mistake("nothing was turned", lambda x, start, base: x, "Only position 0 stays as it is."),
    Mistake("neighbours were paired, not halves", _rotated(halves=False),
            "Both layouts are in use. Here feature i belongs to feature i + d/2."),
    Mistake("turned the other way round", _rotated(sign=-1),
            "If queries and keys agree, scores do not mind; here the first of a pair turns towards the second."),
    Mistake("a sign is missing", _mirrored,
            "A rotation keeps the length of each pair: one of the two sines carries a minus."),
    Mistake("sine and cosine have changed places", _swapped, "At position 0 nothing may turn: which of the two is 1?"),
    Mistake("the exponent is too small by a factor of 2", _rotated(power=lambda d: exponents(d) / 2),
            "Pair i has exponent 2i/d; i runs over pairs, not over features."),
    Mistake("the exponent is too large by a factor of 2", _rotated(power=lambda d: exponents(d) * 2),
            "If your loop already counts 0, 2, 4, it holds 2i."),
    Mistake("the exponent is divided by the number of pairs less one",
            _rotated(power=lambda d: torch.arange(d // 2).double() / max(d // 2 - 1, 1)),
            "The slowest pair does not quite reach the base."),
    Mistake("positions begin at 1", _rotated(positions=lambda x, s: torch.arange(s + 1, s + 1 + x.shape[-2]).double()),
            "The first row stands at position start."),
    Mistake("base is 10000, whatever was asked for", _rotated(base_used=10000.0), "Use the argument."),
    Mistake("start is left out", _rotated(positions=lambda x, s: torch.arange(x.shape[-2]).double()),
            "A cache may stand before these rows: the first one is not number 0.", ("start", "batch")),
    Mistake("all rows get the same angle", _rotated(positions=lambda x, s: torch.full((x.shape[-2],), float(s))),
            "Each row has its own position."),
    Mistake("the angle follows another axis than the tokens", _other_axis,
            "Tokens lie on the axis before the last; heads and batch must all be turned alike.", ("batch",)),
)

EXERCISE = Exercise(
    name="rotated",
    usage="rotated(x, start, base)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Shapes: x (..., L, d) with d even, the result the same; row p stands at position start + p.",
)
