"""Point at the right pair and read it: can a head learn where to look if it may only look at one place? (chapter 4)

A list holds 8 pairs of a name and a digit, 16 of each; the query is one of the names, the answer its digit. Which digit
stands with which name changes from list to list, so it must be looked up. One attention head does it, with soft weights,
one-hot weights, or one-hot weights and the gradient of the soft ones (straight-through). Width 32, Adam 1e-2, 400 steps
of 32 lists. All seeds train side by side, each with its own generator, weights and lists.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnbook.attention import attention
from attnbook.softmax import softmax
from attnbook.training import fit

NAMES, DIGITS, PAIRS, WIDTH = 16, 16, 8, 32
BATCH, STEPS, LR = 32, 400, 1e-2
CHANCE = 1 / DIGITS


@dataclass(frozen=True)
class Pointing:
    """What a trained head does on 1000 fresh lists, one number a seed, and its loss at each step of training.

    answered: share of digits named. pointed: share of lists where the largest weight is on the right pair.
    read: share of lists where the digit it names is the one of the pair it points at. loss: (steps, seeds).
    """

    answered: list[float]
    pointed: list[float]
    read: list[float]
    loss: Float[Tensor, "steps seeds"]


def train_pointing(
    normalise: Callable[[Tensor], Tensor] = softmax, seeds: Sequence[int] = (0, 1, 2, 3, 4), steps: int = STEPS
) -> Pointing:
    """Train one head a seed with these weights (as `normalise=` of attention) and test it."""
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    heads, losses = _Heads(generators, normalise), []

    def loss(_):
        query, names, digits, right = _lists(generators, BATCH)
        logits, _ = heads(query, names, digits)
        answer = digits.gather(-1, right[..., None])[..., 0]
        each = nn.functional.cross_entropy(logits.flatten(0, 1), answer.flatten(), reduction="none")
        losses.append(each.view(answer.shape).mean(-1))
        return losses[-1].sum()

    fit(heads, loss, steps=steps, lr=LR)
    with torch.no_grad():
        query, names, digits, right = _lists(generators, 1000)
        logits, weights = heads(query, names, digits)
        place = weights.argmax(-1)
        said, there = logits.argmax(-1), digits.gather(-1, place[..., None])[..., 0]
        answer = digits.gather(-1, right[..., None])[..., 0]
        shares = ((said == answer), (place == right), (said == there))
        return Pointing(*(share.float().mean(-1).tolist() for share in shares), torch.stack(losses).detach())


def _lists(generators, size) -> tuple[Int[Tensor, "S B"], Int[Tensor, "S B n"], Int[Tensor, "S B n"], Int[Tensor, "S B"]]:
    """The name asked for, the names and digits of each list, and the place of the right pair."""
    names = torch.stack([torch.rand(size, NAMES, generator=g).argsort(-1)[:, :PAIRS] for g in generators])  # none twice
    digits = torch.stack([torch.randint(DIGITS, (size, PAIRS), generator=g) for g in generators])
    right = torch.stack([torch.randint(PAIRS, (size,), generator=g) for g in generators])
    return names.gather(-1, right[..., None])[..., 0], names, digits, right


class _Heads(nn.Module):
    """One head for each seed as one model: every weight has a leading seed axis. Names make queries and keys, digits values."""

    def __init__(self, generators, normalise):
        super().__init__()
        shapes = {"w_q": (NAMES, WIDTH), "w_k": (NAMES, WIDTH), "w_v": (DIGITS, WIDTH), "read_out": (WIDTH, DIGITS)}
        for name, shape in shapes.items():
            draw = [torch.randn(shape, generator=g) / math.sqrt(WIDTH) for g in generators]
            setattr(self, name, nn.Parameter(torch.stack(draw)))
        self.normalise = normalise

    def forward(self, query, names, digits):
        """Logits (S, B, DIGITS) and weights (S, B, PAIRS)."""
        seed = torch.arange(len(query))
        q = self.w_q[seed[:, None], query][:, :, None]  # (S, B, 1, d)
        k, v = self.w_k[seed[:, None, None], names], self.w_v[seed[:, None, None], digits]  # (S, B, n, d)
        out, weights = attention(q, k, v, scale=1.0, normalise=self.normalise)
        return out[:, :, 0] @ self.read_out, weights[:, :, 0]
