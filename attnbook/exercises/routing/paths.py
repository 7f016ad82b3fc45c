"""Predict: the path length between two words.

path_length(kind, source, target, window): the least number of hops from word `source` to the state of word `target`
(places count from 0), or None if no number of layers brings it there. Kinds:

    "chain"    a recurrent network, read from left to right: one step to the next word is one hop
    "all"      attention of all to all: one layer is one hop
    "causal"   attention under a causal mask
    "window"   causal attention to the last `window` words, the word itself included

A word reaches itself in 0 hops.
"""

import math

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake
from attnbook.exercises._report import report
from attnbook.exercises._returned import length


def check_path_length(fn) -> None:
    """Check path_length(kind, source, target, window) and print one message."""
    report(EXERCISE, fn)


def right(kind, source, target, window):
    if source == target:
        return 0
    if kind == "all":
        return 1
    if source > target:
        return None
    return {"chain": target - source, "causal": 1, "window": math.ceil((target - source) / (window - 1))}[kind]


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    def draw(low, high):
        return int(torch.randint(low, high, (), generator=generator))

    def case(stage, kind, source, target, window):
        extra = f" of {window} words" if kind == "window" else ""
        return Case(stage, f"kind {kind!r}{extra}, from word {source} to word {target}", (kind, source, target, window))

    def pair(least=12):
        source = draw(2, 9)
        return source, source + draw(least, 40)

    there = [case("forward", kind, *pair(), draw(4, 8)) for kind in ("chain", "all", "causal")]
    window = draw(4, 6)
    whole, rest = draw(6, 10) * (window - 1), draw(1, window - 1)  # far enough for a window one too wide to show
    back = [case("backward", kind, *reversed(pair()), draw(4, 8)) for kind in ("chain", "causal", "window", "all")]
    return [
        *there,
        case("window", "window", 3, 3 + whole, window),
        case("rest", "window", 3, 3 + whole + rest, window),
        case("window", "window", 4, 5, window),
        *back,
        *(case("itself", kind, place, place, draw(4, 8)) for kind, place in (("chain", 7), ("all", 8), ("window", 9))),
    ]


# -- the mistakes ----------------------------------------------------------------------------

def _for(kind, answer):
    """A wrong answer for one kind only; the others raise and are no explanation."""
    return lambda k, source, target, window: {kind: answer}[k](target - source, window)


MISTAKES = (
    Mistake("words were counted in place of hops", _for("chain", lambda d, w: d + 1),
            "Between two neighbours lies one hop, and both ends count as words.", ("forward",)),
    Mistake("the words in between were counted in place of hops", _for("chain", lambda d, w: d - 1),
            "With no word in between there is still one hop.", ("forward",)),
    Mistake("one hop for a chain", _for("chain", lambda d, w: 1),
            "A recurrent state hands over to its neighbour only.", ("forward",)),
    Mistake("distance counted for attention", (_for("all", lambda d, w: d), _for("causal", lambda d, w: d)),
            "A query reads every visible key directly, however far away it stands.", ("forward",)),
    Mistake("the window moves by its whole width",
            (_for("window", lambda d, w: math.ceil(d / w)), _for("window", lambda d, w: d // w),
             _for("window", lambda d, w: d // w + 1), _for("window", lambda d, w: d / w)),
            "The window holds the word itself, which brings nothing nearer.", ("window",)),
    Mistake("a part of a hop", (_for("window", lambda d, w: d // (w - 1)), _for("window", lambda d, w: d / (w - 1))),
            "What is left over takes a whole layer more.", ("rest",)),
    Mistake("rounded down and one added", _for("window", lambda d, w: d // (w - 1) + 1),
            "When the distance is a whole number of hops, nothing is left over for another layer.", ("window",)),
    Mistake("the window hides what lies outside it for good", _for("window", lambda d, w: None if d >= w else 1),
            "It does in one layer. In the next, the word in between hands on what it has read.", ("window",)),
    Mistake("distance counted for a window", _for("window", lambda d, w: d),
            "One layer reaches back over all words of the window.", ("window",)),
    Mistake("one hop for a window", _for("window", lambda d, w: 1),
            "One layer reaches only as far as the window.", ("window",)),
    Mistake("a way back from the future", lambda k, s, t, w: right(k, t, s, w),
            "Read from left to right, or under a causal mask, an earlier state never learns of a later word. "
            "No number of layers changes that.", ("backward",)),
    Mistake("a negative length", lambda k, s, t, w: t - s,
            "The difference of places is negative here; ask first whether there is any way.", ("backward",)),
    Mistake("0 or -1 for no way at all", (lambda k, s, t, w: 0, lambda k, s, t, w: -1),
            "Zero hops means: it is there already. Where no way leads, return None.", ("backward",)),
    Mistake("no way back although nothing is masked", _for("all", lambda d, w: None),
            "Attention of all to all has no direction; later words are as near as earlier ones.", ("backward",)),
    Mistake("a hop to itself", lambda k, s, t, w: 1, "A state holds its own word from the start.", ("itself",)),
    Mistake("no way to itself", lambda k, s, t, w: None, "A state holds its own word from the start.", ("itself",)),
)


def no_number(got, want):
    """A symptom: None where there is a way."""
    return "The answer is None, but there is a way." if torch.isinf(got) and not torch.isinf(want) else ""


EXERCISE = Exercise(
    name="path_length",
    usage="path_length(kind, source, target, window)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Count hops: one recurrent step or one layer each; None where no number of them arrives.",
    read=length,
    symptom=no_number,
)
