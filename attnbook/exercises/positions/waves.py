"""Implement: sinusoids for any width, also an odd one.

wave_table(n, d): returns (n, d); row p, column 2i: sin(p / 10000^(2i/d)), column 2i + 1: cos of the same angle. An odd
width ends with a sine.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake
from attnbook.exercises._report import report


def check_wave_table(fn) -> None:
    """Check wave_table(n, d) and print one message."""
    report(EXERCISE, fn)


def _table(power=lambda c, d: (c - c % 2) / d, *, base=1e4, first=0, cosine=lambda c, d: c % 2 == 1, order=None):
    """power(column, d), cosine(column, d): on the column numbers; order(d): columns in another order."""
    def wave_table(n, d):
        columns = torch.arange(d) if order is None else order(d)
        p = torch.arange(first, first + n, dtype=torch.float64)[:, None]
        angles = p * base ** -power(columns.double(), d)
        return torch.where(cosine(columns, d), angles.cos(), angles.sin())
    return wave_table


right = _table()


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    def draw(low, high):
        return int(torch.randint(low, high, (), generator=generator))

    return [Case("first row", "one position, width 4", (1, 4)),
            Case("frequencies", "several positions, an even width", (draw(5, 12), 2 * draw(3, 7))),
            Case("odd width", "several positions, an odd width", (draw(5, 12), 2 * draw(3, 7) + 1)),
            Case("width 1", "several positions, width 1", (draw(4, 9), 1))]


# -- the mistakes ----------------------------------------------------------------------------

MISTAKES = (
    Mistake("positions begin at 1", _table(first=1), "The first row is position 0: its sines are 0."),
    Mistake("cosines come first", _table(cosine=lambda c, d: c % 2 == 0),
            "Even columns, counted from 0, hold the sines."),
    Mistake("only sines", _table(cosine=lambda c, d: c < 0), "A sine alone cannot be shifted: it needs its cosine."),
    Mistake("sine and cosine of a pair have different frequencies", _table(lambda c, d: c / d),
            "A pair is one clock hand: one angle, of which you take sine and cosine."),
    Mistake("the exponent is too large by a factor of 2", _table(lambda c, d: 2 * (c - c % 2) / d),
            "If your loop counts 0, 2, 4, it already holds 2i."),
    Mistake("the exponent is too small by a factor of 2", _table(lambda c, d: (c - c % 2) / 2 / d),
            "Pair i has exponent 2i/d: there are d/2 pairs, and they should span the whole range."),
    Mistake("sines in the first half, cosines in the second",
            _table(order=lambda d: torch.cat((torch.arange(0, d, 2), torch.arange(1, d, 2)))),
            "Some programs do that, and it is no error by itself. Here the two alternate."),
    Mistake("the base is 1000", _table(base=1e3), "Count the zeros."),
    Mistake("an odd width was rounded when the frequencies were made", _table(lambda c, d: (c - c % 2) / (d + d % 2)),
            "Divide by the width that was asked for.", ("odd width",)),
    Mistake("an odd width was rounded down when the frequencies were made",
            _table(lambda c, d: (c - c % 2) / max(d - d % 2, 1)),
            "Divide by the width that was asked for.", ("odd width",)),
    Mistake("an odd width ends with a cosine", _table(cosine=lambda c, d: (c % 2 == 1) | ((c == d - 1) & (d % 2 == 1))),
            "Its last column has an even number: a sine.", ("odd width", "width 1")),
)


EXERCISE = Exercise(
    name="wave_table",
    usage="wave_table(n, d)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Return an array (n, d): a row for each position, from 0; columns alternate sine, cosine.",
)
