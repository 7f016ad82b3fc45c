"""Find the bugs: linear attention that forgot its normaliser.

linear_causal(q, k, v): q, k (n, d), v (n, e); causal linear attention with the feature map elu + 1. Returns (n, e).
"""

import torch
from torch.nn.functional import elu

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report


def check_linear_causal(fn) -> None:
    """Check linear_causal(q, k, v) and print one message."""
    report(EXERCISE, fn)


def _features(x):
    return elu(x) + 1


def _linear(phi=_features, normalise=True, causal=True, own=True, keep=lambda old, new: old + new, softmaxed=False):
    """The quadratic form, with one stage changed."""
    def fn(q, k, v):
        fq, fk = phi(q), phi(k)
        mass = fq @ fk.mT
        mass = mass.tril(0 if own else -1) if causal else mass
        if softmaxed:
            return torch.softmax(mass.masked_fill(mass == 0, -torch.inf), -1) @ v
        return mass @ v / mass.sum(-1, keepdim=True).clamp_min(1e-9) if normalise else mass @ v
    return fn


right = _linear()


def _plain_softmax(q, k, v):
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~torch.ones(len(q), len(k), dtype=torch.bool).tril(), -torch.inf)
    return torch.softmax(scores, -1) @ v


def _unnormalised_identity(q, k, v):
    return (q @ k.mT).tril() @ v


def _signed(q, k, v):
    mass = (q @ k.mT).tril()
    return mass @ v / mass.sum(-1, keepdim=True)


def _last_only(q, k, v):
    return v.clone()


def _total_of_all(q, k, v):
    fq, fk = _features(q), _features(k)
    return (fq @ fk.mT).tril() @ v / (fq @ fk.sum(-2))[:, None]


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    def draw(n):
        return tuple(normal(generator, n, d) for d in (3, 3, 2))

    one = draw(1)
    while ((one[0] @ one[1].mT).abs() - 1).abs() < 0.1:  # a product of 1 would look like a weight of 1
        one = draw(1)
    return [
        Case("one token", "q, k (1, 3) and v (1, 2)", one),
        Case("ones", "q, k (5, 3), every value 1, v (5, 2)", (*draw(5)[:2], torch.ones(5, 2))),
        Case("sequence", "q, k (5, 3) and v (5, 2)", draw(5)),
    ]


# -- the mistakes ----------------------------------------------------------------------------

MISTAKES = (
    Mistake("the normaliser is missing, and the features may be negative", _unnormalised_identity,
            "Two things make weights out of products: a map that is positive everywhere, and a division by their sum.",
            ("one token",)),
    Mistake("the normaliser is missing", _linear(normalise=False),
            "A single token has only itself to look at: its weight is 1, so its own value must come out.", ("one token",)),
    Mistake("a token does not see itself", (_linear(own=False), lambda q, k, v: torch.zeros_like(v)),
            "The new key and value enter the state before the query reads it.", ("one token",)),
    Mistake("the sum of all keys, future ones included, divides each row", _total_of_all,
            "The normaliser is a running sum, like the state.", ("ones",)),
    Mistake("the feature map is missing", _signed,
            "Products of plain queries and keys can be negative, and their sum can be near 0. A positive map comes first.",
            ("sequence",)),
    Mistake("softmax was applied to the products", (_linear(softmaxed=True), _plain_softmax),
            "Then every query has to meet every key again. The features take the place of the exponential.", ("sequence",)),
    Mistake("future tokens are seen", _linear(causal=False), "Row i may use tokens 0 to i only.", ("sequence",)),
    Mistake("every token reads itself alone", _last_only, "The state must keep what came before.", ("sequence",)),
    Mistake("another feature map", (_linear(phi=torch.exp), _linear(phi=lambda x: torch.relu(x) + 1e-6),
                                    _linear(phi=elu), _linear(phi=lambda x: elu(x) + 2)),
            "Here it is elu(x) + 1: 1 + x above 0 and exp(x) below.", ("sequence",)),
)

EXERCISE = Exercise(
    name="linear_causal",
    usage="linear_causal(q, k, v)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="q and k are (n, d), v is (n, e), and the result is (n, e), one row a query.",
)
