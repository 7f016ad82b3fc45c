"""Checks of chapter 6 by training: heads that copy, trained at length 32 and tested on longer sequences, five seeds."""

from functools import lru_cache

from attnbook.claims.measurement import Measurement
from attnbook.positions import interpolated, ntk, yarn, yarn_score_factor
from attnbook.tasks.copying import BACKS, TOKENS, TRAINED, WIDTH, copy_accuracy, train_copiers, train_further

SPANS = {32: 4, 64: 32, 128: 64}  # length tested, and the first position that counts
FACTOR = 4.0  # 128 is four times the length of training
TURNING = {
    "plain": {},
    "interpolated": {"frequencies": interpolated(WIDTH, FACTOR)},
    "ntk": {"frequencies": ntk(WIDTH, FACTOR)},
    "yarn": {"frequencies": yarn(WIDTH, FACTOR, trained=TRAINED), "factor": yarn_score_factor(FACTOR)},
    "yarn_short": {"frequencies": yarn(WIDTH, FACTOR, trained=TRAINED, few=0.25, many=1.0),
                   "factor": yarn_score_factor(FACTOR)},
}
FURTHER = {"plain": 20, "interpolated": 20, "ntk": 20}  # steps of training at length 128


@lru_cache(maxsize=8)
def _trained(scheme):
    return train_copiers(scheme)


def _accuracy(copiers, length, **turning):
    return copy_accuracy(copiers, length, SPANS[length], **turning)


def _summary(name, accuracy, length):
    """Mean, worst and best seed of each task: name_back_length, and with _low or _high."""
    values = {}
    for back, seeds in zip(BACKS, accuracy.tolist(), strict=True):
        key = f"{name}_{back}_{length}"
        values |= {key: sum(seeds) / len(seeds), f"{key}_low": min(seeds), f"{key}_high": max(seeds)}
    return values


def extrapolation() -> Measurement:
    """None, sinusoids, a learned table and RoPE: at the length of training, to twice and to four times that length."""
    values = {"chance": 1 / TOKENS, "seeds": 5}
    for scheme in ("none", "sinusoidal", "learned", "rope"):
        for length in SPANS:
            values |= _summary(scheme, _accuracy(_trained(scheme), length), length)
    learnt = min(values[f"{scheme}_{back}_32_low"] for scheme in ("sinusoidal", "learned", "rope") for back in BACKS)
    lost = max(values[f"{name}_high"] for name in ("sinusoidal_1_64", "sinusoidal_1_128", "learned_1_64",
                                                   "learned_4_64", "learned_1_128", "learned_4_128"))
    fades = values["sinusoidal_4_64"] < 0.7 and values["sinusoidal_4_128"] < 0.45 and values["rope_1_128"] < 0.8
    return Measurement(values, holds=learnt > 0.95 and lost < 0.3 and fades and values["none_1_32_high"] < 0.4
                       and values["rope_4_64"] > values["sinusoidal_4_64"] + 0.2)


def alibi_copies() -> Measurement:
    """ALiBi at slope 2 copies the previous token at any length, and neither slope 2 nor 1/8 ever copies four back."""
    values = {"chance": 1 / TOKENS, "seeds": 5}
    for scheme in ("alibi", "alibi_gentle"):
        for length in SPANS:
            values |= _summary(scheme, _accuracy(_trained(scheme), length), length)
    four_back = max(values[f"{scheme}_4_{length}_high"] for scheme in ("alibi", "alibi_gentle") for length in SPANS)
    values |= {"four_back_high": four_back}
    return Measurement(values, holds=min(values[f"alibi_1_{length}_low"] for length in SPANS) > 0.98
                       and four_back < 0.5 and values["alibi_gentle_1_32_high"] < 0.7)


def longer_context() -> Measurement:
    """RoPE heads at four times their length: as they are, with four other turnings, and trained 20 steps further."""
    values = {"chance": 1 / TOKENS, "seeds": 5, "factor": FACTOR}
    for name, turning in TURNING.items():
        for length in (32, 128):
            values |= _summary(name, _accuracy(_trained("rope"), length, **turning), length)
    for name, steps in FURTHER.items():
        copiers = train_further(_trained("rope"), steps=steps, length=128, **TURNING[name])
        values |= _summary(f"further_{name}", _accuracy(copiers, 128, **TURNING[name]), 128)
    helps = _both(values, "ntk_{}_128") > _both(values, "plain_{}_128") + 0.05
    blurs = values["interpolated_4_32_high"] < 0.3 and values["interpolated_1_32_high"] < 0.9
    repaired = min(_both(values, "further_plain_{}_128"), _both(values, "further_ntk_{}_128")) > 0.9
    return Measurement(values, holds=helps and blurs and repaired and values["further_interpolated_1_128"] > 0.8)


def _both(values, key):
    """Mean of the two tasks."""
    return sum(values[key.format(back)] for back in BACKS) / len(BACKS)

