"""Find the bugs: a window that counts wrongly.

window(L, S, w): boolean mask (L, S), True = may attend. Causal; each query sees the last w keys, its own included; the last query
is aligned with the last key.
"""

import torch

from attnbook.attention import local_mask
from attnbook.exercises._exercise import Case, Exercise, Mistake
from attnbook.exercises._report import report
from attnbook.exercises._returned import Unreadable, numbers


def check_window(fn) -> None:
    """Check window(L, S, w) and print one message."""
    report(EXERCISE, fn)


def right(L, S, w):
    return local_mask(L, S, w)


def _by_distance(seen, shift=lambda L, S: S - L):
    """True where seen(distance, w), the distance of key j from query i, which stands at place i + shift."""
    def fn(L, S, w):
        i, j = torch.arange(L)[:, None] + shift(L, S), torch.arange(S)
        return seen(i - j, w)
    return fn


def read(value):
    """(L, S), True or False."""
    found = numbers(value)
    if found.numel() and not ((found == 0) | (found == 1)).all():
        raise Unreadable("numbers other than 0 and 1; expected True or False")
    return found


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    more, w = torch.randint(3, 7, (2,), generator=generator).tolist()
    length, keys = torch.randint(12, 20, (2,), generator=generator).tolist()
    return [Case("square", "L = S from 12 to 19, w from 3 to 6", (length, length, w)),
            Case("cached", "L smaller than S, w from 3 to 6", (more, keys, w)),
            Case("one", "L = S = 5, w = 1", (5, 5, 1)), Case("wide", "L = S = 5, w = 9", (5, 5, 9))]


# -- the mistakes ----------------------------------------------------------------------------

MISTAKES = (
    Mistake("w keys before the own one, so w + 1 in all", _by_distance(lambda d, w: (d >= 0) & (d <= w)),
            "Here w counts the token itself. Count the True entries of a late row.", ("square",)),
    Mistake("the own key is not seen", (_by_distance(lambda d, w: (d > 0) & (d <= w)), _by_distance(lambda d, w: (d > 0) & (d < w))),
            "The token itself is one of the w.", ("square",)),
    Mistake("the window reaches into the future", (_by_distance(lambda d, w: d.abs() < w), _by_distance(lambda d, w: d.abs() <= w),
                                                   _by_distance(lambda d, w: d < w)),
            "No query sees a later key.", ("square",)),
    Mistake("the window looks ahead in place of back", _by_distance(lambda d, w: (d <= 0) & (d > -w)),
            "Query minus key is the distance back.", ("square",)),
    Mistake("everything earlier is seen", _by_distance(lambda d, w: d >= 0), "The window ends after w keys.", ("square",)),
    Mistake("True and False are exchanged", _by_distance(lambda d, w: (d < 0) | (d >= w)), "True means: may attend.", ("square",)),
    Mistake("the first query is aligned with the first key", _by_distance(lambda d, w: (d >= 0) & (d < w), lambda L, S: 0),
            "With cached keys the queries are the last L of S tokens: the last query stands at the last key.", ("cached",)),
    Mistake("the queries stand one place too early", _by_distance(lambda d, w: (d >= 0) & (d < w), lambda L, S: max(S - L - 1, 0)),
            "The last query must see the last key.", ("cached",)),
)

EXERCISE = Exercise(
    name="window",
    usage="window(L, S, w)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Return a boolean mask (L, S), True = may attend, rows are queries.",
    read=read,
)
