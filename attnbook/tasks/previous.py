"""Name the token before: n tokens in a ring, one attention head has to report each one's left neighbour (chapter 2).

The neighbour can be found by position alone, so the only question is which patterns the scores can take. A head is
trained with W_Q and W_K apart, or tied (W_Q = W_K). All seeds of a kind train side by side, each with its own
generator, weights and batches: 12 positions, 16 tokens, width 32, Adam 4e-3, 400 steps of 16 rings.
"""

import math
from collections.abc import Sequence

import torch
from torch import nn

from attnbook.attention import attention, causal_mask
from attnbook.training import fit

LENGTH, TOKENS, WIDTH, BATCH, STEPS, LR = 12, 16, 32, 16, 400, 4e-3


def previous_accuracy(
    tied: bool, *, causal: bool = False, hide_self: bool = False, seeds: Sequence[int] = (0, 1, 2), steps: int = STEPS
) -> list[float]:
    """Share of left neighbours named on 200 fresh rings, for each seed; chance is 1/16.

    causal: only earlier tokens can be read, and the first token, which then has no neighbour, is not asked.
    hide_self: no token reads itself (the first one excepted under a causal mask: it has nothing else).
    """
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    heads = _Heads(generators, tied, _mask(causal, hide_self))
    asked = slice(1 if causal else 0, None)

    def loss(_):
        tokens = _rings(generators, BATCH)
        logits, answer = heads(tokens)[:, :, asked], tokens.roll(1, -1)[:, :, asked]
        each = nn.functional.cross_entropy(logits.flatten(0, 2), answer.flatten(), reduction="none")
        return each.view(len(generators), -1).mean(-1).sum()

    fit(heads, loss, steps=steps, lr=LR)
    with torch.no_grad():
        tokens = _rings(generators, 200)
        right = heads(tokens).argmax(-1) == tokens.roll(1, -1)
        return right[:, :, asked].float().mean((1, 2)).tolist()


def _mask(causal, hide_self):
    """(n, n), True = may attend."""
    mask = causal_mask(LENGTH) if causal else torch.ones(LENGTH, LENGTH, dtype=torch.bool)
    if hide_self:
        mask = mask & ~torch.eye(LENGTH, dtype=torch.bool)
        mask[0, 0] = causal
    return mask


def _rings(generators, size):
    """Random tokens (seeds, size, n)."""
    return torch.stack([torch.randint(TOKENS, (size, LENGTH), generator=g) for g in generators])


class _Heads(nn.Module):
    """One head for each seed as one model: every weight has a leading seed axis."""

    def __init__(self, generators, tied, mask):
        super().__init__()
        shapes = {"token": (TOKENS, WIDTH), "place": (LENGTH, WIDTH), "w_q": (WIDTH, WIDTH), "w_k": (WIDTH, WIDTH),
                  "w_v": (WIDTH, WIDTH), "read_out": (WIDTH, TOKENS)}
        for name, shape in shapes.items():
            size = 1.0 if name in ("token", "place") else 1 / math.sqrt(3 * WIDTH)  # as torch starts both kinds
            draw = torch.stack([torch.randn(shape, generator=g) * size for g in generators])
            setattr(self, name, nn.Parameter(draw))
        if tied:
            self.w_k = self.w_q
        self.mask = mask

    def forward(self, tokens):
        """(seeds, B, n) -> logits (seeds, B, n, tokens)."""
        seed = torch.arange(len(tokens))[:, None, None]
        x = self.token[seed, tokens] + self.place[:, None]  # (seeds, B, n, d)
        q, k, v = (x @ w[:, None] for w in (self.w_q, self.w_k, self.w_v))
        return attention(q, k, v, mask=self.mask)[0] @ self.read_out[:, None]
