"""Find the bug: positions of a batch that is padded on the left.

token_positions(mask): mask (..., L), True = real token. Returns whole numbers (..., L): real tokens are counted 0, 1,
..., padding before them gets 0.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake
from attnbook.exercises._report import report


def check_token_positions(fn) -> None:
    """Check token_positions(mask) and print one message."""
    report(EXERCISE, fn)


def right(mask):
    return (mask.long().cumsum(-1) - 1).clamp(min=0)


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    def lengths(n, most):
        """Different lengths, the longest of them the full one."""
        return torch.randperm(most - 1, generator=generator)[: n - 1].tolist()

    def padded(pads, L):
        return torch.arange(L) >= torch.tensor(pads)[:, None]

    pads = [1 + p for p in lengths(6, 20)]
    return [Case("no padding", "a mask of shape (7,), all real", (torch.ones(7, dtype=torch.bool),)),
            Case("padding", "a mask of shape (7,), padded on the left", (padded([2 + pads[0] % 3], 7)[0],)),
            Case("batch", "a mask of shape (6, 24), rows padded differently", (padded([*pads, 0], 24),)),
            Case("more axes", "a mask of shape (2, 3, 6)", (
                torch.stack((padded([1, 3, 0], 6), padded([2, 0, 4], 6))),))]


# -- the mistakes ----------------------------------------------------------------------------

def _count(mask):
    return torch.arange(mask.shape[-1]).expand(mask.shape)


def _first(mask):
    """Padding of the first sequence, taken for all."""
    pads = (~mask).long().sum(-1).flatten()[:1]
    return (_count(mask) - pads).clamp(min=0)


MISTAKES = (
    Mistake("padding is counted", _count, "The mask hides padding, but the first real token must still be number 0."),
    Mistake("real tokens are counted from 1", (lambda m: m.long().cumsum(-1), lambda m: m.long().cumsum(-1) * m),
            "Positions begin at 0."),
    Mistake("padding gets a negative position", (lambda m: m.long().cumsum(-1) - 1,
                                                 lambda m: _count(m) - (~m).long().sum(-1, keepdim=True)),
            "A table that is asked for row -1 answers with its last row, or not at all."),
    Mistake("padding and real tokens have changed places",
            (lambda m: ((~m).long().cumsum(-1) - 1).clamp(min=0), lambda m: (~m).long().cumsum(-1)),
            "True means a real token."),
    Mistake("counted from the right", (lambda m: m.long().flip(-1).cumsum(-1).flip(-1) - 1,
                                       lambda m: (m.long().flip(-1).cumsum(-1).flip(-1) - 1) * m),
            "The last token has the largest position."),
    Mistake("counted over the sequences of the batch", lambda m: (m.long().cumsum(0) - 1).clamp(min=0),
            "Tokens lie on the last axis.", ("batch", "more axes")),
    Mistake("the padding of the first sequence is taken for all", _first,
            "Each sequence has its own padding.", ("batch", "more axes")),
    Mistake("the count goes on from one sequence to the next",
            lambda m: (m.long().flatten().cumsum(0).view(m.shape) - 1).clamp(min=0), "Each sequence begins at 0.",
            ("batch", "more axes")),
    Mistake("0 and 1 in place of positions", lambda m: m.long(), "That is the mask again."),
)

EXERCISE = Exercise(
    name="token_positions",
    usage="token_positions(mask)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Shapes: mask (..., L), True = real token; the result (..., L), whole numbers; padding gets 0.",
)
