"""30,000 words of the CMU Pronouncing Dictionary: letters in, sounds out (data/README.md says where they come from)."""

from collections.abc import Sequence
from functools import cache
from importlib import resources

import torch
from jaxtyping import Int
from torch import Tensor

HELD_OUT = 3000  # the first words of the list, which is in random order, are never trained on
END, START = 0, 1  # ids that are no sound
PAD = -1  # beyond the end of a shorter word
SOUNDS = tuple("AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH"
               .split())


@cache
def pairs() -> list[tuple[str, tuple[str, ...]]]:
    """(word, its sounds), in the order of the file."""
    text = resources.files("attnbook.tasks").joinpath("data", "cmudict.txt").read_text(encoding="utf-8")
    rows = (line.split() for line in text.splitlines())
    return [(word, tuple(sounds)) for word, *sounds in rows]


def parts() -> tuple[list, list]:
    """(pairs to train on, held-out pairs)."""
    return pairs()[HELD_OUT:], pairs()[:HELD_OUT]


def letters(words: Sequence[str]) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B"]]:
    """Letter ids (a = 1, 0 where a word has ended) and lengths. Raises ValueError for anything but letters a to z."""
    for word in words:
        if not (word and word.isascii() and word.isalpha() and word.islower()):
            raise ValueError(f"words has {word!r}; expected small letters a to z")
    lengths = torch.tensor([len(word) for word in words])
    ids = torch.zeros(len(words), int(lengths.max()), dtype=torch.long)
    for row, word in zip(ids, words, strict=True):
        row[:len(word)] = torch.tensor([ord(c) - 96 for c in word])
    return ids, lengths


def targets(sounds: Sequence[Sequence[str]]) -> Int[Tensor, "B T"]:
    """Sound ids, each word closed by END, PAD after it."""
    names = {sound: i + 2 for i, sound in enumerate(SOUNDS)}
    ids = torch.full((len(sounds), max(map(len, sounds)) + 1), PAD)
    for row, word in zip(ids, sounds, strict=True):
        row[:len(word) + 1] = torch.tensor([*(names[s] for s in word), END])
    return ids


def spoken(ids: Int[Tensor, "T"]) -> tuple[str, ...]:
    """The sounds up to END."""
    found = []
    for i in ids.tolist():
        if i == END:
            break
        found.append(SOUNDS[i - 2] if i > START else "?")
    return tuple(found)


def distance(a: Sequence[str], b: Sequence[str]) -> int:
    """Smallest number of sounds to add, drop or replace that turns a into b. Source: Levenshtein 1966."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (x != y))
    return row[-1]
