"""Find the bugs: top-p.

keep_nucleus(probabilities, p): probabilities (n,) that sum to 1, p in (0, 1]. Returns n values, True for the tokens of the
smallest set of most likely tokens whose probability reaches p, each at the place of its token.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report
from attnbook.exercises._returned import Unreadable, numbers


def check_keep_nucleus(fn) -> None:
    """Check keep_nucleus(probabilities, p) and print one message."""
    report(EXERCISE, fn)


def _kept(keep=lambda ranked, p: ranked.cumsum(0) - ranked < p, place=True, largest=True):
    """Rank, keep by rank, put back in place, with one stage changed."""
    def fn(q, p):
        order = q.argsort(descending=largest)
        kept = keep(q[order], p)
        return torch.zeros(len(q), dtype=torch.bool).scatter(0, order, kept) if place else kept
    return fn


right = _kept()


def read(value):
    """n values, each True or False."""
    found = numbers(value)
    if found.numel() and not ((found == 0) | (found == 1)).all():
        raise Unreadable("numbers other than 0 and 1; expected True or False for each token, at its place")
    return found


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    return [
        _telling(generator, "crossing", "probabilities (6,) in falling order, p in the middle", True),
        _telling(generator, "order", "probabilities (6,) in any order, p in the middle", False),
        Case("small p", "probabilities (6,) in any order, p = 0.01", (_draw(generator), 0.01)),
    ]


def _draw(generator):
    return torch.softmax(normal(generator, 6), -1)


def _telling(generator, stage, what, falling):
    """A draw on which each mistake of the stage gives an answer of its own; p lies half way through the token that crosses it."""
    while True:
        q = _draw(generator)
        q = q.sort(descending=True).values if falling else q
        ranked, cross = q.sort(descending=True).values, int(torch.randint(2, 4, (), generator=generator))
        case = Case(stage, what, (q, round((ranked[:cross].sum() + ranked[cross] / 2).item(), 4)))
        ways = [way for mistake in MISTAKES if stage in mistake.stages for way in mistake.ways]
        answers = {tuple(case.answer(way, read).tolist()) for way in (right, *ways)}
        if ranked.diff().abs().min() > 0.01 and ranked[-1] > 0.02 and len(answers) == len(ways) + 1:
            return case


# -- the mistakes ----------------------------------------------------------------------------

CROSSING, ORDER = ("crossing",), ("order",)

MISTAKES = (
    Mistake("the token that crosses p is dropped", _kept(lambda ranked, p: ranked.cumsum(0) <= p),
            "What is kept then falls short of p. A token stays as long as what stands before it has not reached p.",
            CROSSING),
    Mistake("one token too many", _kept(lambda ranked, p: (ranked.cumsum(0) - ranked).roll(1).index_fill(
        0, torch.tensor([0]), 0.0) < p), "The set has reached p before its last token came.", CROSSING),
    Mistake("p was compared with single tokens", _kept(lambda ranked, p: ranked >= p),
            "It is the probability of all tokens kept, together, that must reach p.", CROSSING),
    Mistake("the kept and the dropped are exchanged", _kept(lambda ranked, p: ranked.cumsum(0) - ranked >= p),
            "True means: this token may be drawn.", CROSSING),
    Mistake("all tokens are kept", _kept(lambda ranked, p: ranked >= 0),
            "The tail is what top-p is there to cut off.", CROSSING),
    Mistake("only the best token is kept", _kept(lambda ranked, p: torch.arange(len(ranked)) == 0),
            "That is argmax. Go on until the sum reaches p.", CROSSING),
    Mistake("the least likely tokens come first", _kept(largest=False),
            "Sum up from the most likely token downwards.", CROSSING),
    Mistake("the answer stands in the order of the ranking", _kept(place=False),
            "The first True belongs to the most likely token, wherever it stood. Put each answer back to the place of its "
            "token.", ORDER),
    Mistake("the tokens were never ranked", lambda q, p: q.cumsum(0) - q < p,
            "They come in any order; the sum must run from the most likely one downwards.", ORDER),
    Mistake("the way back to the places is taken in the wrong direction",
            lambda q, p: _kept(place=False)(q, p)[q.argsort(descending=True)],
            "order[0] names the token that ranks first. Reading with it moves places to ranks; here ranks must go to places.",
            ORDER),
)

EXERCISE = Exercise(
    name="keep_nucleus",
    usage="keep_nucleus(probabilities, p)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="n probabilities go in and n values True or False come out, each at the place of its token.",
    read=read,
)
