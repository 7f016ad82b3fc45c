"""Recall among pairs: read some noisy (key, value) pairs, then name the value that belongs to a noisy key (chapter 3).

24 symbols have fixed random features of width 32 and variance 1, as after a normalisation layer. An episode draws
`pairs` different key symbols, a value symbol for each, and one key as the question; keys and question come with noise
of standard deviation 0.5. One head reads the pairs; a matrix turns what it reads into 24 logits.

    scores = (x_q W_Q) (x_k W_K)^T * factor      weights = softmax(scores)      logits = (weights x_v) W_out

Trained with Adam on batches of 32. All kinds of factor and all seeds are trained side by side; the kinds of one seed
share its features, its start and its batches, so that the factor is the only difference. Beside the kinds of
attnbook.scaling.SCALES:

    learned    factor e^g with g trained, started at 1 / sqrt(d_k)
    qk_norm    queries and keys at length 1, factor e^g with g trained, started at sqrt(d_k)
    start      no factor, but W_Q starts divided by sqrt(d_k): the same function as "sqrt" at the first step
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from attnbook import _checks
from attnbook.saturation import ScoreStatistics, score_statistics
from attnbook.scaling import SCALES, scale_factor
from attnbook.training import fit

SYMBOLS, WIDTH, BATCH, NOISE = 24, 32, 32, 0.5
KINDS = (*SCALES, "learned", "qk_norm", "start")
SOLVED = 1.0  # nats; guessing a value costs ln 24 = 3.18


@dataclass(frozen=True)
class LookupRun:
    """One kind of factor, trained on several seeds.

    accuracy: on 1000 fresh episodes, a number a seed; chance is about 0.04. loss: [seed][step], before each step.
    steps: until the running mean of the loss is below 1 nat, else the budget.
    gradient: largest norm met, a number a seed.
    before, after: statistics of the scores of fresh episodes before and after training, one a seed.
    factor: at the end, a number a seed.
    """

    accuracy: list[float]
    loss: list[list[float]]
    steps: list[int]
    gradient: list[float]
    before: list[ScoreStatistics]
    after: list[ScoreStatistics]
    factor: list[float]


def train_lookup(kinds: Sequence[str] = ("none", "sqrt", "d", "learned"), d_k: int = 512, *, pairs: int = 16,
                 seeds: Sequence[int] = range(5), steps: int = 300, lr: float = 1e-3) -> dict[str, LookupRun]:
    """Train a head for each kind of factor and each seed; the runs by kind.

    Raises ValueError for an unknown kind or more pairs than symbols.
    """
    wrong = [kind for kind in kinds if kind not in KINDS]
    if wrong:
        raise ValueError(f"kinds has {wrong[0]!r}; expected some of {', '.join(KINDS)}")
    _checks.whole_number("pairs", pairs, minimum=2)
    if pairs > SYMBOLS:
        raise ValueError(f"pairs is {pairs}; expected at most {SYMBOLS}, the number of symbols")
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    features = torch.stack([torch.randn(SYMBOLS, WIDTH, generator=g) for g in generators])
    heads = _Heads(kinds, d_k, generators)
    losses, norms = [], []

    def loss(_):
        losses.append(_losses(heads, *_batch(features, pairs, BATCH, generators))[0])
        return losses[-1].sum()

    def watch(parameters):  # sees the gradients of each head, and leaves them alone
        norms.append(sum(p.grad.square().flatten(2).sum(2) for p in parameters).sqrt())

    test = _batch(features, pairs, 1000, generators)
    before = heads.scores(*test[:2])
    fit(heads, loss, steps=steps, lr=lr, clip=watch)
    with torch.no_grad():
        _, right, after = _losses(heads, *test)
    curves, peaks = torch.stack(losses).detach(), torch.stack(norms)  # (steps, kinds, seeds)
    return {kind: LookupRun(right[i].tolist(), curves[:, i].T.tolist(), _steps_to(SOLVED, curves[:, i]),
                            peaks[:, i].amax(0).tolist(), [score_statistics(s) for s in before[i]],
                            [score_statistics(s) for s in after[i]], heads.factor()[i].flatten().tolist())
            for i, kind in enumerate(kinds)}


def _batch(features, pairs, size, generators):
    """Question (S, B, d), keys and values (S, B, n, d), and the answer (S, B), of each seed."""
    parts = []
    for table, g in zip(features, generators, strict=True):
        keys = torch.rand(size, SYMBOLS, generator=g).argsort(-1)[:, :pairs]  # different symbols
        values = torch.randint(SYMBOLS, (size, pairs), generator=g)
        asked = torch.randint(pairs, (size, 1), generator=g)
        clean = table[keys]
        question = clean.gather(1, asked[..., None].expand(-1, -1, WIDTH))[:, 0]
        parts.append((question + NOISE * torch.randn(question.shape, generator=g),
                      clean + NOISE * torch.randn(clean.shape, generator=g),
                      table[values], values.gather(1, asked)[:, 0]))
    return tuple(torch.stack(part) for part in zip(*parts, strict=True))


def _losses(heads, question, keys, values, answer):
    """Mean cross-entropy, share of right answers, each (kinds, seeds), and the scores."""
    scores = heads.scores(question, keys)
    read = torch.einsum("ksbn,sbnd->ksbd", scores.softmax(-1), values)
    logits = read @ heads.w_out
    target = answer.expand(logits.shape[:-1])
    each = nn.functional.cross_entropy(logits.flatten(0, -2), target.flatten(), reduction="none").view_as(target)
    return each.mean(-1), (logits.argmax(-1) == target).float().mean(-1), scores


def _steps_to(level, curves):
    """Steps until the running mean of the loss falls below a level, for each seed; curves (steps, seeds)."""
    mean, found = curves[0], torch.full(curves.shape[1:], len(curves))
    for step, loss in enumerate(curves):
        mean = 0.9 * mean + 0.1 * loss
        found = torch.where((mean < level) & (found == len(curves)), step, found)
    return found.tolist()


class _Heads(nn.Module):
    """One head for each kind and seed as one model: every weight has two leading axes (kinds, S)."""

    def __init__(self, kinds, d_k, generators):
        super().__init__()
        shapes = {"w_q": (WIDTH, d_k), "w_k": (WIDTH, d_k), "w_out": (WIDTH, SYMBOLS)}
        for name, shape in shapes.items():
            start = torch.stack([torch.randn(shape, generator=g) for g in generators]) / math.sqrt(WIDTH)
            setattr(self, name, nn.Parameter(start.repeat(len(kinds), 1, 1, 1)))
        starts = {"learned": d_k ** -0.5, "qk_norm": d_k ** 0.5, "start": 1.0}
        fixed = [starts.get(kind) or scale_factor(kind, d_k) for kind in kinds]
        flag = {name: torch.tensor([kind == name for kind in kinds]) for name in ("qk_norm", "start")}
        trained = torch.tensor([kind in ("learned", "qk_norm") for kind in kinds])
        with torch.no_grad():
            self.w_q[flag["start"]] /= math.sqrt(d_k)
        self.log_factor = nn.Parameter(torch.zeros(len(kinds), len(generators), 1))
        for name, x in (("fixed", torch.tensor(fixed)), ("trained", trained), ("normed", flag["qk_norm"])):
            self.register_buffer(name, x[:, None, None])

    def factor(self):
        """(kinds, S, 1)"""
        return self.fixed * torch.where(self.trained, self.log_factor, 0.0).exp()

    def scores(self, question, keys):
        """(kinds, S, B, n). W_Q W_K^T is applied to the question, so that no key need be projected."""
        q = question @ self.w_q  # (kinds, S, B, d_k)
        raw = torch.einsum("sbnd,ksbd->ksbn", keys, q @ self.w_k.mT)
        if self.normed.any():
            gram = self.w_k @ self.w_k.mT  # the length of a projected key, without projecting it
            squares = torch.einsum("ksbnd,sbnd->ksbn", keys @ gram[:, :, None], keys)
            lengths = q.norm(dim=-1, keepdim=True) * squares.clamp_min(1e-12).sqrt()
            raw = torch.where(self.normed[..., None], raw / lengths, raw)
        return raw * self.factor()[..., None]
