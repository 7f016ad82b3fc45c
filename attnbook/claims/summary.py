"""Checks of chapter 8 on the chapter's own summary: what length costs, and which parts a small transformer can spare."""

import torch
from torch.utils.flop_counter import FlopCounterMode

from attnbook.attention import score
from attnbook.claims.measurement import Measurement
from attnbook.recurrent import rnn
from attnbook.tasks.repeats import CHANCE, LR, train_repeats

VARIANTS = ("whole", "shared keys", "no scale", "no positions", "one layer", "no residual")
SEEDS = (0, 1, 2)


def cost_of_length() -> Measurement:
    """Scores cost 2 n^2 d operations and a recurrent step done n times 2 n d^2, as counted; so their quotient is n / d."""
    d, quotients = 32, []
    for n in (8, 32, 128):
        x = torch.zeros(n, d)
        states = _operations(lambda: rnn(x, torch.zeros(d), torch.eye(d), torch.eye(d), torch.zeros(d)))
        inputs = _operations(lambda: x @ torch.eye(d))
        quotients.append((n / d, _operations(lambda: score(x, x)) / (states - inputs)))
    fits = all(abs(expected - counted) < 1e-9 for expected, counted in quotients)
    values = {"width": d, "equal_at": next(int(e * d) for e, counted in quotients if counted == 1), "n_large": 10 ** 6,
              "d_large": 4096, "dearer": 10 ** 6 / 4096}
    return Measurement(values, holds=fits and values["equal_at"] == d and round(values["dearer"]) == 244)


def _operations(run):
    """Floating-point operations of the matrix products in run()."""
    counter = FlopCounterMode(display=False)
    with counter:
        run()
    return counter.get_total_flops()


def without_a_part() -> Measurement:
    """A transformer of two layers learns to carry on patterns; what is left of that without one of its parts.

    Names of values: the variant with its blanks as underscores, and low, mean or high over the seeds. "gentle" is the
    variant without a scale at a lower rate and with more steps.
    """
    values = {"part_seeds": len(SEEDS), "part_chance": CHANCE, "rate": LR, "gentle_rate": 6e-3}
    for variant in VARIANTS:
        values |= _over_seeds(variant.replace(" ", "_"), variant)
    values |= _over_seeds("gentle", "no scale", steps=200, lr=values["gentle_rate"])
    spared = min(values["whole_low"], values["shared_keys_low"], values["gentle_low"]) > 0.7
    needed = max(values[f"{name}_high"] for name in ("no_scale", "no_positions", "one_layer", "no_residual")) < 0.6
    return Measurement(values, holds=spared and needed)


def _over_seeds(name, variant, **options):
    accuracy = [train_repeats(variant, seed, **options).accuracy for seed in SEEDS]
    return {f"{name}_low": min(accuracy), f"{name}_mean": sum(accuracy) / len(accuracy), f"{name}_high": max(accuracy)}
