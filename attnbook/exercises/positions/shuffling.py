"""Predict: what shuffling the words before it does to the last word.

last_output_changes(layers, causal, scheme): True if the last token's output can change when the tokens before it are
shuffled, in a stack of attention layers with residual connections and a feed-forward part. scheme is one of SCHEMES.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake
from attnbook.exercises._report import report
from attnbook.exercises._returned import Unreadable, numbers

SCHEMES = ("none", "sinusoidal", "rope", "alibi")


def check_last_output_changes(fn) -> None:
    """Check last_output_changes(layers, causal, scheme) and print one message."""
    report(EXERCISE, fn)


def right(layers, causal, scheme):
    return scheme != "none" or (causal and layers >= 2)


# -- the inputs: a case asks about several stacks, in an order drawn anew ---------------------

def cases(generator):
    def ask(stage, what, questions):
        order = torch.randperm(len(questions), generator=generator).tolist()
        first, *rest = (questions[i] for i in order)

        def answers(fn, args):
            """All of them; one that is no answer goes back alone, so that it can be named."""
            found = [fn(*question) for question in (args, *rest)]
            return next((answer for answer in found if answer is None), found)
        return Case(stage, what, first, answers)

    deep = 2 + int(torch.randint(1, 5, (), generator=generator))
    return [ask("no mask", "no mask, no positions, several depths", [(n, False, "none") for n in (1, 2, deep)]),
            ask("causal", "a causal mask, no positions, several depths", [(n, True, "none") for n in (1, 2, deep)]),
            ask("positions", "all schemes, with and without a mask, several depths",
                [(n, causal, scheme) for n in (1, deep) for causal in (False, True) for scheme in SCHEMES])]


def read(value):
    """True or False, one for each question."""
    found = numbers(value)
    if found.numel() and not ((found == 0) | (found == 1)).all():
        raise Unreadable("numbers other than 0 and 1; expected True or False")
    return found


# -- the mistakes ----------------------------------------------------------------------------

def _but(**believed):
    """Right, but for one scheme."""
    return lambda layers, causal, scheme: believed[scheme] if scheme in believed else right(layers, causal, scheme)


MISTAKES = (
    Mistake("a set was thought to have an order", (
        lambda layers, causal, scheme: True,
        lambda layers, causal, scheme: layers >= 2 or right(layers, causal, scheme)),
            "Without mask and positions every token reads the same set, at every depth.", ("no mask",)),
    Mistake("the mask was thought to change nothing", lambda layers, causal, scheme: scheme != "none",
            "Which set did the tokens before the last one read in the first layer?", ("causal",)),
    Mistake("one masked layer was thought to be enough", lambda layers, causal, scheme: scheme != "none" or causal,
            "In the first layer the last token still reads the same vectors as before.", ("causal",)),
    Mistake("two masked layers were thought too few", lambda layers, causal, scheme: scheme != "none" or (
        causal and layers > 2), "Layer 1 gives the tokens different pasts; who reads them next?", ("causal",)),
    Mistake("RoPE was thought to carry no position, as it adds none", _but(rope=False),
            "Scores with it depend on the distance.", ("positions",)),
    Mistake("ALiBi was thought to carry no position, as it adds no vector", _but(alibi=False),
            "A bias by distance is a position.", ("positions",)),
    Mistake("sinusoids were thought to need training, or depth", _but(sinusoidal=False),
            "They are added before the first layer, so every score sees them.", ("positions",)),
    Mistake("a relative scheme was thought to see no order in one layer",
            lambda n, causal, scheme: n >= 2 if scheme in ("rope", "alibi") else right(n, causal, scheme),
            "Distances to the last token change when the others are shuffled.", ("positions",)),
)

EXERCISE = Exercise(
    name="last_output_changes",
    usage="last_output_changes(layers, causal, scheme)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Return True if the last token's output can change when the tokens before it are shuffled, else False.",
    read=read,
)
