"""Norm, direction and what is kept of the word along the residual stream of both models."""

import re

import torch
from torch import Tensor, nn

from attnbook.pretrained.experiments import texts
from attnbook.stream import word_accuracy
from attnbook.tasks.characters import book

WORDS, EACH, TRAIN = 30, 40, 0.75  # words to name, places of each, share to learn from


def along(model) -> dict[str, Tensor]:
    """Means over the tokens of five sentences but the first and the last, after layer 0, 1, ...

    "norm": length of the vector; "start": cosine with layer 0; "step": cosine with the layer before, from layer 1 on;
    "first": length of the first token's vector alone.
    """
    near, found = nn.functional.cosine_similarity, {"norm": [], "start": [], "step": [], "first": []}
    for text in texts.PROSE:
        stream = model(text).stream
        inner = stream[:, 1:-1]
        found["norm"].append(inner.norm(dim=-1).mean(1))
        found["start"].append(near(inner, inner[:1], -1).mean(1))
        found["step"].append(near(inner[1:], inner[:-1], -1).mean(1))
        found["first"].append(stream[:, 0].norm(dim=-1))
    return {name: torch.stack(rows).mean(0) for name, rows in found.items()}


def places() -> list[tuple[str, int, str]]:
    """(sentence of the book, number of the word that is asked for, the word): 40 sentences for each of its 30 most frequent long words.

    The order is that of the book, turn by turn: the classifier learns on the first three quarters.
    """
    sentences = [s for s in re.split(r"(?<=[.!?;,])\s+", book()) if 5 <= len(s.split()) <= 25]
    found: dict[str, list[str]] = {}
    for sentence in sentences:
        for word in set(re.findall(r"(?<= )[a-z]{4,}\b", sentence)):
            found.setdefault(word, []).append(sentence)
    often = sorted(found, key=lambda word: (-len(found[word]), word))[:WORDS]
    return [(found[word][turn], number, word) for turn in range(EACH) for number, word in enumerate(often)]


def kept(model) -> list[float]:
    """Share of held-out places whose word a linear classifier names, after each layer; chance is 1/30."""
    states, words = [], []
    for sentence, number, word in places():
        trace = model(sentence)
        states.append(trace.stream[:, trace.place(word)[-1]])
        words.append(number)
    stacked, words = torch.stack(states, 1), torch.tensor(words)
    return [word_accuracy(layer, words, WORDS, TRAIN) for layer in stacked]


def measured(model) -> dict:
    """All of it, for the committed file."""
    return {**along(model), "kept": kept(model)}
