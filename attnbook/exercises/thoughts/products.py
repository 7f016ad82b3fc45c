"""Predict: how many multiplications?

products(method, n, d, window): multiplications (each with an addition) of one head of width d on n tokens, forward, in the
matrix products alone. Methods: "dense" and "tiled" without a mask, "window" for n tokens of which each sees `window` keys (pretend
that the first ones do, too), "linear" for a feature map of width d (without its normaliser).
"""

import torch

from attnbook import costs
from attnbook.exercises._exercise import Case, Exercise, Mistake
from attnbook.exercises._report import report

METHODS = ("dense", "tiled", "window", "linear")


def check_products(fn) -> None:
    """Check products(method, n, d, window) and print one message."""
    report(EXERCISE, fn)


def right(method, n, d, window):
    return costs.products(method, n, d, window=window)


# -- the inputs: one method a case, several sizes ----------------------------------------------

def cases(generator):
    return [_ask(generator, method) for method in METHODS]


def _ask(generator, method):
    sizes = [tuple(x) for x in torch.randint(2, 9, (4, 3), generator=generator).tolist()]
    asked = [(method, 64 * n, 16 * d, 8 * w) for n, d, w in sizes]

    def answers(fn, args):
        found = [fn(*question) for question in (args, *asked[1:])]
        return next((answer for answer in found if answer is None), found)

    return Case(method, f'method "{method}", several n, d and window', asked[0], answers)


# -- the mistakes ----------------------------------------------------------------------------

def _of(**counts):
    return lambda method, n, d, window: counts[method](n, d, window) if method in counts else right(method, n, d, window)


MISTAKES = (
    Mistake("only the scores were counted, or only the mixing",
            (_of(dense=lambda n, d, w: n * n * d), _of(tiled=lambda n, d, w: n * n * d), _of(window=lambda n, d, w: n * w * d),
             _of(linear=lambda n, d, w: n * d * d)),
            "There are two matrix products of the same size: one before the weights, one after."),
    Mistake("operations were counted twice", tuple(
        _of(**{m: lambda n, d, w, m=m: 2 * right(m, n, d, w)}) for m in METHODS),
            "A multiplication with its addition counts as one here."),
    Mistake("the width was forgotten", (_of(dense=lambda n, d, w: 2 * n * n), _of(tiled=lambda n, d, w: 2 * n * n),
                                        _of(window=lambda n, d, w: 2 * n * w), _of(linear=lambda n, d, w: 2 * n * d),
                                        _of(dense=lambda n, d, w: n * n), _of(tiled=lambda n, d, w: n * n),
                                        _of(window=lambda n, d, w: n * w)),
            "A score is a dot product: it takes as many multiplications as the vectors are wide."),
    Mistake("tiles were thought to save work", (_of(tiled=lambda n, d, w: 2 * n * w * d), _of(tiled=lambda n, d, w: 2 * n * d),
                                                _of(tiled=lambda n, d, w: n * d), _of(tiled=lambda n, d, w: n)),
            "Every query still meets every key; only where the scores are kept has changed.", ("tiled",)),
    Mistake("the window was not used", _of(window=lambda n, d, w: 2 * n * n * d),
            "Each token meets the keys of its window only.", ("window",)),
    Mistake("linear attention was counted as quadratic", _of(linear=lambda n, d, w: 2 * n * n * d),
            "No query meets a key. Each token is written into a state once, and reads from it once.", ("linear",)),
    Mistake("the state was taken for a vector", _of(linear=lambda n, d, w: 4 * n * d),
            "What is written is the product of a column and a row: a matrix.", ("linear",)),
)

EXERCISE = Exercise(
    name="products",
    usage="products(method, n, d, window)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Return one number for the method, one of dense, tiled, window and linear.",
)
