"""Copy the previous token with a deep stack: where the norm sits, and whether it then trains (chapter 5).

8 random tokens of 16 stand in a ring; each place has to report its left neighbour. A stack of blocks, attention with
one head and feed-forward, width 16, hidden width 32, reads token and position embeddings. Adam on batches of 16 rings. All
seeds train side by side, each with its own start and batches. A guess costs ln 16 = 2.77 nats.
"""

from collections.abc import Sequence

import torch
from torch import nn

from attnbook.stacks import transformer_stack
from attnbook.tasks.side_by_side import train_together

LENGTH, TOKENS, WIDTH, HIDDEN, BATCH = 8, 16, 16, 32, 16
LAST = 20  # steps whose mean loss counts as the loss at the end


class CopyModel(nn.Module):
    """Logits for the left neighbour: tokens (..., n) -> (..., n, TOKENS)."""

    def __init__(self, n_blocks: int, kind: str = "pre", start: str | float = "xavier", **options):
        super().__init__()
        self.token = nn.Embedding(TOKENS, WIDTH)
        self.place = nn.Parameter(torch.randn(LENGTH, WIDTH))
        self.stack = transformer_stack(n_blocks, WIDTH, 1, kind, start=start, d_hidden=HIDDEN, **options)
        self.read_out = nn.Linear(self.stack.width, TOKENS)

    def forward(self, tokens):
        return self.read_out(self.stack(self.token(tokens) + self.place))


def train_copying(kind: str = "pre", n_blocks: int = 6, *, start: str | float = "xavier", lr: float = 6e-3,
                  warm_up: int = 0, steps: int = 300, seeds: Sequence[int] = range(5), **options) -> list[list[float]]:
    """Losses [seed][step] of one model a seed; kind, start and options as of attnbook.stacks.transformer_stack.

    warm_up: steps over which the rate rises to lr. The global random state is left as it was.
    """
    models = []
    with torch.random.fork_rng(devices=[]):
        for seed in seeds:
            torch.manual_seed(seed)
            models.append(CopyModel(n_blocks, kind, start, **options))
    return train_together(models, _rings, seeds=seeds, steps=steps, lr=lr, warm_up=warm_up)[1]


def at_the_end(losses: Sequence[Sequence[float]]) -> list[float]:
    """Mean loss of the last 20 steps, a number a seed."""
    return [sum(one[-LAST:]) / LAST for one in losses]


def _rings(generator):
    tokens = torch.randint(TOKENS, (BATCH, LENGTH), generator=generator)
    return tokens, tokens.roll(1, -1)
