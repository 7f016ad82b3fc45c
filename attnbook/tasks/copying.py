"""Copy the token k back: trained on sequences of 32 random tokens, then tested on longer ones (chapter 6).

One attention head reads strictly earlier tokens, and a matrix turns what it reads into logits. Every position has to
name the token k places before it, k = 1 or 4. The tokens are random, so position is all a head can go by. Schemes:

    none, sinusoidal, learned    nothing, sinusoidal(), or a trained vector is added to the tokens
    rope                         queries and keys are turned
    alibi, alibi_gentle          a bias on the scores, slope 2 and slope 1/8

8 tokens, width 32, Adam 1e-2 with 20 steps of warm-up, 200 steps of 8 sequences. Both tasks and all seeds of a scheme
are trained side by side; the schemes share starts and batches, so that the scheme is the only difference.
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnbook import _checks
from attnbook.attention import attention, causal_mask
from attnbook.positions import alibi_bias, rope, sinusoidal
from attnbook.training import fit

SCHEMES = ("none", "sinusoidal", "learned", "rope", "alibi", "alibi_gentle")
SLOPES = {"alibi": 2.0, "alibi_gentle": 0.125}
BACKS = (1, 4)
TOKENS, WIDTH, TRAINED, LONGEST, BATCH, STEPS, LR = 8, 32, 32, 128, 8, 200, 1e-2


def train_copiers(scheme: str, *, seeds: Sequence[int] = range(5), steps: int = STEPS) -> "Copiers":
    """Heads trained at length 32, one for each task of BACKS and each seed.

    Raises ValueError for an unknown scheme.
    """
    copiers = Copiers(scheme, seeds)
    _train(copiers, steps, TRAINED, BATCH)
    return copiers


def train_further(copiers: "Copiers", *, steps: int, length: int, size: int = 4, **turning) -> "Copiers":
    """A copy of the heads, trained on with sequences of another length; turning: as for Copiers.forward."""
    twin = Copiers(copiers.scheme, copiers.seeds)
    twin.load_state_dict(copiers.state_dict())
    twin.generators = [torch.Generator().manual_seed(500 + seed) for seed in copiers.seeds]
    _train(twin, steps, length, size, **turning)
    return twin


def _train(copiers, steps, length, size, **turning):
    """In place, on fresh sequences at each step."""
    def loss(_):
        tokens = _sequences(copiers.generators, size, length)
        logits = copiers(tokens, **turning)[..., max(BACKS):, :]
        wanted = _wanted(tokens)[..., max(BACKS):]
        return len(BACKS) * len(tokens) * nn.functional.cross_entropy(logits.flatten(0, -2), wanted.flatten())

    fit(copiers, loss, steps=steps, lr=LR, warm_up=20)


def copy_accuracy(copiers: "Copiers", length: int, first: int = max(BACKS), *, size: int = 40, **turning
                  ) -> Float[Tensor, "backs seeds"]:
    """Share of right copies at positions first to length - 1 of fresh sequences; chance is 1/8."""
    generators = [torch.Generator().manual_seed(1000 + seed) for seed in copiers.seeds]
    tokens = _sequences(generators, size, length)
    with torch.no_grad():
        right = copiers(tokens, **turning).argmax(-1) == _wanted(tokens)
    return right[..., first:].float().mean((-2, -1))


def _sequences(generators, size, length):
    """Random tokens (seeds, size, n)."""
    return torch.stack([torch.randint(TOKENS, (size, length), generator=g) for g in generators])


def _wanted(tokens):
    """The token k back at each place, (backs, seeds, size, n); the first k places hold others and are not asked."""
    return torch.stack([tokens.roll(back, -1) for back in BACKS])


class Copiers(nn.Module):
    """One head for each task and seed as one model: every weight has two leading axes (backs, seeds)."""

    def __init__(self, scheme: str, seeds: Sequence[int]):
        super().__init__()
        if scheme not in SCHEMES:
            raise ValueError(f"scheme is {scheme!r}; expected one of {', '.join(SCHEMES)}")
        self.scheme, self.seeds = scheme, list(seeds)
        self.generators = [torch.Generator().manual_seed(seed) for seed in self.seeds]
        shapes = {"token": (TOKENS, WIDTH), "w_q": (WIDTH, WIDTH), "w_k": (WIDTH, WIDTH), "w_v": (WIDTH, WIDTH),
                  "read_out": (WIDTH, TOKENS), "place": (LONGEST, WIDTH)}
        for name, shape in shapes.items():
            size = 1.0 if name in ("token", "place") else 1 / math.sqrt(WIDTH)
            start = torch.stack([torch.randn(shape, generator=g) * size for g in self.generators])
            trained = name != "place" or scheme == "learned"
            setattr(self, name, nn.Parameter(start.repeat(len(BACKS), 1, 1, 1), requires_grad=trained))

    def forward(self, tokens: Int[Tensor, "seeds B n"], *, frequencies: Tensor | None = None, factor: float = 1.0
                ) -> Float[Tensor, "backs seeds B n tokens"]:
        """frequencies: of the turning, as for rope; factor: on the scores, beside 1 / sqrt(WIDTH)."""
        q, k, v, bias = self._stages(tokens, frequencies)
        mask = causal_mask(tokens.shape[-1]).tril(-1)  # a token does not read itself
        mixed, _ = attention(q, k, v, mask=mask, bias=bias, scale=factor / math.sqrt(WIDTH))
        return mixed @ self.read_out[:, :, None]

    def scores(self, tokens: Int[Tensor, "seeds B n"], *, frequencies: Tensor | None = None
               ) -> Float[Tensor, "backs seeds B n n"]:
        """Scaled scores of every query with every key, no mask."""
        q, k, _, bias = self._stages(tokens, frequencies)
        scores = q @ k.mT / math.sqrt(WIDTH)
        return scores if bias is None else scores + bias

    def _stages(self, tokens, frequencies):
        """Queries, keys, values and bias: the one place where the schemes differ."""
        n, seed = tokens.shape[-1], torch.arange(len(tokens))[:, None, None]
        x = self.token[:, seed, tokens]  # (backs, seeds, B, n, d)
        if self.scheme == "sinusoidal":
            x = x + sinusoidal(n, WIDTH)
        if self.scheme == "learned":
            x = x + self.place[:, :, None, :n]
        q, k, v = (x @ w[:, :, None] for w in (self.w_q, self.w_k, self.w_v))
        if self.scheme == "rope":
            q, k = (rope(one, 0, frequencies=frequencies) for one in (q, k))
        slope = SLOPES.get(self.scheme)
        return q, k, v, None if slope is None else alibi_bias(1, n, slopes=torch.tensor([slope]))[0]


def scores_by_distance(copiers: Copiers, length: int, *, size: int = 4, **turning
                       ) -> Float[Tensor, "backs seeds distances"]:
    """Mean score between tokens that are 0, 1, ..., length - 1 apart, over fresh sequences.

    Raises ValueError for a length below 1.
    """
    _checks.whole_number("length", length, minimum=1)
    generators = [torch.Generator().manual_seed(1000 + seed) for seed in copiers.seeds]
    with torch.no_grad():
        scores = copiers.scores(_sequences(generators, size, length), **turning).mean(2)
    means = [scores.diagonal(-distance, -2, -1).mean(-1) for distance in range(length)]
    return torch.stack(means, -1)
