"""Two moons and a very deep, very narrow network: which ways to join 64 layers can be trained at all (chapter 5)?

Points of two interleaved half circles, with noise 0.08, have to be told apart. The network is a stack of layers
tanh(x W + b) of width 16, joined in one of the ways of attnbook.stacks; a matrix in front and one behind. Adam 3e-3 on
batches of 64 points. All seeds of a kind train side by side, each with its own start and its own points.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from attnbook.stacks import Stack, begin
from attnbook.tasks.side_by_side import train_together

WIDTH, BATCH, LR, STEPS = 16, 64, 3e-3, 80


@dataclass(frozen=True)
class MoonsRun:
    """accuracy: on 1000 fresh points, a number a seed; chance is 0.5. loss: [seed][step], before each step."""

    accuracy: list[float]
    loss: list[list[float]]


def train_moons(kind: str, n_layers: int = 64, *, start: str | float = "torch", norm=None,
                seeds: Sequence[int] = range(5), steps: int = STEPS, lr: float = LR, **options) -> MoonsRun:
    """Train one stack a seed. kind: of attnbook.stacks; start: of its matrices, as of attnbook.stacks.begin.

    norm: makes the norms, None leaves them out. The global random state is left as it was.
    """
    with torch.random.fork_rng(devices=[]):
        models = [_network(seed, kind, n_layers, start, norm, options) for seed in seeds]
    together, losses = train_together(models, _points, seeds=seeds, steps=steps, lr=lr)
    x, y = (torch.stack(part) for part in zip(*(_points(torch.Generator().manual_seed(1000 + seed), 1000)
                                                for seed in seeds), strict=True))
    with torch.no_grad():
        right = together(x).argmax(-1) == y
    return MoonsRun(right.float().mean(-1).tolist(), losses)


def _network(seed, kind, n_layers, start, norm, options):
    torch.manual_seed(seed)
    layers = [nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh()) for _ in range(n_layers)]
    for layer in layers:
        begin(layer[0], start)
    stack = Stack(layers, WIDTH, kind, norm=norm or (lambda _: nn.Identity()), **options)
    return nn.Sequential(nn.Linear(2, WIDTH), stack, nn.Linear(stack.width, 2))


def _points(generator, size=BATCH):
    """Points (size, 2) and the moon each lies on (size,)."""
    angle = math.pi * torch.rand(size, generator=generator)
    moon = torch.randint(2, (size,), generator=generator)
    x = torch.stack([angle.cos() * (1 - 2 * moon) + moon, angle.sin() * (1 - 2 * moon) + 0.5 * moon], -1)
    return x + 0.08 * torch.randn(size, 2, generator=generator), moon
