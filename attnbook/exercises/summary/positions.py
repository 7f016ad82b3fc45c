"""Find the bug: rotary positions in chunks.

chunk_scores(q, k, old_k, turn): q, k (..., L, d) of L new tokens, not yet turned; old_k (..., S, d), cached, already
turned; turn(x, start) turns row i of x by position start + i. Returns the scores (..., L, S + L), not scaled, no mask.
"""

import numpy as np
import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report


def check_chunk_scores(fn) -> None:
    """Check chunk_scores(q, k, old_k, turn) and print one message."""
    report(EXERCISE, fn)


def turn(x, start):
    """The rotation of RoPE in the layout "half", for tensors and numpy's arrays."""
    if isinstance(x, np.ndarray):
        return turn(torch.as_tensor(x), start).numpy()
    n = x.shape[-1] // 2
    places = torch.arange(int(start), int(start) + x.shape[-2], dtype=torch.float64)
    angles = (places[:, None] * 10.0 ** -torch.arange(n, dtype=torch.float64)).to(x.dtype)
    a, b = x[..., :n], x[..., n:]
    return torch.cat((a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()), -1)


def _scores(q_from=lambda S: S, k_from=lambda S: S, old=lambda k, turn: k):
    def scores(q, k, old_k, turn):
        S = old_k.shape[-2]
        q = q if q_from is None else turn(q, q_from(S))
        k = k if k_from is None else turn(k, k_from(S))
        return q @ torch.cat((old(old_k, turn), k), -2).mT
    return scores


right = _scores()


def cases(generator):
    def case(stage, words, L, S, *batch):
        old = turn(normal(generator, *batch, S, 6), 0)
        what = f"{words}: q, k {(*batch, L, 6)}, old_k {(*batch, S, 6)}"
        return Case(stage, what, (normal(generator, *batch, L, 6), normal(generator, *batch, L, 6), old, turn))

    return [case("empty cache", "the first chunk", 3, 0), case("one token", "one new token, four old", 1, 4),
            case("chunk", "three new tokens, five old", 3, 5), case("batch", "a batch with heads", 2, 4, 2, 3)]


# -- the mistakes ----------------------------------------------------------------------------

def _zero(S):
    return 0


def _again(k, turn):
    return turn(k, 0)


def _all_anew(q, k, old_k, turn):
    S = old_k.shape[-2]
    return turn(q, S) @ turn(torch.cat((old_k, k), -2), 0).mT


LATER = ("one token", "chunk", "batch")
MISTAKES = (
    Mistake("the cached keys are turned twice, and positions restart at 0",
            (_scores(_zero, _zero, _again), lambda q, k, old, turn: turn(q, 0) @ turn(torch.cat((old, k), -2), 0).mT),
            "Two bugs in one: a cached key already carries its position, and the new tokens stand behind it.", LATER),
    Mistake("the cached keys are turned twice", (_all_anew, _scores(old=_again)),
            "A cached key already carries its position.", LATER),
    Mistake("positions restart at 0 in every chunk", _scores(_zero, _zero),
            "The new tokens stand behind the cached ones: their positions go on where the cache ends.", LATER),
    Mistake("the queries start at 0, the keys do not", _scores(q_from=_zero),
            "A query and a key of one token have one position.", LATER),
    Mistake("the keys start at 0, the queries do not", _scores(k_from=_zero),
            "A query and a key of one token have one position.", LATER),
    Mistake("positions are one too high", _scores(lambda S: S + 1, lambda S: S + 1),
            "With S tokens cached, numbered from 0, which number comes next?", LATER),
    Mistake("positions are one too low", _scores(lambda S: max(S - 1, 0), lambda S: max(S - 1, 0)),
            "With S tokens cached, numbered from 0, which number comes next?", LATER),
    Mistake("the queries are not turned", _scores(q_from=None), "A score sees distance only if both sides are turned."),
    Mistake("the new keys are not turned", _scores(k_from=None), "A score sees distance only if both sides are turned."),
    Mistake("the new keys stand in front of the old ones",
            lambda q, k, old, turn: turn(q, old.shape[-2]) @ torch.cat((turn(k, old.shape[-2]), old), -2).mT,
            "Columns are keys in the order of their positions: the old ones first.", LATER),
)


EXERCISE = Exercise(
    name="chunk_scores",
    usage="chunk_scores(q, k, old_k, turn)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="q, k (..., L, d) and old_k (..., S, d) give scores (..., L, S + L), the old keys first; turn(x, start) "
               "turns row i of x by position start + i.",
)
