"""Checks of chapter 4 that train: hard attention, and a character model that writes at several temperatures."""

from functools import partial

import torch

from attnbook.claims.measurement import Measurement
from attnbook.softmax import hard_attention, sample, softmax
from attnbook.tasks import characters
from attnbook.tasks.pointing import train_pointing

TEMPERATURES = (0.2, 0.5, 0.7, 1.0, 1.5)
SEEDS, TEXTS = (0, 1, 2), 40


def hard_attention_learns() -> Measurement:
    """A head with one-hot weights never moves its pointer, yet its values learn; straight-through learns all of it."""
    runs = {"soft": softmax, "hard": hard_attention, "through": partial(hard_attention, straight_through=True)}
    values = {"seeds": 5}
    for name, normalise in runs.items():
        one = train_pointing(normalise)
        values |= {f"{name}_low": min(one.answered), f"{name}_high": max(one.answered)}
        if name == "hard":
            values |= {"pointed": sum(one.pointed) / 5, "read": sorted(one.read)[2]}
    learned = values["soft_low"] > 0.95 and values["through_low"] > 0.95
    return Measurement(values, holds=learned and values["hard_high"] < 0.5 and values["read"] > 0.9)


def temperature_of_text() -> Measurement:
    """What the temperature does to written text: likelihood, diversity, repetition and spelling, on three trained models.

    Names end in the temperature without its point and in low, mean or high over the seeds; `book` is the held-out chapter.
    """
    runs = [_written(seed) for seed in SEEDS]
    values = {"seeds": len(SEEDS), "texts": TEXTS}
    for name in runs[0]:
        column = [run[name] for run in runs]
        values |= {f"{name}_low": min(column), f"{name}_mean": sum(column) / len(column), f"{name}_high": max(column)}
    return Measurement(values, holds=all(_as_expected(run) for run in runs))


def key(T: float) -> str:
    """0.7 -> "07", as in the names of values."""
    return f"{T:.1f}".replace(".", "")


def _written(seed):
    model, _ = characters.train_characters(seed)
    each = torch.tensor(TEMPERATURES).repeat_interleave(TEXTS)[:, None]  # all temperatures side by side
    generator = torch.Generator().manual_seed(seed)
    texts = characters.write(model, lambda logits: sample(logits / each, generator=generator), ["\n"] * len(each))
    measured = {}
    for i, T in enumerate(TEMPERATURES):
        described = characters.describe(model, texts[i * TEXTS:(i + 1) * TEXTS])
        measured |= {f"{name}_{key(T)}": value for name, value in described.items()}
    held_out = characters.windows(characters.parts()[1])[:TEXTS]
    return measured | {f"{name}_book": value for name, value in characters.describe(model, held_out).items()}


def _as_expected(run):
    """Colder text is likelier, better spelt and less diverse, step by step; it repeats itself and is likelier than the book."""
    def rises(name, sign=1):
        values = [sign * run[f"{name}_{key(T)}"] for T in TEMPERATURES]
        return all(a < b for a, b in zip(values, values[1:]))

    loops = run["repeated_02"] > 0.1 > run["repeated_05"] > run["repeated_10"]
    return rises("bits") and rises("distinct") and rises("spelt", -1) and loops and run["bits_02"] < 0.7 * run["bits_book"]
