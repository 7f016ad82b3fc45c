"""Sentences like

    The animal didn't cross the street because it was too tired / wide

A being can be tired and a way can be wide, never the other way round, so the last word decides what "it" means.
Either noun may come first, so no position decides alone.

The pairs in HELD_OUT (animal and street among them) never occur together in training, though each word does.
The sentence pair is from Uszkoreit 2017, "Transformer: A Novel Neural Network Architecture for Language Understanding".
"""

from functools import cache
from itertools import product

import torch
from jaxtyping import Int
from torch import Tensor

BEINGS = ("animal", "dog", "cat", "horse", "cow", "goat", "fox", "sheep", "duck", "bear", "wolf", "deer")
WAYS = ("street", "road", "river", "bridge", "field", "square", "path", "yard", "lane", "track", "meadow", "stream")
TIRED = ("tired", "hungry", "sleepy", "scared", "thirsty", "lazy")  # what a being can be
WIDE = ("wide", "narrow", "icy", "flooded", "slippery", "sunny")  # what a way can be
BEING_FIRST = ("cross", "leave")  # The animal didn't cross the street ...
WAY_FIRST = ("suit", "tempt")  # The street didn't suit the animal ...

NOUNS = BEINGS + WAYS
HELD_OUT = tuple(zip(BEINGS, WAYS, strict=True))
VOCABULARY = ("The", "the", "didn't", "because", "it", "was", "too", *BEING_FIRST, *WAY_FIRST, *NOUNS, *TIRED, *WIDE)
LENGTH, FIRST, SECOND, IT, LAST = 11, 1, 5, 7, 10  # words in a sentence; places of the nouns, of "it", of the adjective
READINGS = {
    "tired": "The animal didn't cross the street because it was too tired",
    "wide": "The animal didn't cross the street because it was too wide",
}

_ID = {word: i for i, word in enumerate(VOCABULARY)}


def sentence(first: str, verb: str, second: str, adjective: str) -> str:
    """The one frame of the family, filled in."""
    return f"The {first} didn't {verb} the {second} because it was too {adjective}"


def sentences(held_out: bool = False) -> list[tuple[str, str]]:
    """Every (sentence, noun that "it" means) of training, or of the held-out word pairs."""
    found = []
    for being, way, adjective in product(BEINGS, WAYS, TIRED + WIDE):
        if ((being, way) in HELD_OUT) == held_out:
            meant = being if adjective in TIRED else way
            found += [(sentence(being, verb, way, adjective), meant) for verb in BEING_FIRST]
            found += [(sentence(way, verb, being, adjective), meant) for verb in WAY_FIRST]
    return found


def encode(text: str) -> Int[Tensor, "L"]:
    """Word ids of a sentence. Raises ValueError for a word outside VOCABULARY or another length than LENGTH."""
    words = text.rstrip(".").split()
    unknown = [word for word in words if word not in _ID]
    if unknown:
        raise ValueError(f"text has the unknown word {unknown[0]!r}; expected words of VOCABULARY")
    if len(words) != LENGTH:
        raise ValueError(f"text has {len(words)} words; expected {LENGTH}")
    return torch.tensor([_ID[word] for word in words])


@cache
def examples(held_out: bool = False) -> tuple[Int[Tensor, "N L"], Int[Tensor, "N"]]:
    """All sentences() as word ids (N, 11) and answers (N,), each answer an index into NOUNS. Made once."""
    pairs = sentences(held_out)
    return torch.stack([encode(text) for text, _ in pairs]), torch.tensor([NOUNS.index(noun) for _, noun in pairs])


def batch(size: int, generator: torch.Generator, held_out: bool = False) -> tuple[Tensor, Tensor]:
    """A random draw of `size` examples: word ids (size, 11) and answers (size,)."""
    tokens, answers = examples(held_out)
    chosen = torch.randint(len(answers), (size,), generator=generator)
    return tokens[chosen], answers[chosen]
