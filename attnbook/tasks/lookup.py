"""Names and digits: a list pairs names with digits, and one head is asked for the digit of a name (chapter 2).

A token holds both parts, [name | digit], one-hot; the query sees the name only. Which name stands with which digit
changes from list to list, so the digit has to be read, it cannot be learned. The head has the widths d_k (queries and
keys) and d_v (values) and an output matrix. 8 names, 8 digits, 6 pairs a list; Adam 1e-2, 300 steps of 16 lists.
All seeds train side by side, each with its own generator, weights and lists.
"""

import math
from collections.abc import Callable, Sequence

import torch
from torch import nn

from attnbook.attention import attention
from attnbook.softmax import softmax
from attnbook.training import fit

NAMES, DIGITS, PAIRS, BATCH, STEPS, LR = 8, 8, 6, 16, 300, 1e-2


def lookup_accuracy(
    d_k: int,
    d_v: int,
    *,
    shared: bool = False,
    normalise: Callable = softmax,
    seeds: Sequence[int] = (0, 1, 2, 3, 4),
    steps: int = STEPS,
) -> list[float]:
    """Share of digits named on 500 fresh lists, for each seed; chance is 1/8.

    shared: the values are the keys, one projection. normalise: turns scores into weights, as in attention.
    Raises ValueError if shared and d_k is not d_v.
    """
    if shared and d_k != d_v:
        raise ValueError(f"d_k is {d_k} and d_v is {d_v}; expected one width for shared keys and values")
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    heads = _Heads(generators, d_k, d_v, shared, normalise)

    def loss(_):
        query, tokens, digit = _lists(generators, BATCH)
        each = nn.functional.cross_entropy(heads(query, tokens).flatten(0, 1), digit.flatten(), reduction="none")
        return each.view(digit.shape).mean(-1).sum()

    fit(heads, loss, steps=steps, lr=LR)
    with torch.no_grad():
        query, tokens, digit = _lists(generators, 500)
        return (heads(query, tokens).argmax(-1) == digit).float().mean(-1).tolist()


def _lists(generators, size):
    """Queries (seeds, B, names), tokens (seeds, B, pairs, names + digits), answers (seeds, B)."""
    drawn = [_one_seed(generator, size) for generator in generators]
    return tuple(torch.stack(parts) for parts in zip(*drawn, strict=True))


def _one_seed(generator, size):
    names = torch.rand(size, NAMES, generator=generator).argsort(-1)[:, :PAIRS]  # no name twice
    digits = torch.randint(DIGITS, (size, PAIRS), generator=generator)
    asked = torch.randint(PAIRS, (size, 1), generator=generator)
    one_hot = nn.functional.one_hot
    tokens = torch.cat([one_hot(names, NAMES), one_hot(digits, DIGITS)], -1).float()
    return one_hot(names.gather(1, asked)[:, 0], NAMES).float(), tokens, digits.gather(1, asked)[:, 0]


class _Heads(nn.Module):
    """One head for each seed as one model: every weight has a leading seed axis."""

    def __init__(self, generators, d_k, d_v, shared, normalise):
        super().__init__()
        shapes = {"w_q": (NAMES, d_k), "w_k": (NAMES + DIGITS, d_k), "w_v": (NAMES + DIGITS, d_v), "w_o": (d_v, DIGITS)}
        for name, shape in shapes.items():
            draw = [torch.randn(shape, generator=g) / math.sqrt(shape[-1]) for g in generators]
            setattr(self, name, nn.Parameter(torch.stack(draw)))
        if shared:
            self.w_v = self.w_k
        self.normalise = normalise

    def forward(self, query, tokens):
        q = (query @ self.w_q)[:, :, None]  # (seeds, B, 1, d_k)
        k, v = tokens @ self.w_k[:, None], tokens @ self.w_v[:, None]
        return attention(q, k, v, normalise=self.normalise)[0][:, :, 0] @ self.w_o
