"""Implement: the way back through softmax.

softmax_backward(p, grad): p (..., n) are weights that came out of a softmax over the last axis, grad (..., n) is the
gradient of the loss with respect to p. Returns the gradient with respect to the scores, (..., n).
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report


def check_softmax_backward(fn) -> None:
    """Check softmax_backward(p, grad) and print one message."""
    report(EXERCISE, fn)


def _back(front=lambda p: p, mean=lambda p, g: (p * g).sum(-1, keepdim=True), sign=1):
    """front * (grad - mean), with one part changed."""
    return lambda p, g: sign * front(p) * (g - mean(p, g))


right = _back()


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    def draw(*shape):
        p = torch.softmax(1.5 * normal(generator, *shape), -1)
        return f"p and grad of shape ({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})", (
            p, normal(generator, *shape))

    return [Case("one row", *draw(5)), Case("rows", *draw(3, 5)), Case("batch", *draw(2, 3, 5))]


# -- the mistakes ----------------------------------------------------------------------------

MISTAKES = (
    Mistake("only the first term of the Jacobian", lambda p, g: p * g,
            "A share that grows takes from all others: the product of the two shares is missing.", ("one row",)),
    Mistake("only the diagonal of the Jacobian", lambda p, g: p * (1 - p) * g,
            "Score j moves every share, not only its own. Sum over all of them.", ("one row",)),
    Mistake("only the second term of the Jacobian", _back(mean=lambda p, g: (p * g).sum(-1, keepdim=True) + g),
            "That is how a share loses when another grows; its own growth is missing.", ("one row",)),
    Mistake("the factor in front is missing", _back(front=lambda p: 1),
            "Each entry of row i of the Jacobian carries the share p_i.", ("one row",)),
    Mistake("the plain sum of the gradient was subtracted", _back(mean=lambda p, g: g.sum(-1, keepdim=True)),
            "Each gradient counts by its share.", ("one row",)),
    Mistake("the plain mean in place of the weighted one",
            (_back(mean=lambda p, g: g.mean(-1, keepdim=True)), _back(mean=lambda p, g: (p * g).mean(-1, keepdim=True))),
            "The shares themselves are the weights of the mean, and they sum to 1 already.", ("one row",)),
    Mistake("the sign is reversed", _back(sign=-1), "A score that rises lifts its own share.", ("one row",)),
    Mistake("softmax was applied to the shares again", lambda p, g: right(torch.softmax(p, -1), g),
            "p came out of the softmax already; it is all that the slope needs.", ("one row",)),
    Mistake("the gradient was handed on as it came", lambda p, g: g,
            "It belongs to the shares. One step further back it must pass the Jacobian.", ("one row",)),
    Mistake("the sum runs over the wrong axis", (_back(mean=lambda p, g: (p * g).sum(-2, keepdim=True)),
                                                 _back(mean=lambda p, g: (p * g).sum(0, keepdim=True))),
            "The entries of one row compete: sum along the last axis.", ("rows", "batch")),
    Mistake("one sum for all rows", _back(mean=lambda p, g: (p * g).sum()),
            "Rows do not touch each other; each has a sum of its own.", ("rows", "batch")),
)

EXERCISE = Exercise(
    name="softmax_backward",
    usage="softmax_backward(p, grad)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="p and grad (..., n); rows of p sum to 1 along the last axis, and the result has the same shape.",
)
