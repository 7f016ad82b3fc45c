"""A trap: the same question in an order of words that training did not show (chapter 7).

In the usual order the being stands first: "The animal didn't cross the street because it was too tired". Who has seen
nothing else can answer by a habit (tired: the first noun; wide: the second) or by the rule (tired: the being), and both
are always right. The swapped order, "The street didn't cross the animal because it was too tired", tells them apart.
As a sentence it is odd; to the question what can be tired it makes no difference.
"""

from functools import cache
from itertools import product

import torch
from jaxtyping import Int
from torch import Tensor

from attnbook.tasks.coreference.inside import explorer_data
from attnbook.tasks.coreference.model import train_coreference
from attnbook.tasks.coreference.sentences import (
    BEING_FIRST,
    BEINGS,
    HELD_OUT,
    NOUNS,
    TIRED,
    WAYS,
    WIDE,
    encode,
    sentence,
)


@cache
def ordered(being_first: bool, held_out: bool = True) -> tuple[Int[Tensor, "N 11"], Int[Tensor, "N"]]:
    """Sentences with the verbs "cross" and "leave" in one order, as word ids and answers, like examples()."""
    texts, answers = [], []
    for being, way, verb, adjective in product(BEINGS, WAYS, BEING_FIRST, TIRED + WIDE):
        if ((being, way) in HELD_OUT) == held_out:
            nouns = (being, way) if being_first else (way, being)
            texts.append(encode(sentence(nouns[0], verb, nouns[1], adjective)))
            answers.append(NOUNS.index(being if adjective in TIRED else way))
    return torch.stack(texts), torch.tensor(answers)


def usual(held_out: bool = True):
    """The being first, as these verbs have it in all of training."""
    return ordered(True, held_out)


def swapped(held_out: bool = True):
    """The way first: with these verbs never seen in training, by no model."""
    return ordered(False, held_out)


def train_habit(seed: int = 0, steps: int = 160):
    """A model that has seen the usual order only; (model, report) as from train_coreference."""
    return train_coreference(seed, steps=steps, data=usual(held_out=False))


def trap_explorer_data(rule, habit) -> dict:
    """Data for the CoreferenceExplorer: two (model, report) pairs by name, each with the usual and the swapped sentence."""
    noun = {"usual": ("animal", "street"), "swapped": ("street", "animal")}
    names = {"usual": ("tired", "wide"), "swapped": ("tired, street first", "wide, street first")}
    readings = {name: sentence(noun[order][0], "cross", noun[order][1], name.split(",")[0])
                for order, pair in names.items() for name in pair}
    data = explorer_data([rule, habit], readings)
    data["sentences"] = [list(pair) for pair in names.values()]
    data["models"][0]["name"] = ["both orders seen", "两种顺序都见过"]
    data["models"][1]["name"] = ["one order seen", "只见过一种顺序"]
    return data
