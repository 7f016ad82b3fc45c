"""Far tokens: a list of named digits is read, and at the end the digit of one name is asked for (chapter 7).

32 pairs, each name once, then the question. Half of what is asked lies further back than a short window reaches, so
the task shows what an approximation of attention leaves out. One head, width 32; a pair is one token, name + digit +
place; the question is a name. All seeds of a kind train side by side, each with its own generator, weights and lists.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnbook.attention import attention
from attnbook.linear import linear_attention
from attnbook.sparse import sliding_window_attention
from attnbook.tiled import tiled_attention
from attnbook.training import fit

PAIRS, DIGITS, WIDTH, BATCH, STEPS, LR = 32, 8, 32, 16, 350, 1e-2
WINDOW, SINKS = 9, 4
KINDS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "full": lambda q, k, v: attention(q, k, v)[0],
    "tiled": lambda q, k, v: tiled_attention(q, k, v, block_k=16),
    "window": lambda q, k, v: sliding_window_attention(q, k, v, WINDOW),
    "sinks": lambda q, k, v: sliding_window_attention(q, k, v, WINDOW, sinks=SINKS),
    "linear": linear_attention,
}
"""How the last token looks back over q (..., 1, d), k and v (..., 33, d): attention, and what stands in for it."""


@dataclass(frozen=True)
class FarReport:
    """right[seed][age]: share of digits named, for a pair that stands `age` tokens before the question (1..32)."""

    kind: str
    right: Float[Tensor, "seeds 32"]

    def between(self, low: int, high: int) -> list[float]:
        """Share of digits named at ages low..high, for each seed."""
        return self.right[:, low - 1:high].mean(-1).tolist()


def far_recall(kind: str, seeds: Sequence[int] = (0, 1, 2, 3, 4), steps: int = STEPS, lists: int = 25) -> FarReport:
    """Train one head of that kind and ask for the pair of every age in `lists` fresh lists a seed; chance is 1/8.

    Raises ValueError for a kind not in KINDS.
    """
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; expected one of {', '.join(KINDS)}")
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    heads = _Heads(generators, KINDS[kind])

    def loss(_):
        names, digits = _lists(generators, BATCH)
        asked = torch.stack([torch.randint(PAIRS, (BATCH, 1), generator=g) for g in generators])
        logits = heads(names, digits, asked)
        each = nn.functional.cross_entropy(logits.flatten(0, 2), digits.gather(-1, asked).flatten(), reduction="none")
        return each.view(len(generators), -1).mean(-1).sum()

    fit(heads, loss, steps=steps, lr=LR, warm_up=50)
    with torch.no_grad():
        names, digits = _lists(generators, lists)
        everyone = torch.arange(PAIRS - 1, -1, -1).expand(*names.shape[:2], PAIRS)  # age 1 is the last pair
        right = heads(names, digits, everyone).argmax(-1) == digits.gather(-1, everyone)
    return FarReport(kind, right.double().mean(1))


def _lists(generators, size):
    """Names, each once, and digits: (seeds, B, 32) each."""
    names = [torch.rand(size, PAIRS, generator=g).argsort(-1) for g in generators]
    return torch.stack(names), torch.stack([torch.randint(DIGITS, (size, PAIRS), generator=g) for g in generators])


class _Heads(nn.Module):
    """One head for each seed as one model: every weight has a leading seed axis."""

    def __init__(self, generators, look):
        super().__init__()
        shapes = {"name": (PAIRS, WIDTH), "digit": (DIGITS, WIDTH), "place": (PAIRS + 1, WIDTH), "w_q": (WIDTH, WIDTH),
                  "w_k": (WIDTH, WIDTH), "w_v": (WIDTH, WIDTH), "read_out": (WIDTH, DIGITS)}
        for part, shape in shapes.items():
            size = {"place": 0.1, "name": 1.0, "digit": 1.0}.get(part, 1 / math.sqrt(WIDTH))
            setattr(self, part, nn.Parameter(torch.stack([torch.randn(shape, generator=g) * size for g in generators])))
        self.look = look

    def forward(self, names, digits, asked):
        """names, digits (seeds, B, 32), asked (seeds, B, n): places of pairs -> logits (seeds, B, n, digits)."""
        seed = torch.arange(len(names))[:, None, None]
        pairs = self.name[seed, names] + self.digit[seed, digits] + self.place[:, None, :PAIRS]
        question = self.name[seed, names.gather(-1, asked)] + self.place[:, None, PAIRS:]
        if asked.shape[-1] == 1:
            return self._answers(torch.cat([pairs, question], -2))
        n = asked.shape[-1]  # one list, many questions: each is the end of a list of its own
        long = torch.cat([pairs[:, :, None].expand(-1, -1, n, -1, -1), question[..., None, :]], -2)
        return self._answers(long.flatten(1, 2)).view(*asked.shape, DIGITS)

    def _answers(self, x):
        """Lists with their question last, (seeds, B, 33, d) -> logits (seeds, B, 1, digits)."""
        q, k, v = x[:, :, -1:] @ self.w_q[:, None], x @ self.w_k[:, None], x @ self.w_v[:, None]
        return self.look(q, k, v) @ self.read_out[:, None]
