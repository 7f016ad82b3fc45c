"""Two things to fetch at once: what one attention head can bring from two places, and what two can (chapter 8).

Every token but the first has to report on two others: the first token and the one before it. There are two tasks.

    copying   tokens are random vectors of 16 features; the answer is features 1 to 8 of the first token, then 9 to 16
              of the previous one. Loss: mean square, so 1 is a guess (features have variance 1).
              For the second token both are the same one: six of seven answers ask for two places.
    naming    tokens are 16 symbols; the answer is the name of the first and the name of the previous one.

One attention layer of width 16 (copying) or 32 (naming), all of it one head or split between two: the number of
weights is the same. Queries and keys also see positions. The answer is read by a linear map, or by a network with 64
hidden units (ReLU), as in the feed-forward half of a transformer's layer. 8 tokens, Adam 1e-2, 400 steps of 32
sequences. All seeds train side by side, each with its own weights and data.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnbook.attention import attention, causal_mask, merge_heads, split_heads
from attnbook.training import fit

LENGTH, SYMBOLS, HIDDEN, BATCH, STEPS, LR = 8, 16, 64, 32, 400, 1e-2
WIDTHS = {"copying": 16, "naming": 32}
READERS = ("linear", "network")


@dataclass(frozen=True)
class TwoPlaces:
    """What trained layers do on 1000 fresh sequences a seed.

    loss: mean square error (copying) or mean cross-entropy in nats (naming), one number a seed.
    accuracy: share of tokens that name both places right (naming only).
    curve: the loss at each step of training, (steps, seeds).
    largest: mean weight of the largest and of the second largest key, over all queries that look at two places.
    """

    loss: list[float]
    accuracy: list[float] | None
    curve: Float[Tensor, "steps seeds"]
    largest: tuple[float, float]


def train_heads(
    task: str, n_heads: int, reader: str = "linear", seeds: Sequence[int] = (0, 1, 2, 3, 4), steps: int = STEPS
) -> TwoPlaces:
    """Train a layer a seed on "copying" or "naming", read by a "linear" map or a "network", and test it.

    Raises ValueError for another task or reader.
    """
    for name, value, known in (("task", task, WIDTHS), ("reader", reader, READERS)):
        if value not in known:
            raise ValueError(f"{name} is {value!r}; expected one of {', '.join(known)}")
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    layer, curve = _Layer(generators, task, n_heads, reader), []

    def loss(_):
        tokens = _draw(task, generators, BATCH)
        curve.append(_losses(task, layer(tokens)[0], tokens))
        return curve[-1].sum()

    fit(layer, loss, steps=steps, lr=LR)
    with torch.no_grad():
        tokens = _draw(task, generators, 1000)
        out, weights = layer(tokens)
        top = weights[..., 2:, :].topk(2, -1).values.mean((0, 1, 2, 3)).tolist()
        right = _named(out, tokens) if task == "naming" else None
        return TwoPlaces(_losses(task, out, tokens).tolist(), right, torch.stack(curve).detach(), tuple(top))


def _draw(task, generators, size):
    """Vectors (seeds, size, n, 16) or symbols (seeds, size, n)."""
    if task == "copying":
        return torch.stack([torch.randn(size, LENGTH, WIDTHS[task], generator=g) for g in generators])
    return torch.stack([torch.randint(SYMBOLS, (size, LENGTH), generator=g) for g in generators])


def _asked(tokens):
    """The first and the previous token of all tokens but the first."""
    previous = tokens[:, :, :-1]
    return tokens[:, :, :1].expand_as(previous), previous


def _losses(task, out, tokens):
    """Mean loss of each seed, (seeds,)."""
    first, previous = _asked(tokens)
    out = out[:, :, 1:]
    if task == "copying":
        half = out.shape[-1] // 2
        answer = torch.cat((first[..., :half], previous[..., half:]), -1)
        return (out - answer).square().mean((1, 2, 3))
    answer = torch.stack((first, previous), -1)  # (seeds, B, n - 1, 2)
    each = nn.functional.cross_entropy(out.unflatten(-1, (2, SYMBOLS)).flatten(0, 3), answer.flatten(), reduction="none")
    return each.view(answer.shape).mean((1, 2, 3))


def _named(out, tokens):
    first, previous = _asked(tokens)
    said = out[:, :, 1:].unflatten(-1, (2, SYMBOLS)).argmax(-1)
    return ((said[..., 0] == first) & (said[..., 1] == previous)).float().mean((1, 2)).tolist()


class _Layer(nn.Module):
    """One attention layer for each seed as one model: every weight has a leading seed axis."""

    def __init__(self, generators, task, n_heads, reader):
        super().__init__()
        d, self.n_heads, self.reader = WIDTHS[task], n_heads, reader
        out = d if task == "copying" else 2 * SYMBOLS
        shapes = {"w_q": (d, d), "w_k": (d, d), "w_v": (d, d), "place_q": (LENGTH, d), "place_k": (LENGTH, d)}
        if task == "naming":
            shapes["symbol"] = (SYMBOLS, d)
        shapes |= {"read_out": (d, out)} if reader == "linear" else {"w_hidden": (d, HIDDEN), "read_out": (HIDDEN, out)}
        for name, shape in shapes.items():
            size = 1 / math.sqrt(d) if name.startswith(("w_", "read")) else 1.0
            setattr(self, name, nn.Parameter(torch.stack([torch.randn(shape, generator=g) * size for g in generators])))

    def forward(self, tokens):
        """Answers (seeds, B, n, out) and weights (seeds, B, H, n, n)."""
        x = tokens
        if not tokens.is_floating_point():
            x = self.symbol[torch.arange(len(tokens))[:, None, None], tokens]
        q, k, v = (x @ w[:, None] for w in (self.w_q, self.w_k, self.w_v))
        q, k = q + self.place_q[:, None], k + self.place_k[:, None]
        out, weights = attention(*(split_heads(part, self.n_heads) for part in (q, k, v)), mask=causal_mask(LENGTH))
        out = merge_heads(out)
        if self.reader == "network":
            out = (out @ self.w_hidden[:, None]).relu()
        return out @ self.read_out[:, None], weights
