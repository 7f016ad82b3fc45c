"""Predict: the parameters of a TinyTransformer.

parameters(n_tokens, d_model, n_heads, n_layers): how many numbers training sets, positions being turned (RoPE).
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake
from attnbook.exercises._report import report
from attnbook.exercises._returned import length


def check_parameters(fn) -> None:
    """Check parameters(n_tokens, d_model, n_heads, n_layers) and print one message."""
    report(EXERCISE, fn)


def _counted(matrices=4, heads=lambda h: 1, think=lambda d: 8 * d * d + 5 * d, norms=lambda n: 2 * n + 1, tables=2,
             layers=lambda n: n, positions=lambda d: 0, norm=2):
    def parameters(n_tokens, d_model, n_heads, n_layers):
        layer = matrices * d_model ** 2 * heads(n_heads) + think(d_model)
        return (tables * n_tokens * d_model + layers(n_layers) * layer + norms(n_layers) * norm * d_model
                + positions(d_model))
    return parameters


right = _counted()


def cases(generator):
    def draw(low, high):
        return int(torch.randint(low, high, (), generator=generator))

    def case(stage, n_layers):
        heads = draw(2, 5)
        return Case(stage, stage, (2 * draw(50, 95) + 1, 2 * heads * draw(5, 12), heads, n_layers))

    return [case("several layers", draw(3, 8)), case("one layer", 1), case("no layer", 0)]


# -- the mistakes ----------------------------------------------------------------------------

IN_LAYERS = ("one layer", "several layers")
MISTAKES = (
    Mistake("only one of embedding and read-out was counted", _counted(tables=1),
            "The table that reads tokens in and the one that reads them out are two, unless someone ties them."),
    Mistake("the norm at the end was forgotten", _counted(norms=lambda n: 2 * n),
            "With the norms in front of the sublayers, the stream needs one more before it is read out."),
    Mistake("no norm was counted", _counted(norms=lambda n: 0), "A LayerNorm has a weight and a bias for each feature."),
    Mistake("a norm without its bias", _counted(norm=1), "A LayerNorm has a weight and a bias for each feature."),
    Mistake("attention has four matrices", _counted(matrices=3),
            "Queries, keys, values, and one more that puts the heads' outputs together.", IN_LAYERS),
    Mistake("the heads multiply the matrices", (_counted(heads=lambda h: h), lambda t, d, h, n: right(t, d, h, n)
            + 3 * n * (h - 1) * d * d), "Each head has a width of d_model / n_heads: together they fill the same matrices.",
            IN_LAYERS),
    Mistake("the heads divide the matrices", _counted(heads=lambda h: 1 / h),
            "Every head reads the whole vector: d_model numbers in, d_model / n_heads out, for each of them.", IN_LAYERS),
    Mistake("the network has no biases", _counted(think=lambda d: 8 * d * d),
            "nn.Linear adds a bias: one number for each output.", IN_LAYERS),
    Mistake("the network was not counted", _counted(think=lambda d: 0),
            "Each layer holds a network from d_model to 4 d_model and back.", IN_LAYERS),
    Mistake("the network is not wider inside", _counted(think=lambda d: 2 * d * d + 2 * d),
            "Inside, the network is four times as wide as the stream.", IN_LAYERS),
    Mistake("attention was given biases", (_counted(think=lambda d: 8 * d * d + 9 * d), _counted(think=lambda d: 8 * d * d + 8 * d)),
            "The four matrices of SelfAttention stand alone, without biases.", IN_LAYERS),
    Mistake("one norm for each layer", _counted(norms=lambda n: n + 1),
            "A layer has two sublayers, and each has a norm of its own.", IN_LAYERS),
    Mistake("one layer was counted", _counted(layers=lambda n: min(n, 1)), "Every layer has weights of its own.", ("several layers",)),
)


EXERCISE = Exercise(
    name="parameters",
    usage="parameters(n_tokens, d_model, n_heads, n_layers)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="One whole number: embedding, for each layer four matrices, a network and two norms, then a last norm and "
               "the read-out.",
    read=length,
)
