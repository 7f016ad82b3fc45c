"""Checks of chapter 5 that train: where the norm sits, and a network of 64 layers with and without residuals."""

from functools import lru_cache
from statistics import median

from attnbook.claims.measurement import Measurement
from attnbook.tasks.left_neighbour import at_the_end, train_copying
from attnbook.tasks.moons import train_moons

RATE, STEPS, WARM_UP, FEW = 1e-2, 300, 225, 120
TRAINED = 0.5  # nats; a guess costs 2.77


@lru_cache(maxsize=1)
def _runs():
    """Losses at the end, a number a seed: six blocks, 16 wide, Adam 1e-2."""
    settings = {"pre": ("pre", "xavier", 0, FEW), "post": ("post", "xavier", 0, STEPS),
                "warm": ("post", "xavier", WARM_UP, STEPS), "small": ("post", "torch", 0, FEW)}
    return {name: at_the_end(train_copying(kind, start=start, lr=RATE, warm_up=warm_up, steps=steps))
            for name, (kind, start, warm_up, steps) in settings.items()}


def norm_placement() -> Measurement:
    """Copy task, 6 blocks, Adam 1e-2: pre-norm trains; post-norm does with warm-up, or with a smaller start, not without."""
    runs = _runs()
    values = {"blocks": 6, "rate": RATE, "steps": STEPS, "few": FEW, "warm_up": WARM_UP, "seeds": 5, "guess": 2.77}
    for name, ends in runs.items():
        values |= {f"end_{name}": median(ends), f"best_{name}": min(ends), f"worst_{name}": max(ends),
                   f"trained_{name}": sum(end < TRAINED for end in ends)}
    good = max(values["worst_pre"], values["worst_small"]) < 0.3
    return Measurement(values, holds=good and values["end_post"] > 2 and values["end_warm"] < 0.5
                       and values["trained_warm"] > values["trained_post"])


@lru_cache(maxsize=1)
def _moons():
    kinds = {"plain": ("none", "torch"), "straight": ("none", "orthogonal"), "skip": ("bare", "torch")}
    return {name: train_moons(kind, 64, start=start).accuracy for name, (kind, start) in kinds.items()}


def narrow_network() -> Measurement:
    """Two moons, 64 layers of tanh, width 16: chance without residuals, unless the start is orthogonal; 1 with them."""
    values = {"moon_layers": 64, "seeds": 5}
    for name, accuracy in _moons().items():
        values |= {f"low_{name}": min(accuracy), f"high_{name}": max(accuracy), f"mean_{name}": sum(accuracy) / 5}
    learns = values["mean_straight"] > 0.65 and values["low_skip"] > 0.95
    return Measurement(values, holds=learns and values["high_plain"] < 0.6)
