"""Train the two spelling models and measure them on words they have not seen."""

import json
import time
from collections.abc import Sequence
from importlib import resources

import torch
from torch import nn

from attnbook.tasks.spelling.model import SpellingModel
from attnbook.tasks.spelling.words import PAD, START, distance, letters, parts, spoken, targets
from attnbook.training import History, fit

STEPS, LIVE_STEPS, BATCH, LR = 2000, 60, 64, 4e-3
BANDS = ((3, 6), (7, 9), (10, 12), (13, 18))  # letters
WORDS_DRAWN = ("attention", "nightshade", "knowledge", "photograph", "though", "character", "machine", "bicycle",
               "shepherd", "unbelievable", "extraordinary", "responsibility")


def train_spelling(attends: bool, seed: int = 0, steps: int = STEPS) -> tuple[SpellingModel, History]:
    """A model trained on batches of 64 words; the same for the same seed. Held-out words and those whose alignments are
    drawn are never among them."""
    train = [pair for pair in parts()[0] if pair[0] not in WORDS_DRAWN]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = SpellingModel(attends)

    def loss(generator):
        chosen = [train[i] for i in torch.randint(len(train), (BATCH,), generator=generator)]
        ids, lengths = letters([word for word, _ in chosen])
        wanted = targets([sounds for _, sounds in chosen])
        earlier = torch.cat([wanted.new_full((BATCH, 1), START), wanted[:, :-1].clamp(min=0)], 1)
        logits, _ = model(ids, lengths, earlier)
        return nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD)

    return model, fit(model, loss, steps=steps, lr=LR, seed=seed, warm_up=20, clip=1.0)


def band(word: str) -> int:
    """Which of BANDS the length of a word falls into."""
    return next(i for i, (first, last) in enumerate(BANDS) if first <= len(word) <= last)


def error_rates(model: SpellingModel, words: Sequence[tuple[str, Sequence[str]]] | None = None) -> dict:
    """Sounds to correct for each sound there is, by length of word ("bands") and in all, and the share of words right.

    words: (word, sounds), default the held-out ones.
    """
    words = parts()[1] if words is None else words
    wrong, sounds, right = [0] * len(BANDS), [0] * len(BANDS), 0
    for begin in range(0, len(words), 500):
        chunk = words[begin:begin + 500]
        said, _ = model.say(*letters([word for word, _ in chunk]))
        for (word, wanted), ids in zip(chunk, said, strict=True):
            off = distance(spoken(ids), wanted)
            wrong[band(word)] += off
            sounds[band(word)] += len(wanted)
            right += off == 0
    rates = [w / max(n, 1) for w, n in zip(wrong, sounds, strict=True)]
    return {"bands": rates, "all": sum(wrong) / sum(sounds), "right": right / len(words)}


def align(model: SpellingModel, word: str) -> tuple[tuple[str, ...], list[list[float]]]:
    """What a model with attention says, and for each sound its weights on the letters."""
    said, weights = model.say(*letters([word]))
    sounds = spoken(said[0])
    return sounds, weights[0, :len(sounds)].tolist()


def measure(seeds: Sequence[int] = (0, 1, 2), steps: int = STEPS) -> dict:
    """The full run: both models, every seed, held-out words, CPU seconds of each training; alignments of the first seed."""
    result = {"steps": steps, "seeds": list(seeds), "without": [], "with": []}
    for seed in seeds:
        for name, attends in (("without", False), ("with", True)):
            began = time.process_time()
            model, history = train_spelling(attends, seed, steps)
            seconds = time.process_time() - began
            rates = error_rates(model) | {"loss": sum(history.loss[-50:]) / 50, "seconds": seconds}
            result[name].append(rates)
            if attends and "alignments" not in result:
                result["alignments"] = {word: align(model, word) for word in WORDS_DRAWN}
    return result


def saved() -> dict:
    """The committed result of tools/measure_spelling.py, with the date of the run and how long each training took."""
    text = resources.files("attnbook.tasks").joinpath("data", "spelling.json").read_text(encoding="utf-8")
    return json.loads(text)
