"""Find the bugs: a layer norm with the wrong axis, the wrong divisor and a misplaced epsilon.

norm_features(x, weight, bias, eps): x (..., L, d), weight and bias (d,). Returns LayerNorm of each token, (..., L, d).
"""

import torch
from torch.nn.functional import layer_norm

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report


def check_norm_features(fn) -> None:
    """Check norm_features(x, weight, bias, eps) and print one message."""
    report(EXERCISE, fn)


def right(x, weight, bias, eps):
    return layer_norm(x, x.shape[-1:], weight, bias, eps)


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    def case(stage, shape, size=2.0, eps=1e-5, plain=False):
        d = shape[-1]
        weight = torch.ones(d) if plain else 0.5 + torch.rand(d, generator=generator)
        bias = torch.zeros(d) if plain else normal(generator, d)
        x = size * (normal(generator, *shape) + 1)
        what = f"x of shape {shape}{', numbers near 0.001' if size < 0.1 else ''}{', weight 1, bias 0' if plain else ''}"
        return Case(stage, f"{what}, eps = {eps}", (x, weight, bias, eps))

    return [case("features", (5, 4), size=50.0, plain=True), case("small numbers", (3, 6), size=1e-3, plain=True),
            case("weight and bias", (4, 7)), case("batch", (2, 3, 5))]


# -- the mistakes ----------------------------------------------------------------------------

def _norm(axis=-1, mean=True, less=0, divide=lambda variance, eps: (variance + eps).sqrt(),
          finish=lambda y, weight, bias: weight * y + bias):
    def norm_features(x, weight, bias, eps):
        over = tuple(range(x.dim())) if axis is None else axis
        centre = x.mean(over, keepdim=True)
        variance = (x - centre).square().sum(over, keepdim=True) / ((x.numel() if axis is None else x.shape[axis]) - less)
        if not mean:
            centre, variance = 0.0, x.square().mean(over, keepdim=True)
        return finish((x - centre) / divide(variance, eps), weight, bias)
    return norm_features


def _outside(variance, eps):
    return variance.sqrt() + eps


MISTAKES = (
    Mistake("normalised over the tokens", [_norm(-2, less=less, divide=divide) for less in (0, 1)
                                           for divide in (lambda v, e: (v + e).sqrt(), _outside)],
            "Each token is normed alone, over its features: the last axis. Other tokens must not matter."),
    Mistake("one mean and one deviation for everything", _norm(None),
            "Each token has its own, over the last axis."),
    Mistake("mean over one axis, deviation over the other",
            (lambda x, w, b, e: w * (x - x.mean(-2, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + e).sqrt() + b,
             lambda x, w, b, e: w * (x - x.mean(-1, keepdim=True)) / (x.var(-2, keepdim=True, correction=0) + e).sqrt() + b,
             lambda x, w, b, e: w * (x - x.mean(-2, keepdim=True)) / (x.std(-1, keepdim=True) + e) + b,
             lambda x, w, b, e: w * (x - x.mean(-1, keepdim=True)) / (x.std(-2, keepdim=True) + e) + b),
            "Both belong to one token: the last axis."),
    Mistake("the mean is not taken away", _norm(mean=False), "That is RMSNorm."),
    Mistake("divided by one less than the number of features", (_norm(less=1), _norm(less=1, divide=_outside)),
            "The variance is a mean over all features; torch.std and torch.var use one less unless told otherwise."),
    Mistake("epsilon stands outside the root", _norm(divide=_outside),
            "For small numbers that is another function: epsilon is added to the variance.", ("small numbers",)),
    Mistake("epsilon is left out", _norm(divide=lambda v, e: v.sqrt()),
            "For small numbers it decides, and a constant token would divide 0 by 0.", ("small numbers",)),
    Mistake("divided by the variance in place of its root", _norm(divide=lambda v, e: v + e),
            "The result should have variance 1."),
    Mistake("only centred, not divided", _norm(divide=lambda v, e: torch.ones_like(v)), "Divide by the deviation, too."),
    Mistake("weight and bias are not used", _norm(finish=lambda y, w, b: y), "They come last: a factor and an offset for each feature."),
    Mistake("the bias is missing", _norm(finish=lambda y, w, b: w * y), "An offset for each feature comes last."),
    Mistake("the weight is missing", _norm(finish=lambda y, w, b: y + b), "A factor for each feature comes before the bias."),
    Mistake("the bias is multiplied by the weight", _norm(finish=lambda y, w, b: w * (y + b)), "First the factor, then the offset."),
)


def size(got, want):
    """A symptom: a mean over the features that is off."""
    if got.shape != want.shape or want.dim() != 2:
        return ""
    return "" if (got.mean(-1) - want.mean(-1)).abs().max() < 1e-3 else "The mean over the features is off."


EXERCISE = Exercise(
    name="norm_features",
    usage="norm_features(x, weight, bias, eps)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Shapes: x (..., L, d), weight and bias (d,); the result (..., L, d) is normed over the last axis.",
    symptom=size,
)
