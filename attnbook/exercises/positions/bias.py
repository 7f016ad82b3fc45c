"""Implement: the bias of ALiBi, for queries that stand behind a cache.

linear_bias(slopes, L, S): slopes (H,); L queries and S keys, the last query at the place of the last key. Returns
(H, L, S): minus slope times the distance of query and key, which is never negative.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake
from attnbook.exercises._report import report


def check_linear_bias(fn) -> None:
    """Check linear_bias(slopes, L, S) and print one message."""
    report(EXERCISE, fn)


def _bias(distance=lambda i, j, L, S: (i + S - L - j).abs(), weigh=lambda m, d: -m[:, None, None] * d):
    def linear_bias(slopes, L, S):
        i, j = torch.arange(L)[:, None], torch.arange(S)
        return weigh(slopes.double(), distance(i, j, L, S).double())
    return linear_bias


right = _bias()


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    def slopes(n):
        return 0.1 + torch.rand(n, generator=generator)

    return [Case("one head", "one slope, 4 queries, 4 keys", (slopes(1), 4, 4)),
            Case("heads", "3 slopes, 5 queries, 5 keys", (slopes(3), 5, 5)),
            Case("cache", "3 slopes, 2 queries, 7 keys", (slopes(3), 2, 7)),
            Case("one query", "2 slopes, 1 query, 6 keys", (slopes(2), 1, 6))]


# -- the mistakes ----------------------------------------------------------------------------

MISTAKES = (
    Mistake("aligned to the first key", _bias(lambda i, j, L, S: (i - j).abs()),
            "The queries are the last L of S tokens.", ("cache", "one query")),
    Mistake("the sign is missing", _bias(weigh=lambda m, d: m[:, None, None] * d),
            "Far keys should lose score, not win it."),
    Mistake("the distance has a sign", (_bias(lambda i, j, L, S: i + S - L - j), _bias(lambda i, j, L, S: i - j)),
            "The mask hides keys behind the query, but a bias that rewards them is a trap without one."),
    Mistake("a distance of 1 from a token to itself", _bias(lambda i, j, L, S: (i + S - L - j).abs() + 1),
            "A token stands at no distance from itself."),
    Mistake("the square of the distance", _bias(lambda i, j, L, S: (i + S - L - j) ** 2),
            "ALiBi is linear: that is the L."),
    Mistake("one slope for all heads", _bias(weigh=lambda m, d: -m[0] * d.expand(len(m), *d.shape)),
            "Each head has its own slope.", ("heads", "cache", "one query")),
    Mistake("divided by the slope", _bias(weigh=lambda m, d: -d / m[:, None, None]), "A steep slope takes off more."),
    Mistake("heads on the last axis", _bias(weigh=lambda m, d: -d[..., None] * m), "Heads come first: (H, L, S)."),
    Mistake("queries and keys have changed places", _bias(weigh=lambda m, d: -m[:, None, None] * d.mT),
            "Rows are queries, columns are keys.", ("cache", "one query")),
    Mistake("hidden keys are at minus infinity", _bias(lambda i, j, L, S: torch.where(
        j > i + S - L, torch.inf, (i + S - L - j).abs().double())),
            "Hiding is the mask's work; the bias only counts steps."),
)


EXERCISE = Exercise(
    name="linear_bias",
    usage="linear_bias(slopes, L, S)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Shapes: slopes (H,), the result (H, L, S); the last of the L queries stands at the last of the S keys.",
)
