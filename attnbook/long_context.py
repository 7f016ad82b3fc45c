"""Frequencies of RoPE for contexts longer than those of training; each is passed to rope as frequencies= (chapter 6).

A model trained on positions up to T has seen only part of the angles that slow pairs of features can take. Three ways
to bring positions up to factor * T back among the angles it knows:

    interpolated   all pairs turn `factor` times more slowly: position 100 becomes what position 25 was, for factor 4
    ntk            a larger base: the slowest pair slows down by the whole factor, the fastest not at all
    yarn           pair by pair: those that turned often in training are left alone, the slow ones are interpolated
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from attnbook import _checks
from attnbook.rotary import rope_frequencies


def interpolated(width: int, factor: float, base: float = 10000.0) -> Float[Tensor, "pairs"]:
    """All frequencies divided by the factor by which the context grows.

    Raises ValueError for an odd width, or a factor or base that is not positive.
    Source: Chen et al. 2023.
    """
    _checks.positive("factor", factor)
    return rope_frequencies(width, base) / factor


def ntk(width: int, factor: float, base: float = 10000.0) -> Float[Tensor, "pairs"]:
    """Frequencies of the base times factor^(width / (width - 2)): the fastest stays, the slowest is divided by factor.

    Raises ValueError for a width that is odd or below 4, or a factor or base that is not positive.
    Source: "NTK-aware" scaling, as in Peng et al. 2023, section 3.1.
    """
    _checks.positive("factor", factor)
    _checks.whole_number("width", width, minimum=4)
    return rope_frequencies(width, base * factor ** (width / (width - 2)))


def yarn(
    width: int, factor: float, base: float = 10000.0, *, trained: int, few: float = 1.0, many: float = 32.0
) -> Float[Tensor, "pairs"]:
    """Each pair by the number of turns it made in training: at least `many`, left alone; at most `few`, interpolated.

    Between the two the frequencies are mixed linearly in the number of turns. trained: longest context of training.
    The method also sharpens the scores: see yarn_score_factor.

    Raises ValueError for an odd width, or numbers out of range.
    Source: Peng et al. 2023, section 3.2 ("NTK-by-parts").
    """
    _checks.positive("factor", factor)
    _checks.whole_number("trained", trained, minimum=1)
    if not 0 <= few < many:
        raise ValueError(f"few is {few!r} and many is {many!r}; expected 0 <= few < many")
    own = rope_frequencies(width, base)
    kept = ((trained * own / (2 * math.pi) - few) / (many - few)).clamp(0, 1)
    return own * (kept + (1 - kept) / factor)


def yarn_score_factor(factor: float) -> float:
    """What YaRN multiplies the scores by: (0.1 ln(factor) + 1)^2, and 1 for a factor of at most 1.

    Source: Peng et al. 2023, section 3.4.
    """
    _checks.positive("factor", factor)
    return (0.1 * math.log(max(factor, 1.0)) + 1) ** 2
