"""Question as code: why is this attention map impossible?

impossible_rows(weights, causal): weights (n, n), rows are queries. Returns n booleans: True where no softmax over the
keys that this query may see can have given the row. A row is possible if no weight is negative, a hidden key has
weight 0 exactly, and the weights sum to 1 (within 0.001). causal: query i sees keys 0 to i only.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake
from attnbook.exercises._report import report
from attnbook.exercises._returned import truths


def check_impossible_rows(fn) -> None:
    """Check impossible_rows(weights, causal) and print one message."""
    report(EXERCISE, fn)


def _rows(sums=lambda w: (w.sum(-1) - 1).abs() > 1e-3, negative=lambda w: (w < 0).any(-1),
          future=lambda w: (w.triu(1) != 0).any(-1)):
    def impossible(weights, causal):
        bad = sums(weights) | negative(weights)
        return bad | future(weights) if causal else bad
    return impossible


right = _rows()


# -- the inputs: softmax rows, some of them spoiled ------------------------------------------

def cases(generator):
    def soft(causal=False, n=8):
        scores = torch.randn(n, n, generator=generator, dtype=torch.float64) * 1.5
        return torch.softmax(scores.masked_fill(torch.ones(n, n).triu(1) > 0, -torch.inf) if causal else scores, -1)

    def below_zero(w, row):  # the sum stays 1
        w[row, 0], w[row, 1] = w[row, 0] + w[row, 1] + 0.2, -0.2
        return w.float()

    def future(w, row):  # the sum stays 1
        w[row, -1], w[row, 0] = 0.3 * w[row, 0], 0.7 * w[row, 0]
        return w.float()

    def at(high=8):
        return int(torch.randint(1, high, (), generator=generator))

    def spoiled():  # no column but 3 sums to about 1, so that no tolerance decides what a sum of columns says
        while True:
            w = _sums(soft(), generator)
            if ((w.sum(0) - 1).abs() > 0.02).sum() == 7:
                return w

    return [
        Case("sum", "a map (8, 8), all may read all; two of its rows sum to 1.1 and 0.9",
             (spoiled(), False)),
        Case("causal", "a map (8, 8) out of a causal softmax", (_one_even_row(soft(True)), True)),
        Case("sign", "a map (8, 8) with a negative weight in a row that sums to 1", (below_zero(soft(), at()), False)),
        Case("future", "a causal map (8, 8) in which one query reads the last key, rows sum to 1",
             (future(soft(True), at(7)), True)),
        Case("not causal", "the same kind of map, but all may read all", (future(soft(True), at(7)), False)),
    ]


def _one_even_row(w):
    """Row 4 sums to 1 without rounding, although it reads the past."""
    w[4] = 0
    w[4, 0] = w[4, 4] = 0.5
    return w.float()


def _sums(w, generator):
    """Two rows of the wrong sum; row 0 and column 3 sum to 1 exactly, the other rows only within rounding."""
    w[0], w[:, 3] = 0, 0
    w = w / w.sum(-1, keepdim=True).clamp_min(1e-9) * 0.875
    w[0, 0], w[:, 3] = 0.875, 0.125
    more, less = (torch.randperm(6, generator=generator)[:2] + 1).tolist()
    for row, add in ((more, 0.1), (less, -0.1)):
        w[row] += add * w[row] / (w[row].sum() - 0.125)
        w[row, 3] = 0.125
        w[row] *= torch.where(torch.arange(8) == 3, 1.0, (0.875 + add) / (w[row].sum() - 0.125))
    w[1:, torch.arange(8) != 3] *= 1 + 1e-5  # as a map rounded to five digits
    return w.float()


# -- the mistakes ----------------------------------------------------------------------------

def _columns(weights, causal):
    return (weights.sum(-2) - 1).abs() > 1e-3


def _never(w):
    return torch.zeros(len(w), dtype=torch.bool)


def _too_exact(got, case):
    """All impossible rows found, the row that sums to 1 without rounding left alone, others accused."""
    bad = right(*case.args)
    return bool(got[bad].all() and got.sum() > bad.sum() and (case.stage == "sign" or not got[0]))


SUM = ("sum",)
MISTAKES = (
    Mistake("columns were summed", _columns,
            "A column may sum to anything: a popular word is read a lot. It is the rows that share out 1.", SUM),
    Mistake("possible and impossible are exchanged", lambda w, causal: ~right(w, causal),
            "True stands for a row that no softmax can give.", SUM),
    Mistake("one verdict for the whole map", lambda w, causal: right(w, causal).any().expand(len(w)),
            "Only the row itself is impossible; the other queries do not depend on it.", SUM),
    Mistake("a causal mask in every map", lambda w, causal: right(w, True),
            "Without the mask a query may read later words.", ("sum", "not causal")),
    Mistake("only sums above 1 count", _rows(sums=lambda w: w.sum(-1) > 1 + 1e-3),
            "A row that sums to less than 1 is as impossible: nothing else could have got the rest.", SUM),
    Mistake("only sums below 1 count", _rows(sums=lambda w: w.sum(-1) < 1 - 1e-3),
            "A row cannot give away more than it has.", SUM),
    Mistake("the sums are not looked at", _rows(sums=_never), "Every query shares out exactly 1.", SUM),
    Mistake("the diagonal is forbidden", _rows(future=lambda w: (w.triu() != 0).any(-1)), "A word may read itself.",
            ("causal",)),
    Mistake("the past is forbidden", _rows(future=lambda w: (w.tril(-1) != 0).any(-1)),
            "Query i sees the keys up to its own place: rows are queries, columns are keys.", ("causal",)),
    Mistake("the sign is not looked at", _rows(negative=_never), "An exponential is never negative.", ("sign",)),
    Mistake("the future is not looked at", _rows(future=_never),
            "Under a causal mask a later key has weight 0, not a small one.", ("future",)),
    Mistake("sums were compared exactly", (),
            "Rounded numbers seldom sum to 1 exactly. Allow a thousandth.", ("sum", "causal", "sign"), sign=_too_exact),
)


EXERCISE = Exercise(
    name="impossible_rows",
    usage="impossible_rows(weights, causal)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="One boolean for each row (query), True if no softmax over the visible keys can have given it.",
    read=truths,
)
