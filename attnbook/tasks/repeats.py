"""Carry on a pattern that repeats with an unknown period: a small test for a whole transformer (chapter 8).

A sequence of 24 symbols (12 kinds) repeats its first 4 to 12, a new pattern and a new period each time: b c a c b c a c b ...
From the second symbol of the repeat on, the next one can be known: find where the present symbol, with its neighbours,
stood before, and say what came after. No fixed distance helps, because the period changes.

A TinyTransformer of 2 layers, width 32 and 2 heads learns most of it in 150 steps of 16 sequences (Adam 1e-2, gradients
clipped to norm 1). The variants each leave one part out.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from attnbook.training import History, fit, masked_loss
from attnbook.transformer import Block, CachedSelfAttention, TinyTransformer

SYMBOLS, LENGTH, PERIODS = 12, 24, (4, 12)
BATCH, STEPS, LR = 16, 150, 1e-2
CHANCE = 1 / SYMBOLS


def sequences(size: int, generator: torch.Generator) -> tuple[Int[Tensor, "B L"], Bool[Tensor, "B L"]]:
    """Sequences, and True for each symbol that those before it tell."""
    low, high = PERIODS
    period = torch.randint(low, high + 1, (size, 1), generator=generator)
    pattern = torch.randint(SYMBOLS, (size, high), generator=generator)
    places = torch.arange(LENGTH).expand(size, -1)
    return pattern.gather(1, places % period), places > period


# -- the variants: each takes one part away ---------------------------------------------------

class Unscaled(CachedSelfAttention):
    """Scores that are not divided by the root of d_k."""

    def project(self, x):
        q, k, v = super().project(x)
        return q * q.shape[-1] ** 0.5, k, v


class SharedKeys(CachedSelfAttention):
    """All query heads read the keys and values of the first head; the other heads of keys and values are never used."""

    def project(self, x):
        q, k, v = super().project(x)
        return q, k[..., :1, :, :].expand_as(k), v[..., :1, :, :].expand_as(v)


class NoResidual(Block):
    """What a sublayer computes replaces the stream."""

    def forward(self, x, cache=None):
        return self.think(self.norm_think(self.attend(self.norm_attend(x), cache=cache)[0]))


class NoFeedForward(Block):
    """Attention alone."""

    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        self.think = _Nothing()


class _Nothing(nn.Module):
    def forward(self, x):
        return torch.zeros_like(x)


def _model(variant):
    options = VARIANTS[variant]
    model = TinyTransformer(SYMBOLS, 32, 2, options.get("n_layers", 2), positions=options.get("positions", "rope"))
    block, attend = options.get("block"), options.get("attend")
    for i, old in enumerate(model.blocks):
        if block is not None:
            model.blocks[i] = block(32, 2, rotary=True)
        if attend is not None:
            old.attend = attend(32, 2, rotary=True)
    return model


VARIANTS = {
    "whole": {},
    "shared keys": {"attend": SharedKeys},
    "no feed-forward": {"block": NoFeedForward},
    "no scale": {"attend": Unscaled},
    "no positions": {"positions": "none"},
    "one layer": {"n_layers": 1},
    "no residual": {"block": NoResidual},
}


@dataclass(frozen=True)
class Trained:
    """A trained model, its history, and the share it names of the foreseeable symbols of 300 fresh sequences."""

    model: TinyTransformer
    history: History
    accuracy: float


def train_repeats(variant: str = "whole", seed: int = 0, steps: int = STEPS, lr: float = LR) -> Trained:
    """Train one variant; the same for the same seed. Raises ValueError for an unknown variant."""
    if variant not in VARIANTS:
        raise ValueError(f"variant is {variant!r}; expected one of {', '.join(VARIANTS)}")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = _model(variant)

    def loss(generator):
        ids, known = sequences(BATCH, generator)
        return masked_loss(model(ids[:, :-1]), ids[:, 1:], known[:, 1:])

    history = fit(model, loss, steps=steps, lr=lr, seed=seed, warm_up=20, clip=1.0)
    return Trained(model, history, accuracy(model, torch.Generator().manual_seed(1000 + seed)))


@torch.no_grad()
def accuracy(model: TinyTransformer, generator: torch.Generator) -> float:
    """Share that a model names of the foreseeable symbols of 300 fresh sequences."""
    ids, known = sequences(300, generator)
    right = model(ids[:, :-1]).argmax(-1) == ids[:, 1:]
    return right[known[:, 1:]].double().mean().item()
