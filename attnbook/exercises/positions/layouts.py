"""Find the bug: scores with RoPE that change when everything moves.

rotary_scores(q, k, start): q, k (..., L, d), d even, rows at positions start, start + 1, ...; both turned in the layout
of halves with base 100. Returns the scores q k^T, (..., L, L), not divided by anything.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report
from attnbook.exercises.positions.rotation import exponents, turn

BASE = 100.0


def check_rotary_scores(fn) -> None:
    """Check rotary_scores(q, k, start) and print one message."""
    report(EXERCISE, fn)


def _scores(queries=None, keys=None, after=lambda s, d: s):
    """queries, keys: options of turn; None turns in halves, False not at all; "start" drops the start."""
    def one(x, start, how):
        if how is False:
            return x.double()
        first = 0 if how == "start" else start
        angles = torch.arange(first, first + x.shape[-2]).double()[:, None] * BASE ** -exponents(x.shape[-1])
        return turn(x.double(), angles, **(how if isinstance(how, dict) else {}))

    return lambda q, k, start: after(one(q, start, queries) @ one(k, start, keys).mT, q.shape[-1])


right = _scores()


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    start = int(torch.randint(20, 60, (), generator=generator))

    def case(stage, what, start, *shape):
        return Case(stage, what, (normal(generator, *shape), normal(generator, *shape), start))

    return [case("scores", "q and k of shape (5, 8), start 0", 0, 5, 8),
            case("moved", "q and k of shape (5, 8), a start far from 0", start, 5, 8),
            case("batch", "q and k of shape (2, 3, 6, 4)", start, 2, 3, 6, 4)]


# -- the mistakes ----------------------------------------------------------------------------

NEIGHBOURS, BACKWARDS = {"halves": False}, {"sign": -1}
MISTAKES = (
    Mistake("queries and keys are turned in different layouts", (_scores(keys=NEIGHBOURS), _scores(queries=NEIGHBOURS)),
            "Each layout is right by itself. A score compares two angles of the same pair of features."),
    Mistake("both are turned in the layout of neighbours", _scores(NEIGHBOURS, NEIGHBOURS),
            "That is consistent, and another model: halves were asked for."),
    Mistake("queries and keys turn in opposite directions", (_scores(keys=BACKWARDS), _scores(queries=BACKWARDS)),
            "Then the score sees the sum of the positions in place of their difference."),
    Mistake("only one of the two is turned", (_scores(keys=False), _scores(queries=False)),
            "The angle of one alone is an absolute position."),
    Mistake("nothing is turned", _scores(False, False), "These are the scores without any position."),
    Mistake("only one of the two starts at start", (_scores(keys="start"), _scores(queries="start")),
            "Query and key of the same row stand at the same position.", ("moved", "batch")),
    Mistake("the scores are scaled", _scores(after=lambda s, d: s / d**0.5), "Plain dot products were asked for."),
    Mistake("queries and keys have changed places", lambda q, k, start: right(k, q, start),
            "Rows are queries, columns are keys."),
)


EXERCISE = Exercise(
    name="rotary_scores",
    usage="rotary_scores(q, k, start)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Shapes: q and k (..., L, d), the result (..., L, L). Layout of halves, base 100, not scaled.",
)
