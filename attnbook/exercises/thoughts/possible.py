"""Predict: which of these maps can be an attention matrix?

possible(numbers, mask): numbers (L, S), mask (L, S) boolean, True = may attend. True if some scores exist for which softmax gives
these numbers, up to rounding to two decimals, else False. A row that may attend to nothing is zero.
"""

import torch

from attnbook.attention import causal_mask
from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report
from attnbook.exercises._returned import Unreadable, numbers
from attnbook.softmax import softmax


def check_possible(fn) -> None:
    """Check possible(numbers, mask) and print one message."""
    report(EXERCISE, fn)


def _possible(axis=-1, total=True, sign=True, hidden=True, empty=True, most=False, dark=False):
    """All conditions, but for those switched off. most: a sum below 1 is accepted. dark: a zero is refused."""
    def fn(w, mask):
        room = 0.005 * w.shape[axis] + 1e-6
        wanted = mask.any(axis).to(w.dtype) if empty else 1.0
        sums = w.sum(axis)
        good = not total or bool((sums <= wanted + room).all() if most else ((sums - wanted).abs() <= room).all())
        good = good and (not sign or bool((w >= 0).all()))
        good = good and (not hidden or bool((w[~mask] == 0).all()))
        return good and not (dark and bool((w[mask] == 0).any()))
    return fn


right = _possible()


def read(value):
    """True or False, one for each map."""
    found = numbers(value)
    if found.numel() and not ((found == 0) | (found == 1)).all():
        raise Unreadable("numbers other than 0 and 1; expected True or False")
    return found


# -- the inputs: a case asks about several maps, in an order drawn anew -------------------------

def cases(generator):
    return [_ask(generator, "sums", _sums), _ask(generator, "signs", _signs), _ask(generator, "hidden", _hidden),
            _ask(generator, "nothing", _nothing)]


def _ask(generator, stage, make):
    asked = make(generator)
    order = torch.randperm(len(asked), generator=generator).tolist()
    first, *rest = (asked[i] for i in order)

    def answers(fn, args):
        """All of them, in the reader's kind of array; one that is no answer goes back alone, so that it can be named."""
        alike = [[_like(args[0], x) for x in question] for question in rest]
        found = [fn(*question) for question in (args, *alike)]
        return next((answer for answer in found if answer is None), found)

    return Case(stage, MADE[stage], first, answers)


def _like(first, x):
    """A copy of x, of the kind and precision of the first argument."""
    if not isinstance(first, torch.Tensor):
        return x.numpy().copy()
    return x.to(first.dtype, copy=True) if x.is_floating_point() else x.clone()


MADE = {
    "sums": "several maps (3, 4), all keys visible, rows or columns that may not sum to 1",
    "signs": "several maps (3, 4), all keys visible, some with negative numbers or sharp rows",
    "hidden": "several maps (4, 4) under a causal mask",
    "nothing": "several maps (3, 4) in which one row may attend to nothing",
}


def _map(generator, mask, scale=1.0):
    """A real one, rounded to two decimals so that rows still sum to 1."""
    scores = (scale * normal(generator, *mask.shape)).masked_fill(~mask, -torch.inf)
    w = (softmax(scores) * 100).round() / 100
    best = w.argmax(-1, keepdim=True)
    rest = (mask.any(-1, keepdim=True).float() - w.sum(-1, keepdim=True))
    return w.scatter_add(-1, best, rest)


def _sums(generator):
    full = torch.ones(3, 4, dtype=torch.bool)
    good = [_map(generator, full, 0.5) for _ in range(3)]  # no weight so small that it is rounded to 0
    more, less = _map(generator, full, 0.5), _map(generator, full, 0.5)
    columns = _map(generator, full.T.contiguous(), 0.5).T.contiguous()
    more[1, 2] += 0.3
    less[2] *= 0.6
    return [(w, full) for w in (*good, more, less, columns)]


def _signs(generator):
    full = torch.ones(3, 4, dtype=torch.bool)
    negative, sharp = _map(generator, full), torch.eye(4)[:3]
    negative[0, 1], negative[0, 2] = negative[0, 1] + negative[0, 2] + 0.2, -0.2
    return [(w, full) for w in (_map(generator, full), negative, sharp, _map(generator, full))]


def _hidden(generator):
    causal = causal_mask(4)
    early, uniform = _map(generator, torch.ones(4, 4, dtype=torch.bool)), torch.full((4, 4), 0.25)
    return [(w, causal) for w in (_map(generator, causal), early, uniform, _map(generator, causal))]


def _nothing(generator):
    mask = torch.ones(3, 4, dtype=torch.bool)
    mask[1] = False
    shared, good = _map(generator, torch.ones(3, 4, dtype=torch.bool)), _map(generator, mask)
    idle = good.clone()
    idle[0] = 0.0
    return [(w, mask) for w in (good, shared, idle, _map(generator, mask))]


# -- the mistakes ----------------------------------------------------------------------------

MISTAKES = (
    Mistake("columns were summed in place of rows", (_possible(axis=-2), _possible(axis=-2, empty=False)),
            "A row shares out 1 among the keys. A column may sum to anything: a popular key is read a lot.", ("sums",)),
    Mistake("a row may not sum to less than 1, either", _possible(most=True),
            "All keys are shown here, so nothing of the 1 can be elsewhere.", ("sums",)),
    Mistake("the sums were not looked at", _possible(total=False), "Softmax divides each row by its sum.", ("sums",)),
    Mistake("every map was refused", lambda w, m: False, "Some of these are real maps.", ("sums",)),
    Mistake("True and False are exchanged", lambda w, m: not right(w, m), "True means: it can be one.", ("sums",)),
    Mistake("negative numbers were accepted", _possible(sign=False),
            "Every weight is an exponential divided by a positive sum.", ("signs",)),
    Mistake("a row with a rounded 1 and zeros was refused", _possible(dark=True),
            "Softmax never gives an exact 0 to a visible key, but two decimals do.", ("signs",)),
    Mistake("the mask was not looked at", _possible(hidden=False),
            "A key that may not be seen has a weight of exactly 0, however well the row sums up.", ("hidden",)),
    Mistake("a row that may attend to nothing was asked to sum to 1", _possible(empty=False),
            "There is nobody to give a share to: such a row is zero.", ("nothing",)),
)

EXERCISE = Exercise(
    name="possible",
    usage="possible(numbers, mask)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Return True if the map (L, S), rounded to two decimals, can be a matrix of weights under that mask, else False.",
    read=read,
)
