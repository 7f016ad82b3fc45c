"""Find the bug: which rows can change when one word changes.

rows_that_change(mask, word, n_layers): mask boolean (L, L), rows are queries, True = may attend. Every layer is
attention plus the residual stream, so a word keeps what it has. Returns L values, True where the state of that word
after n_layers can change when word number `word` is replaced.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake
from attnbook.exercises._report import report
from attnbook.exercises._returned import truths


def check_rows_that_change(fn) -> None:
    """Check rows_that_change(mask, word, n_layers) and print one message."""
    report(EXERCISE, fn)


def _spread(look=lambda mask: mask, keep=True, extra=0):
    """Layer by layer, with one stage changed. look: how the mask is read."""
    def rows(mask, word, n_layers):
        changed = torch.arange(mask.shape[-1]) == word
        for _ in range(n_layers + extra):
            reached = (look(mask) & changed).any(-1)
            changed = reached | changed if keep else reached
        return changed
    return rows


right = _spread()


# -- the inputs ------------------------------------------------------------------------------

FIRST = torch.tensor([[1, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 1], [0, 1, 0, 0, 1, 0],
                      [0, 0, 1, 1, 0, 0], [1, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]], dtype=torch.bool)


def cases(generator):
    causal = torch.ones(6, 6, dtype=torch.bool).tril()
    return [
        _case("one layer", FIRST, 2, 1),
        _telling(generator, "one layer", 1),
        _telling(generator, "layers", 2),
        _telling(generator, "layers", 3),
        _case("causal", causal, int(torch.randint(1, 5, (), generator=generator)), 1),
        _case("causal", causal, 5, 3),
    ]


def _case(stage, mask, word, n_layers):
    rows = " ".join("".join("01"[seen] for seen in row) for row in mask.long().tolist())
    return Case(stage, f"a mask with rows {rows}, word {word}, n_layers {n_layers}", (mask, word, n_layers))


def _telling(generator, stage, n_layers):
    """A random mask of 7 words on which each mistake returns something else, and none the right answer."""
    while True:
        mask = torch.rand(7, 7, generator=generator) < 0.25
        word = int(torch.randint(0, 7, (), generator=generator))
        case = _case(stage, mask, word, n_layers)
        ways = [way for mistake in MISTAKES if stage in mistake.stages for way in mistake.ways]
        if len({tuple(case.answer(way, truths).tolist()) for way in (right, *ways)}) == len(ways) + 1:
            return case


# -- the mistakes ----------------------------------------------------------------------------

ONE, MORE = ("one layer",), ("layers",)

MISTAKES = (
    Mistake("the row of the mask was read in place of its column",
            (_spread(lambda m: m.mT), _spread(lambda m: m.mT, keep=False)),
            "A row says whom the word reads. Asked is who reads the word, and those stand in its column.", ONE),
    Mistake("the mask is read the other way round", _spread(lambda m: ~m),
            "True means: may attend. A query that may not look cannot change.", ONE),
    Mistake("the word itself is left out", _spread(keep=False),
            "Whatever the mask says, the residual stream carries a change on to the next layer.", ONE),
    Mistake("one layer too many", _spread(extra=1), "A change moves on by one reading in each layer.", ONE),
    Mistake("every row changes", lambda m, word, n: torch.ones(len(m)),
            "That is so without a mask. Here some queries never read the word, not even through others.", ONE),
    Mistake("only the word itself changes", lambda m, word, n: torch.arange(len(m)) == word,
            "Those who read it change too.", ONE),
    Mistake("nothing changes", lambda m, word, n: torch.zeros(len(m)), "The word itself changes at least.", ONE),
    Mistake("one layer only", lambda m, word, n: right(m, word, 1),
            "In the next layer the words that have changed are read in their turn.", MORE),
)

EXERCISE = Exercise(
    name="rows_that_change",
    usage="rows_that_change(mask, word, n_layers)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="The mask (L, L) has queries in rows and True = may attend; the result has L values, True or False.",
    read=truths,
)
