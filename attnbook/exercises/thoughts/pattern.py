"""Implement: design a mask, and say what it costs.

far_sight(n): returns (mask, edges). mask is (n, n), True = may attend, causal, each token sees itself; two layers carry every
token to every later one; at most 3 n sqrt(n) True entries. edges is their number.
"""

import math

import torch

from attnbook.attention import causal_mask
from attnbook.exercises._exercise import Case, Exercise, Mistake
from attnbook.exercises._report import report
from attnbook.exercises._returned import Unreadable, numbers
from attnbook.sparse import reach, strided_mask

PROPERTIES = ("causal", "sees itself", "two layers", "budget", "edges")


def check_far_sight(fn) -> None:
    """Check far_sight(n) and print one message."""
    report(EXERCISE, fn)


def right(n):
    block = max(1, round(math.sqrt(n)))
    mask = strided_mask(n, n, block, block)
    return mask, int(mask.sum())


def read(value):
    """What the mask is like: one number, 1 or 0, for each property, and n. Any mask with all of them is right."""
    if not issubclass(type(value), (tuple, list)) or len(value) != 2:
        raise Unreadable("something other than a pair; expected (mask, edges)")
    mask, edges = numbers(value[0]), numbers(value[1])
    if mask.dim() != 2 or mask.shape[0] != mask.shape[1]:
        raise Unreadable(f"a mask of shape {tuple(mask.shape)}; expected (n, n)")
    if not ((mask == 0) | (mask == 1)).all():
        raise Unreadable("a mask with numbers other than 0 and 1; expected True or False")
    if edges.numel() != 1:
        raise Unreadable(f"edges of shape {tuple(edges.shape)}; expected one number")
    mask, n = mask.bool(), len(mask)
    causal = causal_mask(n)
    arrived = reach(mask & causal, 2)
    found = (not (mask & ~causal).any(), mask.diagonal().all(), arrived[causal].all(), mask.sum() <= 3 * n * math.sqrt(n),
             edges.item() == mask.sum().item())
    return torch.tensor([float(n), *map(float, found)], dtype=torch.float64)


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    small, large = torch.randint(0, 40, (2,), generator=generator).tolist()
    return [Case("small", "n between 20 and 60", (20 + small,)), Case("square", "n = 100", (100,)),
            Case("large", "n between 200 and 360", (200 + 4 * large,)), Case("tiny", "n = 1", (1,))]


# -- the mistakes ----------------------------------------------------------------------------

def _lacks(name):
    place = 1 + PROPERTIES.index(name)
    return lambda got, case: got.numel() == 6 and got[0] == case.args[0] and got[place] == 0


MISTAKES = (
    Mistake("the mask has another size than n", (), "One row and one column for each of the n tokens.", (),
            lambda got, case: got.numel() == 6 and got[0] != case.args[0]),
    Mistake("a token sees a later one", (), "Row i may be True in columns 0 to i only.", (), _lacks("causal")),
    Mistake("some token does not see itself", (), "The diagonal belongs to every row.", (), _lacks("sees itself")),
    Mistake("too many True entries", (), "The full triangle reaches everything in one layer, at n (n + 1) / 2 entries. With two "
            "layers, about 2 root n in each row are enough: near ones, and some far ones.", (), _lacks("budget")),
    Mistake("two layers do not carry every token to every later one", (),
            "Take the first and the last token. Who could hand the first one on? In the first layer a token can reach those that "
            "see it; one of them must be seen by the last token in the second.", (), _lacks("two layers")),
    Mistake("the number of edges is not that of the mask", (), "Count the True entries, the diagonal included.", (),
            _lacks("edges")),
)

EXERCISE = Exercise(
    name="far_sight",
    usage="far_sight(n)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Return the pair (mask, edges): a boolean mask (n, n), True = may attend, and the number of its True entries.",
    read=read,
)

