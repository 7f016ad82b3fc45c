"""First-bit recall: the first step says +1 or -1, then T - 1 steps of noise, then the question which it was.

A task that only asks whether a recurrence can carry one bit, and be trained to, over T steps (chapter 1).
Three recurrences of 32 units, trained alike (Adam 2e-3, at most 400 steps of 64 sequences, gradients of each net
clipped to norm 1, ended once every seed's loss is below 0.01):

    tanh         torch's default start: all weights uniform in +-1/sqrt(32)
    orthogonal   the same cell, but its recurrent matrix starts orthogonal and its biases at 0
    lstm         torch's LSTM with the forget gates' bias at 3, so that they start open

All seeds of a kind are trained side by side, each with its own generator, weights and batches.
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnbook import _checks
from attnbook.training import fit

KINDS = ("tanh", "orthogonal", "lstm")
HIDDEN, BATCH, STEPS, LR, SOLVED = 32, 64, 400, 2e-3, 0.01


def batch(T: int, size: int, generator: torch.Generator) -> tuple[Float[Tensor, "T B 2"], Int[Tensor, "B"]]:
    """Sequences, time first, and their first bit (0 or 1).

    Channel 0 holds the first symbol at step 0 and nothing later; channel 1 holds the noise of the later steps.
    """
    _checks.whole_number("T", T, minimum=1)
    bit = torch.randint(2, (size,), generator=generator)
    x = torch.zeros(T, size, 2)
    x[0, :, 0] = 2.0 * bit - 1
    x[1:, :, 1] = 2.0 * torch.randint(2, (T - 1, size), generator=generator) - 1
    return x, bit


def recall_accuracy(kind: str, T: int, seeds: Sequence[int] = (0, 1, 2), steps: int = STEPS) -> list[float]:
    """Share of 1000 fresh sequences of length T whose first bit is named after training, for each seed; chance is 0.5.

    Raises ValueError for an unknown kind.
    """
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; expected one of {', '.join(KINDS)}")
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    net = _LSTMs(generators) if kind == "lstm" else _Tanhs(generators, orthogonal=kind == "orthogonal")
    losses = []

    def loss(_):
        losses.append(_losses(net, *_batches(T, BATCH, generators)))
        return losses[-1].sum()

    fit(net, loss, steps=steps, lr=LR, clip=lambda _: net.clip(1.0), stop=lambda _: losses[-1].max() < SOLVED)
    with torch.no_grad():
        x, bits = _batches(T, 1000, generators)
        return (net(x).argmax(-1) == bits).double().mean(-1).tolist()


def _batches(T, size, generators):
    """One batch a seed: x (S, T, B, 2), bits (S, B)."""
    x, bits = zip(*(batch(T, size, generator) for generator in generators), strict=True)
    return torch.stack(x), torch.stack(bits)


def _losses(net, x, bits):
    """Mean cross-entropy of each seed, (S,)."""
    each = nn.functional.cross_entropy(net(x).flatten(0, 1), bits.flatten(), reduction="none")
    return each.view(bits.shape).mean(-1)


def _uniform(shape, generator):
    """torch's default start for recurrent weights: uniform in +-1/sqrt(HIDDEN)."""
    return (2 * torch.rand(shape, generator=generator) - 1) / math.sqrt(HIDDEN)


def _clip(gradients, largest):
    """Scale gradients, each (S, ...), so that no seed's norm is above largest."""
    norm = sum(g.square().flatten(1).sum(1) for g in gradients).sqrt()
    factor = (largest / norm.clamp(min=largest)).view(-1, 1, 1)
    for g in gradients:
        g.mul_(factor)


class _Tanhs(nn.Module):
    """S tanh recurrences as one model: every weight has a leading seed axis, every step is one batched product."""

    def __init__(self, generators, orthogonal):
        super().__init__()
        shapes = {"w_x": (2, HIDDEN), "w_h": (HIDDEN, HIDDEN), "b": (1, HIDDEN), "w_out": (HIDDEN, 2), "b_out": (1, 2)}
        for name, shape in shapes.items():
            setattr(self, name, nn.Parameter(torch.stack([_uniform(shape, g) for g in generators])))
        if orthogonal:
            with torch.no_grad():
                self.w_h.copy_(torch.stack([_orthogonal(g) for g in generators]))
                self.w_x.mul_(0.3)
                self.b.zero_()

    def forward(self, x):
        """x (S, T, B, 2) -> scores of the two bits (S, B, 2)."""
        drive = x @ self.w_x[:, None] + self.b[:, None]  # (S, T, B, d)
        h = torch.zeros_like(drive[:, 0])
        for step in drive.unbind(1):
            h = torch.baddbmm(step, h, self.w_h).tanh()
        return torch.baddbmm(self.b_out, h, self.w_out)

    def clip(self, largest):
        _clip([p.grad for p in self.parameters()], largest)


def _orthogonal(generator):
    return torch.linalg.qr(torch.randn(HIDDEN, HIDDEN, generator=generator))[0]


class _LSTMs(nn.Module):
    """S LSTMs of torch, whose fused step is faster than a batched one written out."""

    def __init__(self, generators):
        super().__init__()
        self.cells = nn.ModuleList(nn.LSTM(2, HIDDEN) for _ in generators)
        self.outs = nn.ModuleList(nn.Linear(HIDDEN, 2) for _ in generators)
        with torch.no_grad():
            for cell, out, generator in zip(self.cells, self.outs, generators, strict=True):
                for p in (*cell.parameters(), *out.parameters()):
                    p.copy_(_uniform(p.shape, generator))
                cell.bias_ih_l0[HIDDEN:2 * HIDDEN] = 3.0
                cell.bias_hh_l0[HIDDEN:2 * HIDDEN] = 0.0

    def forward(self, x):
        """x (S, T, B, 2) -> scores of the two bits (S, B, 2)."""
        return torch.stack([out(cell(one)[0][-1]) for cell, out, one in zip(self.cells, self.outs, x, strict=True)])

    def clip(self, largest):
        for cell, out in zip(self.cells, self.outs, strict=True):
            nn.utils.clip_grad_norm_([*cell.parameters(), *out.parameters()], largest)
