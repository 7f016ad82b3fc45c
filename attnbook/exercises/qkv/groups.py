"""Implement: grouped-query attention.

grouped_attention(q, k, v): q (..., H, L, d_k), k (..., G, S, d_k), v (..., G, S, d_v), H a multiple of G. Neighbouring
query heads share one head of keys and values. Returns (..., H, L, d_v).
"""

import math

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report


def check_grouped_attention(fn) -> None:
    """Check grouped_attention(q, k, v) and print one message."""
    report(EXERCISE, fn)


def _attend(q, k, v, scale=None):
    return torch.softmax(q @ k.mT / (math.sqrt(q.shape[-1]) if scale is None else scale), -1) @ v


def _grouped(spread, values=None, scale=lambda q, k: math.sqrt(q.shape[-1])):
    """Attention after spreading the G heads of keys (and values) over the H query heads."""
    def grouped(q, k, v):
        h = q.shape[-3]
        return _attend(q, spread(k, h), (values or spread)(v, h), scale(q, k))
    return grouped


def _in_place(x, h):
    return x.repeat_interleave(h // x.shape[-3], dim=-3)


def _in_turn(x, h):
    return torch.cat([x] * (h // x.shape[-3]), dim=-3)


right = _grouped(_in_place)


def cases(generator):
    def case(stage, h, g, *batch):
        what = f"q {(*batch, h, 3, 4)}, k {(*batch, g, 5, 4)}, v {(*batch, g, 5, 7)}"
        return Case(stage, what, (normal(generator, *batch, h, 3, 4) * 1.5, normal(generator, *batch, g, 5, 4),
                                  normal(generator, *batch, g, 5, 7)))

    return [case("one head each", 2, 2), case("groups", 6, 2), case("one for all", 6, 1), case("batch", 6, 3, 2)]


# -- the mistakes ----------------------------------------------------------------------------

def _mean(x, h):
    return x.mean(-3, keepdim=True).expand(*x.shape[:-3], h, *x.shape[-2:])


def _first(x, h):
    return x[..., :1, :, :].expand(*x.shape[:-3], h, *x.shape[-2:])


def _backwards(x, h):
    return _in_place(x, h).flip(-3)


def _joined(q, k, v):
    """All heads of keys side by side as one long list of keys for every query head."""
    long = [x.flatten(-3, -2).unsqueeze(-3) for x in (k, v)]
    return _attend(q, *long)


def _averaged_queries(q, k, v):
    groups = q.unflatten(-3, (k.shape[-3], -1)).mean(-3)
    return _attend(groups, k, v)


MISTAKES = (
    Mistake("the scores are not scaled", _grouped(_in_place, scale=lambda q, k: 1.0),
            "Grouping changes who reads which key, not the formula: the scores are divided by the root of d_k."),
    Mistake("divided by d_k, not by its root", _grouped(_in_place, scale=lambda q, k: q.shape[-1]),
            "The divisor is the root of the width of a key."),
    Mistake("softmax over the queries",
            lambda q, k, v: torch.softmax(q @ _in_place(k, q.shape[-3]).mT / math.sqrt(q.shape[-1]), -2)
            @ _in_place(v, q.shape[-3]), "Each query shares out 1 among the keys: along the last axis."),
    Mistake("the heads of keys are dealt out in turn", _grouped(_in_turn),
            "Query heads got key heads 0, 1, 0, 1, ... Neighbours should share: repeat each head in its place.",
            ("groups", "batch")),
    Mistake("only the keys are spread in place", (_grouped(_in_place, _in_turn), _grouped(_in_turn, _in_place)),
            "Keys and values of a head belong together; here they were dealt out in two ways.", ("groups", "batch")),
    Mistake("all query heads read the first head", _grouped(_first),
            "One head of keys served all queries, although there are several.", ("one head each", "groups", "batch")),
    Mistake("the heads of keys were averaged", _grouped(_mean),
            "Averaging makes one head out of several; each group has its own.", ("one head each", "groups", "batch")),
    Mistake("the order of the groups is reversed", _grouped(_backwards),
            "The first query heads belong to the first head of keys.", ("one head each", "groups", "batch")),
    Mistake("the heads of keys were joined into one list", _joined,
            "Every query head saw the keys of all groups. It reads those of its own group only.",
            ("one head each", "groups", "batch")),
    Mistake("the query heads of a group were averaged", _averaged_queries,
            "Queries are never shared: every query head keeps its own output.", ("groups", "one for all", "batch")),
)


EXERCISE = Exercise(
    name="grouped_attention",
    usage="grouped_attention(q, k, v)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="q (..., H, L, d_k), k (..., G, S, d_k), v (..., G, S, d_v) give (..., H, L, d_v); query heads "
               "0 to H/G - 1 read head 0 of the keys, the next H/G read head 1, and so on.",
)
