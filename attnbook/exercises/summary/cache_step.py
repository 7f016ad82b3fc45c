"""Implement: one step of a cached layer.

cache_step(q, k, v, old_k, old_v): q, k (..., L, d_k) and v (..., L, d_v) of L new tokens, old_k (..., S, d_k) and old_v
(..., S, d_v) of the S tokens before them. Causal. Returns the outputs of the new tokens, (..., L, d_v).
"""

import math

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report


def check_cache_step(fn) -> None:
    """Check cache_step(q, k, v, old_k, old_v) and print one message."""
    report(EXERCISE, fn)


def _last(L, S):
    return torch.ones(L, S, dtype=torch.bool).tril(S - L)


def _first(L, S):
    return torch.ones(L, S, dtype=torch.bool).tril()


def _everything(L, S):
    return torch.ones(L, S, dtype=torch.bool)


def _step(mask=_last, keys=lambda old, new: torch.cat((old, new), -2), values=None, scale=math.sqrt, axis=-1):
    """One step; mask(L, S) True = may attend; keys and values join what is old and new."""
    def step(q, k, v, old_k, old_v):
        k, v = keys(old_k, k), (values or keys)(old_v, v)
        scores = q @ k.mT / scale(q.shape[-1])
        scores = scores.masked_fill(~mask(*scores.shape[-2:]), -torch.inf)
        return torch.softmax(scores, axis) @ v
    return step


right = _step()


def cases(generator):
    def case(stage, words, L, S, *batch):
        what = f"{words}: q, k {(*batch, L, 4)}, v {(*batch, L, 6)}, old_k {(*batch, S, 4)}, old_v {(*batch, S, 6)}"
        sizes = ((L, 4), (L, 4), (L, 6), (S, 4), (S, 6))
        return Case(stage, what, tuple(normal(generator, *batch, *size) for size in sizes))

    return [case("one token", "one new token, three old", 1, 3), case("chunk", "three new tokens, five old", 3, 5),
            case("empty cache", "the first chunk", 3, 0), case("batch", "a batch with heads", 2, 5, 3, 2)]


# -- the mistakes ----------------------------------------------------------------------------

def _only_new(old, new):
    return new


def _in_front(old, new):
    return torch.cat((new, old), -2)


def _strict(L, S):
    return torch.ones(L, S, dtype=torch.bool).tril(S - L - 1)


def _past_only(q, k, v, old_k, old_v):
    return torch.softmax(q @ old_k.mT / math.sqrt(q.shape[-1]), -1) @ old_v


MISTAKES = (
    Mistake("the scores are not scaled", _step(scale=lambda d: 1.0), "A cache changes where keys come from, not the formula."),
    Mistake("divided by d_k, not by its root", _step(scale=lambda d: d), "The divisor is the root of the width of a key."),
    Mistake("only the cached keys were read", (_past_only, _step(_strict)),
            "A token attends to itself, too: its own key and value belong to what it reads."),
    Mistake("only the new keys were read", (_step(_last, _only_new), _step(_everything, _only_new)),
            "The new queries must also see the tokens before them. That is what the cache is for.",
            ("one token", "chunk", "batch")),
    Mistake("the mask starts at the first key", _step(_first),
            "The first NEW query is not the first token: it sees all cached keys. Align the mask with the last key.",
            ("one token", "chunk", "batch")),
    Mistake("no mask among the new tokens", _step(_everything),
            "A chunk of several tokens still must not look ahead. With one new token this goes unnoticed.",
            ("chunk", "empty cache", "batch")),
    Mistake("new keys were put in front of the old ones", _step(keys=_in_front),
            "Order matters to the mask: the old tokens come first.", ("chunk", "batch")),
    Mistake("keys and values are in different orders", (_step(values=_in_front), _step(_everything, values=_in_front)),
            "Join values in the same order as keys, or each weight meets the wrong value."),
    Mistake("softmax over the queries", _step(axis=-2), "Each query shares out 1 among the keys: along the last axis."),
)


EXERCISE = Exercise(
    name="cache_step",
    usage="cache_step(q, k, v, old_k, old_v)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="L new tokens and S cached ones give outputs (..., L, d_v); new token i sees all S old tokens and the new "
               "ones up to itself. S may be 0.",
)
