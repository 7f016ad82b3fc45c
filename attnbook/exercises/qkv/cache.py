"""Predict: the size of a cache.

cache_bytes(n_layers, n_heads, n_kv_heads, d_head, n_tokens, bits, d_latent): bytes of the cached keys and values of
n_tokens tokens. d_latent is None, or for latent attention the numbers cached per token and layer.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake
from attnbook.exercises._report import report
from attnbook.exercises._returned import length


def check_cache_bytes(fn) -> None:
    """Check cache_bytes(n_layers, n_heads, n_kv_heads, d_head, n_tokens, bits, d_latent) and print one message."""
    report(EXERCISE, fn)


def right(n_layers, n_heads, n_kv_heads, d_head, n_tokens, bits, d_latent):
    per_layer = 2 * n_kv_heads * d_head if d_latent is None else d_latent
    return n_layers * per_layer * n_tokens * bits / 8


def cases(generator):
    def draw(low, high):
        return int(torch.randint(low, high, (), generator=generator))

    def case(stage, group, bits, d_latent, words):
        n_kv = draw(3, 8)
        sizes = (draw(11, 60), n_kv * group, n_kv, 8 * draw(4, 17), draw(100, 5000), bits, d_latent)
        names = ("n_layers", "n_heads", "n_kv_heads", "d_head", "n_tokens", "bits", "d_latent")
        stated = ", ".join(f"{name} {size}" for name, size in zip(names, sizes) if name in ("bits", "d_latent"))
        return Case(stage, f"{words}, {stated}", sizes)

    return [
        case("heads of its own", 1, 12, None, "as many heads of keys as of queries"),
        case("shared heads", 4, 16, None, "four query heads on each head of keys"),
        case("bits", 4, 6, None, "shared heads"),
        case("latent", 2, 16, 8 * draw(20, 80) + 4, "latent attention"),
    ]


# -- the mistakes ----------------------------------------------------------------------------

def _counted(factor=2, heads=lambda n_heads, n_kv: n_kv, layers=True, tokens=True, size=lambda bits: bits / 8,
             latent=lambda d_latent, plain: d_latent):
    def count(n_layers, n_heads, n_kv_heads, d_head, n_tokens, bits, d_latent):
        plain = factor * heads(n_heads, n_kv_heads) * d_head
        per_layer = plain if d_latent is None else latent(d_latent, plain)
        return per_layer * (n_layers if layers else 1) * (n_tokens if tokens else 1) * size(bits)
    return count


LATENT = ("latent",)
MISTAKES = (
    Mistake("only one of keys and values was counted", _counted(factor=1), "A token leaves a key and a value behind."),
    Mistake("the queries were counted too", _counted(factor=3),
            "A past query is never used again, so nobody keeps it."),
    Mistake("numbers in place of bytes", _counted(size=lambda bits: 1),
            "The answer is in bytes, and a byte has 8 bits."),
    Mistake("bits in place of bytes", _counted(size=lambda bits: bits), "A byte has 8 bits."),
    Mistake("the layers were forgotten", _counted(layers=False), "Every layer caches keys and values of its own."),
    Mistake("the tokens were forgotten", _counted(tokens=False), "That is the cache of one token."),
    Mistake("the query heads were counted", _counted(heads=lambda h, g: h),
            "Queries that share a head of keys share what is cached.", ("shared heads", "bits")),
    Mistake("query heads and key heads were multiplied", _counted(heads=lambda h, g: h * g),
            "A head of keys is cached once, however many queries read it."),
    Mistake("divided by the size of a group", _counted(heads=lambda h, g: h / g),
            "That is how many query heads share; cached are the heads of keys."),
    Mistake("two bytes for each number", _counted(size=lambda bits: 2),
            "The width of a number is given in bits; packed numbers need no whole bytes."),
    Mistake("the latent was counted twice", _counted(latent=lambda c, plain: 2 * c),
            "One latent serves as source of the keys and of the values.", LATENT),
    Mistake("the latent was not used", _counted(latent=lambda c, plain: plain),
            "With latent attention the heads are rebuilt; the narrow vector is all that is kept.", LATENT),
    Mistake("the latent was added to the heads", _counted(latent=lambda c, plain: plain + c),
            "The latent takes the place of keys and values, it does not come on top.", LATENT),
    Mistake("a latent for each head",
            lambda n_layers, n_heads, n_kv, d, n, bits, c: n_layers * n_kv * c * n * bits / 8,
            "All heads share one latent per token and layer.", LATENT),
)


EXERCISE = Exercise(
    name="cache_bytes",
    usage="cache_bytes(n_layers, n_heads, n_kv_heads, d_head, n_tokens, bits, d_latent)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Bytes for all layers and all n_tokens tokens; d_latent, if it is not None, is what one token leaves "
               "behind in one layer.",
    read=length,
)
