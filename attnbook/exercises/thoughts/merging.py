"""Implement: merge two partial results of attention.

merged(out_a, lse_a, out_b, lse_b): out (..., L, d) are weighted means over two disjoint sets of keys, lse (..., L) the logarithms
of their sums of exponentials. Returns (out, lse) over both sets.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, holds_nan, normal
from attnbook.exercises._report import report
from attnbook.exercises._returned import Unreadable, numbers
from attnbook.tiled import merge_partials


def check_merged(fn) -> None:
    """Check merged(out_a, lse_a, out_b, lse_b) and print one message."""
    report(EXERCISE, fn)


def right(out_a, lse_a, out_b, lse_b):
    return merge_partials(out_a, lse_a, out_b, lse_b)


def read(value):
    """The pair as one array: out, and lse as one more column."""
    if not issubclass(type(value), (tuple, list)) or len(value) != 2:
        raise Unreadable("something other than a pair; expected (out, lse)")
    out, lse = (numbers(part) for part in value)
    if out.shape[:-1] != lse.shape:
        raise Unreadable(f"out of shape {tuple(out.shape)} and lse of shape {tuple(lse.shape)}; expected (..., L, d) and (..., L)")
    return torch.cat([out, lse[..., None]], -1)


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    one = _parts(generator, 1, 3)
    empty = list(_parts(generator, 2, 3))
    empty[0], empty[1] = torch.zeros(2, 3), torch.full((2,), -torch.inf)
    return [
        Case("one row", "out (1, 3) and lse (1,), twice", one),
        Case("rows", "out (2, 4, 3) and lse (2, 4), twice", _parts(generator, 2, 4, 3)),
        Case("large", "out (2, 3) and lse (2,) near 500, twice", _parts(generator, 2, 3, shift=500.0), tolerance=1e-3),
        Case("small", "out (2, 3) and lse (2,) near -500, twice", _parts(generator, 2, 3, shift=-500.0), tolerance=1e-3),
        Case("one empty", "out_a zeros (2, 3), lse_a -inf (2,), out_b (2, 3), lse_b (2,)", tuple(empty)),
    ]


def _parts(generator, *shape, shift=0.0):
    """Sums that differ by 1 or 2, so that no mistake hides behind equal shares."""
    rows = shape[:-1]
    gap = 1 + torch.rand(rows, generator=generator)
    first = normal(generator, *rows) + shift
    return normal(generator, *shape), first, normal(generator, *shape) + 1, first + gap


# -- the mistakes ----------------------------------------------------------------------------

def _plain(lse=lambda a, b: torch.logaddexp(a, b)):
    def fn(out_a, a, out_b, b):
        share = (a.exp() / (a.exp() + b.exp()))[..., None]
        return share * out_a + (1 - share) * out_b, lse(a, b)
    return fn


def _shares(share, lse=torch.logaddexp):
    def fn(out_a, a, out_b, b):
        p = share(a, b)[..., None]
        return p * out_a + (1 - p) * out_b, lse(a, b)
    return fn


def _share(a, b):
    return torch.sigmoid(a - b)


def _sum_of_both(out_a, a, out_b, b):
    return out_a * a.exp()[..., None] + out_b * b.exp()[..., None], torch.logaddexp(a, b)


MISTAKES = (
    Mistake("the plain mean of both outputs", _shares(lambda a, b: torch.full_like(a, 0.5)),
            "The set with the larger sum of exponentials counts for more.", ("one row",)),
    Mistake("both outputs were added", lambda out_a, a, out_b, b: (out_a + out_b, torch.logaddexp(a, b)),
            "Each is a mean already; a mean of means needs shares that sum to 1.", ("one row",)),
    Mistake("the shares were taken from the logarithms themselves", _shares(lambda a, b: a / (a + b)),
            "lse is a logarithm. What counts are the sums behind it.", ("one row",)),
    Mistake("the shares are exchanged", _shares(lambda a, b: _share(b, a)),
            "The part with the larger lse must get the larger share.", ("one row",)),
    Mistake("the mixture is not divided by the sum", _sum_of_both, "The two shares must sum to 1.", ("one row",)),
    Mistake("only the larger part was kept", _shares(lambda a, b: (a > b).to(a.dtype)),
            "The smaller part still has its share.", ("one row",)),
    Mistake("the logarithms were added", _shares(_share, lambda a, b: a + b),
            "The sums of exponentials add up, not their logarithms.", ("one row",)),
    Mistake("the larger logarithm was returned", _shares(_share, torch.maximum),
            "The sum of both is larger than the larger one.", ("one row",)),
    Mistake("the sum was returned in place of its logarithm", _shares(_share, lambda a, b: a.exp() + b.exp()),
            "The next merge expects a logarithm again.", ("one row",)),
    Mistake("the exponential overflows", _plain(), "Only the difference of the two logarithms is needed. Subtract the larger one "
            "before the exponential.", ("large",), sign=lambda got, case: not bool(torch.isfinite(got).all())),
    Mistake("both exponentials round to 0", _plain(), "Only the difference of the two logarithms is needed. Subtract the larger "
            "one before the exponential.", ("small",), sign=lambda got, case: not bool(torch.isfinite(got).all())),
    Mistake("an empty part makes NaN", (), "A part without keys has lse -inf and a share of exactly 0.", ("one empty",),
            sign=holds_nan),
)

EXERCISE = Exercise(
    name="merged",
    usage="merged(out_a, lse_a, out_b, lse_b)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Return the pair (out, lse), with the shapes of out_a, (..., L, d), and of lse_a, (..., L).",
    read=read,
)
