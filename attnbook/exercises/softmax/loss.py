"""Find the bug: a loss that never falls below 1.46.

mean_loss(logits, targets): logits (..., V), targets (...) token ids. Returns the mean cross-entropy in nats, one number.
"""

import torch
from torch.nn.functional import cross_entropy, one_hot

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report


def check_mean_loss(fn) -> None:
    """Check mean_loss(logits, targets) and print one message."""
    report(EXERCISE, fn)


def _loss(logits, targets, reduction="mean"):
    return cross_entropy(logits.flatten(0, -2), targets.flatten(), reduction=reduction)


def right(logits, targets):
    return _loss(logits, targets)


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    def draw(*shape, size=1.0):
        return size * normal(generator, *shape, 10), torch.randint(10, shape, generator=generator)

    def apart():  # two losses that chance has made alike would hide a second softmax
        while True:
            logits, targets = draw(4)
            if (_loss(torch.softmax(logits, -1), targets) - _loss(logits, targets)).abs() > 0.05:
                return logits, targets

    targets = torch.randint(10, (4,), generator=generator)
    sure = 30.0 * one_hot(targets, 10) + normal(generator, 4, 10)
    return [
        Case("rows", "logits of shape (4, 10), targets (4,)", apart()),
        Case("perfect", "logits of shape (4, 10), each target 30 above the rest", (sure, targets)),
        Case("batch", "logits of shape (2, 3, 10), targets (2, 3)", draw(2, 3)),
        Case("size", "logits of shape (2, 3, 10), hundreds apart, targets (2, 3)", draw(2, 3, size=300.0)),
    ]


# -- the mistakes ----------------------------------------------------------------------------

def _of_target(x, targets):
    return x.gather(-1, targets[..., None])[..., 0]


def _is_infinite(got, case):
    return bool((~got.isfinite()).any())


MISTAKES = (
    Mistake("softmax is applied twice", lambda z, y: _loss(torch.softmax(z, -1), y),
            "The loss applies a softmax itself. Shares lie between 0 and 1, so a second softmax makes them nearly equal, and "
            "no training can bring the loss near 0."),
    Mistake("the sum in place of the mean", lambda z, y: _loss(z, y, "sum"), "Divide by the number of targets.", ("rows",)),
    Mistake("one loss for each target", lambda z, y: -_of_target(torch.log_softmax(z, -1), y),
            "Their mean was asked for, one number.", ("rows",)),
    Mistake("bits in place of nats", lambda z, y: _loss(z, y) / torch.log(torch.tensor(2.0)),
            "The natural logarithm was asked for.", ("rows",)),
    Mistake("the sign is reversed", lambda z, y: -_loss(z, y), "The logarithm of a probability is negative, a loss is not.",
            ("rows",)),
    Mistake("no logarithm", (lambda z, y: 1 - _of_target(torch.softmax(z, -1), y).mean(),
                             lambda z, y: -_of_target(torch.softmax(z, -1), y).mean(),
                             lambda z, y: _of_target(torch.softmax(z, -1), y).mean()),
            "Cross-entropy is minus the logarithm of the target's probability.", ("rows",)),
    Mistake("the logit was taken for its logarithm", lambda z, y: -_of_target(z, y).mean(),
            "Logits are not normalised; without the softmax a model could lower this loss without end.", ("rows",)),
    Mistake("the mean over all tokens", lambda z, y: -torch.log_softmax(z, -1).mean(),
            "Only the probability of the target counts.", ("rows",)),
    Mistake("softmax over the rows", (lambda z, y: -_of_target(torch.log_softmax(z, 0), y).mean(),
                                      lambda z, y: -_of_target(torch.log_softmax(z, -2), y).mean()),
            "The tokens of one row compete: the vocabulary is the last axis.", ("rows", "batch")),
    Mistake("the logarithm of 0", (), "A share far below the largest is rounded to 0, and its logarithm is infinite. Take "
            "logarithm and softmax in one, on the logits.", ("size",), sign=_is_infinite),
)

EXERCISE = Exercise(
    name="mean_loss",
    usage="mean_loss(logits, targets)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Logits (..., 10), one target id for each row; the result is one number, the mean over all targets in nats.",
)
