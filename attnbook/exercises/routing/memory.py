"""Implement: the memory of an agent, read by attention.

retrieve(query, keys, values, temperature): query (..., d) or many queries, keys (n, d), values (n, d_v). The score of a
memory is the cosine of its key and the query; weights are the softmax of scores / temperature over the n memories.
Returns the blend of the values, (..., d_v).
"""

import torch
from torch.nn.functional import normalize

from attnbook.exercises._exercise import Case, Exercise, Mistake, holds_nan, normal
from attnbook.exercises._report import report


def check_retrieve(fn) -> None:
    """Check retrieve(query, keys, values, temperature) and print one message."""
    report(EXERCISE, fn)


def _cosine(query, keys):
    return normalize(query, dim=-1) @ normalize(keys, dim=-1).mT


def _soft(scores, temperature):
    return torch.softmax(scores / temperature, -1)


def _blend(score=_cosine, weigh=_soft, mix=lambda weights, keys, values: weights @ values):
    """score -> weigh -> mix, with one stage changed."""
    return lambda query, keys, values, temperature: mix(weigh(score(query, keys), temperature), keys, values)


right = _blend()


# -- the inputs: unit vectors at temperature 1 first, so that the operands show before scale and size ---------------

def cases(generator):
    def draw(*queries, stretch, temperature):
        query = normalize(normal(generator, *queries, 3), dim=-1) * stretch
        keys = normalize(normal(generator, 5, 3), dim=-1)
        if stretch != 1:
            keys = keys * torch.tensor([0.5, 2.0, 3.0, 1.5, 0.3])[torch.randperm(5, generator=generator), None]
        sizes = ", ".join(map(str, (*queries, 3))) + ("" if queries else ",")
        what = (f"query of shape ({sizes}), keys (5, 3), values (5, 4), temperature {temperature}, "
                f"vectors of {'any length' if stretch != 1 else 'length 1'}")
        if temperature < 0.1:  # a memory exactly in the direction of the first query: a cosine of 1
            keys[2] = query.reshape(-1, 3)[0] / 2
        return what, (query, keys, normal(generator, 5, 4) * 2, temperature)

    return [
        Case("operands", *draw(stretch=1, temperature=1.0)),
        Case("many queries", *draw(2, stretch=1, temperature=1.0)),
        Case("temperature", *draw(2, stretch=1, temperature=0.4)),
        Case("cosine", *draw(2, stretch=1.7, temperature=0.8)),
        Case("cold", *draw(2, stretch=2.5, temperature=0.01)),
    ]


# -- the mistakes ----------------------------------------------------------------------------

def _per_feature(query, keys, values, temperature):
    return (torch.softmax(_cosine(query, keys)[..., None] * values / temperature, -1)).sum(-2)


def _winner(scores, temperature=1.0):
    return (scores == scores.amax(-1, keepdim=True)).to(scores.dtype)


MISTAKES = (
    Mistake("the keys were blended in place of the values", _blend(mix=lambda w, keys, values: w @ keys),
            "A key says where a memory is found; its value is what it holds."),
    Mistake("the weights were returned", _blend(mix=lambda w, keys, values: w),
            "They say how much of each memory to take; the blend of the values was asked for."),
    Mistake("the scores were returned", _blend(weigh=lambda s, t: s, mix=lambda w, keys, values: w),
            "Scores come first, then the weights, then the blend of the values."),
    Mistake("the blend used scores in place of weights", _blend(weigh=lambda s, t: s / t),
            "Scores may be negative and sum to anything; turn them into weights by softmax."),
    Mistake("the best memory was returned alone", _blend(weigh=_winner),
            "Argmax drops all others, however near. Attention blends, each memory by its weight.", ("operands",)),
    Mistake("all memories count the same", _blend(weigh=lambda s, t: torch.ones_like(s) / s.shape[-1]),
            "The mean of the values does not depend on the query."),
    Mistake("softmax over the features", (
                _per_feature, lambda q, k, v, t: right(q, k, torch.softmax(v, -1), t),
                lambda q, k, v, t: torch.softmax(right(q, k, v, t), -1),
                lambda q, k, v, t: _cosine(torch.softmax(q / t, -1), k) @ v),
            "The memories compete for the weight, not the features: one weight for each memory."),
    Mistake("scores were divided by the root of the width",
            _blend(lambda q, k: _cosine(q, k) / q.shape[-1] ** 0.5),
            "Here the score is the cosine, and the temperature alone sets the scale."),
    Mistake("the weights were not normalised", _blend(weigh=lambda s, t: (s / t).exp()),
            "Exponentials sum to anything; divide by their sum over the memories."),
    Mistake("softmax over the queries", _blend(weigh=lambda s, t: torch.softmax(s / t, -2)),
            "Each query shares out 1 among the memories, whatever the other queries ask.", ("many queries",)),
    Mistake("all queries were blended into one", lambda q, k, v, t: right(q, k, v, t).mean(-2),
            "Each query gets its own blend, one row each.", ("many queries",)),
    Mistake("the scores were multiplied by the temperature", _blend(weigh=lambda s, t: torch.softmax(s * t, -1)),
            "A low temperature must sharpen the choice; here it blurs it.", ("temperature",)),
    Mistake("the temperature is not used", _blend(weigh=lambda s, t: torch.softmax(s, -1)),
            "Lower temperature, sharper choice: it acts on the scores.", ("temperature",)),
    Mistake("the temperature acts after the softmax",
            (_blend(weigh=lambda s, t: torch.softmax(s, -1) / t),
             _blend(weigh=lambda s, t: _soft(torch.softmax(s, -1), t))),
            "There it stretches or flattens weights that are made already. It must act on the scores."),
    Mistake("the square or the root of the temperature",
            (_blend(weigh=lambda s, t: _soft(s, t ** 2)), _blend(weigh=lambda s, t: _soft(s, t ** 0.5))),
            "The scores are divided by the temperature itself.", ("temperature",)),
    Mistake("the vectors were not normalised", _blend(lambda q, k: q @ k.mT),
            "A plain dot product prefers long keys. The cosine looks at directions only.", ("cosine",)),
    Mistake("only the query was normalised", _blend(lambda q, k: normalize(q, dim=-1) @ k.mT),
            "Long keys still win. The cosine divides by both lengths.", ("cosine",)),
    Mistake("only the keys were normalised", _blend(lambda q, k: q @ normalize(k, dim=-1).mT),
            "The length of the query still sharpens the choice. The cosine divides by both lengths.", ("cosine",)),
    Mistake("the keys were normalised along the wrong axis",
            (_blend(lambda q, k: normalize(q, dim=-1) @ normalize(k, dim=0).mT),
             _blend(lambda q, k: normalize(q, dim=-1) @ (k / k.norm()).mT)),
            "Each key has its own length, taken over its features.", ("operands", "many queries", "cosine")),
    Mistake("the largest score is not subtracted", (),
            "At a low temperature the exponential overflows in float32. Subtract the maximum first; no weight changes.",
            ("cold",), sign=holds_nan),
)

EXERCISE = Exercise(
    name="retrieve",
    usage="retrieve(query, keys, values, temperature)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Shapes: query (..., 3), keys (5, 3), values (5, 4), result (..., 4); cosine, temperature, softmax over "
               "the memories, blend.",
)
