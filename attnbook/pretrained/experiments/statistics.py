"""Many heads are tried at once, so the best of them is lucky too: a test that counts all of them."""

import torch
from jaxtyping import Float
from torch import Tensor

FLOOR = 1e-4  # added to the standard error: a head that never moves gets 0, not NaN


def t_values(d: Float[Tensor, "... pairs heads"]) -> Float[Tensor, "... heads"]:
    """Mean over the pairs divided by its standard error, for each head."""
    n = d.shape[-2]
    return d.mean(-2) / (d.std(-2) / n ** 0.5 + FLOOR)


def family_p(d: Float[Tensor, "pairs heads"], draws: int = 4000, seed: int = 0) -> Float[Tensor, "heads"]:
    """Chance that the best of all heads does at least as well as each head here if no head knew the direction.

    d: a number for each pair and head whose sign says right or wrong. Whole pairs change their sign at random, so that
    what the heads have in common stays; the largest |t| of all heads is kept, draw by draw.
    Source: Westfall and Young 1993 (step one of the max-T method).
    """
    generator = torch.Generator().manual_seed(seed)
    signs = torch.randint(2, (draws, d.shape[0], 1), generator=generator).to(d) * 2 - 1
    largest = torch.cat([t_values(chunk * d).abs().amax(-1) for chunk in signs.split(500)])
    return (largest[:, None] >= t_values(d)).double().mean(0)


def right_way(weights: Float[Tensor, "pairs 4 heads"]) -> Float[Tensor, "pairs heads"]:
    """How far the weight moves from noun B to noun A when word B becomes word A; above 0 is the right way.

    weights: columns A and B with word A, then A and B with word B.
    """
    with_a, with_b = weights[:, 0] - weights[:, 1], weights[:, 2] - weights[:, 3]
    return with_a - with_b
