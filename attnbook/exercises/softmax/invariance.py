"""Predict: which changes leave the weights alone.

same_weights(change, c): True if softmax returns the same weights for EVERY row of scores after this change, else False.
c is a number above 0. The kinds of change are in KINDS.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake
from attnbook.exercises._report import report
from attnbook.exercises._returned import Unreadable, numbers

KINDS = {  # does it leave the weights of every row alone?
    "add to all": lambda c: True,
    "add to one": lambda c: False,
    "subtract the peak": lambda c: True,
    "multiply": lambda c: c == 1,
    "multiply, and T": lambda c: True,
    "shares again": lambda c: True,
    "softmax twice": lambda c: False,
}
SHIFTS, SCALES, AFTER = ("add to all", "add to one", "subtract the peak"), ("multiply", "multiply, and T"), (
    "shares again", "softmax twice")


def check_same_weights(fn) -> None:
    """Check same_weights(change, c) and print one message."""
    report(EXERCISE, fn)


def right(change, c):
    return KINDS[change](c)


# -- the inputs: a case asks about several changes, in an order drawn anew --------------------

def cases(generator):
    return [_ask(generator, "shifts", SHIFTS), _ask(generator, "scales", SCALES), _ask(generator, "after", AFTER)]


def _ask(generator, stage, kinds, n=10):
    """Each kind at least once with any c, and a factor of exactly 1 where it decides."""
    more = [kinds[i] for i in torch.randint(len(kinds), (n - len(kinds),), generator=generator).tolist()]
    factors = (0.3 + 3 * torch.rand(n, generator=generator)).tolist()
    asked = [*zip([*kinds, *more], factors)] + ([("multiply", 1.0)] if "multiply" in kinds else [])
    order = torch.randperm(len(asked), generator=generator).tolist()
    first, *rest = (asked[i] for i in order)

    def answers(fn, args):
        """All of them; one that is no answer goes back alone, so that it can be named."""
        found = [fn(*question) for question in (args, *rest)]
        return next((answer for answer in found if answer is None), found)

    named = ", ".join(f'"{kind}"' for kind in kinds)
    return Case(stage, f"the changes {named}, with several c", first, answers)


def read(value):
    """True or False, one for each question."""
    found = numbers(value)
    if found.numel() and not ((found == 0) | (found == 1)).all():
        raise Unreadable("numbers other than 0 and 1; expected True or False")
    return found


# -- the mistakes ----------------------------------------------------------------------------

def _believes(**beliefs):
    """Right, but for some kinds: _believes(multiply=True), with "_" for a space."""
    wrong = {kind.replace("_", " "): answer for kind, answer in beliefs.items()}
    return lambda change, c: wrong.get(change.replace(",", ""), right(change, c))


MISTAKES = (
    Mistake("a constant on all scores was thought to matter",
            (_believes(add_to_all=False), _believes(add_to_all=False, subtract_the_peak=False)),
            "Every exponential gets the same factor, and the sum gets it, too.", ("shifts",)),
    Mistake("subtracting the peak was thought to matter", _believes(subtract_the_peak=False),
            "The peak is one number for the whole row, the same for each score.", ("shifts",)),
    Mistake("a change of one score was thought harmless", _believes(add_to_one=True),
            "Its gap to all others changes, and gaps are what softmax sees.", ("shifts",)),
    Mistake("shifts: True and False are exchanged", lambda change, c: not right(change, c),
            "True means: the weights stay as they are.", ("shifts",)),
    Mistake("a factor was thought harmless", _believes(multiply=True),
            "All gaps are multiplied, so the row gets sharper or flatter.", ("scales",)),
    Mistake("a factor that changes nothing was overlooked", _believes(multiply=False),
            "One value of c leaves every number as it is.", ("scales",)),
    Mistake("factor and temperature were not set off against each other", _believes(multiply_and_T=False),
            "The scores are multiplied by c and then divided by T, which is c.", ("scales",)),
    Mistake("a division of the weights was thought to matter", _believes(shares_again=False),
            "All weights get the same factor, and dividing by their sum takes it out again.", ("after",)),
    Mistake("a second softmax was thought harmless", _believes(softmax_twice=True),
            "It reads weights as if they were scores; their gaps are other gaps.", ("after",)),
)

EXERCISE = Exercise(
    name="same_weights",
    usage="same_weights(change, c)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Return True if the weights of every row of scores stay as they are after the change, else False.",
    read=read,
)
