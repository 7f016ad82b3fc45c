"""Implement: read the divisor of an attention from outside.

divisor_of(attend, d_k): attend(q, k, v) returns softmax(q k^T / c) v for an unknown c; q (L, d_k), k (S, d_k) and
v (S, d_v) are float tensors. Returns c.
"""

import math

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake
from attnbook.exercises._report import report


def check_divisor_of(fn) -> None:
    """Check divisor_of(attend, d_k) and print one message."""
    report(EXERCISE, fn)


def _probe(attend, d_k, size=1.0):
    """The log ratio of two weights whose scores differ by size: size / c."""
    q, k = torch.zeros(1, d_k, dtype=torch.float64), torch.zeros(2, d_k, dtype=torch.float64)
    q[0, 0], k[0, 0] = 1.0, size
    weights = attend(q, k, torch.eye(2, dtype=torch.float64))[0]
    return (weights[0] / weights[1]).log().item()


def right(attend, d_k):
    return 1 / _probe(attend, d_k)


class Attend:
    """Attention with a divisor, which it does not tell."""

    def __init__(self, divisor):
        self._divisor = divisor

    def __call__(self, q, k, v):
        q, k, v = (torch.as_tensor(x) for x in (q, k, v))
        return torch.softmax(q.double() @ k.double().mT / self._divisor, -1) @ v.double()


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    d = 18
    odd = 2 + 3 * torch.rand((), generator=generator).item()
    divisors = {"root": d**0.5, "none": 1.0, "d_k": float(d), "another": odd}
    return [Case(stage, f"an attention of width {d}", (Attend(c), d)) for stage, c in divisors.items()]


# -- the mistakes ----------------------------------------------------------------------------

MISTAKES = (
    Mistake("the root of d_k, whatever attend does", lambda attend, d: d**0.5,
            "Do not say what it should be: call attend and see what it is.", ("none", "d_k", "another")),
    Mistake("the factor in place of the divisor", lambda attend, d: _probe(attend, d),
            "Scores are divided by c; you found what they are multiplied by."),
    Mistake("a weight in place of a ratio of weights", lambda attend, d: 1 + math.exp(-_probe(attend, d)),
            "Softmax normalises: one weight depends on all scores, the ratio of two on their difference only."),
    Mistake("the logarithm is missing", lambda attend, d: math.exp(_probe(attend, d)),
            "The ratio of two weights is the exponential of the difference of their scores."),
    Mistake("logarithm with base 2 or 10", (lambda attend, d: right(attend, d) * math.log(2),
                                            lambda attend, d: right(attend, d) * math.log(10)),
            "Softmax uses e."),
    Mistake("the square of the divisor", lambda attend, d: right(attend, d) ** 2,
            "That would be d_k itself for the usual c."),
)

EXERCISE = Exercise(
    name="divisor_of",
    usage="divisor_of(attend, d_k)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="attend(q, k, v) takes float tensors (L, d_k), (S, d_k), (S, d_v); return one number. "
               "Large scores saturate: choose small queries and keys.",
)
