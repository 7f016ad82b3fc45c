"""Find the bugs: a sampler whose temperature does nothing.

next_probabilities(logits, temperature, k): logits (..., V), temperature above 0, k at least 1. Returns the probabilities
(..., V) from which the next token is drawn: temperature, then only the k best of each row, sum 1.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report


def check_next_probabilities(fn) -> None:
    """Check next_probabilities(logits, temperature, k) and print one message."""
    report(EXERCISE, fn)


def _best(z, k):
    """True for the k best of each row."""
    return z >= z.topk(k, -1).values[..., -1:]


def _softmax(z):
    return torch.softmax(z, -1)


def _sampler(divide=lambda z, t: z / t, best=_best, hidden=-torch.inf, weigh=_softmax):
    """Temperature -> cut -> softmax, with one stage changed."""
    def fn(logits, t, k):
        z = divide(logits, t)
        return weigh(torch.where(best(z, k), z, torch.full((), hidden, dtype=z.dtype)))
    return fn


right = _sampler()


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    return [
        Case("plain", "logits of shape (7,), temperature 1.0, k 7 (all)", (normal(generator, 7), 1.0, 7)),
        Case("temperature", "logits of shape (7,), temperature 2.0, k 7 (all)", (1.5 * normal(generator, 7), 2.0, 7)),
        Case("cut", "logits of shape (7,), temperature 1.0, k 3", (normal(generator, 7), 1.0, 3)),
        Case("batch", "logits of shape (2, 3, 7), temperature 0.5, k 2", (normal(generator, 2, 3, 7) * _rows(), 0.5, 2)),
    ]


def _rows():
    """Rows of unlike size, so that one threshold does not fit all."""
    return torch.tensor([1.0, 0.3, 2.0])[:, None]


# -- the mistakes ----------------------------------------------------------------------------

def _cut_late(z, t, k):
    p = _softmax(z / t)
    return p * _best(p, k)


def _flat_best(z, k):
    """One threshold for all rows."""
    return z >= z.flatten().topk(k).values[-1]


MISTAKES = (
    Mistake("the logits were returned", lambda z, t, k: z / t,
            "They may be negative and sum to anything; probabilities come out of a softmax.", ("plain",)),
    Mistake("logarithms of the probabilities", lambda z, t, k: torch.log_softmax(z / t, -1),
            "The probabilities themselves were asked for.", ("plain",)),
    Mistake("softmax was applied twice", _sampler(weigh=lambda z: _softmax(_softmax(z))),
            "Probabilities went through softmax again, which makes them nearly equal.", ("plain",)),
    Mistake("the temperature divides the probabilities", lambda z, t, k: _softmax(z) / t,
            "They no longer sum to 1, and normalising them undoes the division. A temperature belongs to the logits.",
            ("temperature",)),
    Mistake("the temperature has no effect", lambda z, t, k: _softmax(z),
            "Nothing changed. Divided before the softmax it matters; after it, normalising takes it back.", ("temperature",)),
    Mistake("the logits were multiplied by the temperature", _sampler(divide=lambda z, t: z * t),
            "A high temperature must flatten the row; here it sharpens it.", ("temperature",)),
    Mistake("the temperature was applied twice", _sampler(divide=lambda z, t: z / t / t), "Once is enough.",
            ("temperature",)),
    Mistake("the tail was never cut", _sampler(best=lambda z, k: z == z),
            "Only the k best may have any probability.", ("cut",)),
    Mistake("the rest was not normalised again", _cut_late,
            "What was cut off is missing from the sum. Hide logits before the softmax, and it normalises what is left.",
            ("cut",)),
    Mistake("hidden logits are set to 0", _sampler(hidden=0.0),
            "exp(0) is 1, so a hidden token can still be drawn. Only minus infinity gives exactly nothing.", ("cut",)),
    Mistake("the k worst were kept", _sampler(best=lambda z, k: z <= (-z).topk(k, -1).values[..., -1:].neg()),
            "The largest logits are the likely ones.", ("cut",)),
    Mistake("one token too few", _sampler(best=lambda z, k: z > z.topk(k, -1).values[..., -1:]),
            "The least of the k best belongs to them.", ("plain", "cut")),
    Mistake("one token too many", _sampler(best=lambda z, k: _best(z, k + 1)), "Count the tokens that can be drawn.",
            ("cut",)),
    Mistake("one threshold for all rows", _sampler(best=_flat_best),
            "Each row has its own k best.", ("batch",)),
    Mistake("softmax over the wrong axis", (_sampler(weigh=lambda z: torch.softmax(z, -2)),
                                            _sampler(weigh=lambda z: torch.softmax(z, 0)),
                                            _sampler(weigh=lambda z: torch.softmax(z, 1))),
            "The tokens of one row compete: the vocabulary is the last axis.", ("batch",)),
)

EXERCISE = Exercise(
    name="next_probabilities",
    usage="next_probabilities(logits, temperature, k)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Logits (..., V) with the vocabulary on the last axis; the result has the same shape and rows that sum to 1.",
)
