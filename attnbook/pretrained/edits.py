"""Changes of attention weights while a model runs: model(text, edit=silence([(3, 1)])).

An edit is a function of a layer's number, from 0, and its weights (..., H, T, T); it returns weights.
"""

from collections.abc import Callable, Iterable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

Edit = Callable[[int, Float[Tensor, "... H T T"]], Float[Tensor, "... H T T"]]


def silence(heads: Iterable[tuple[int, int]]) -> Edit:
    """Heads (layer, head), both from 0, write nothing: their weights are 0."""
    heads = list(heads)

    def edit(layer, weights):
        chosen = [head for at, head in heads if at == layer]
        if not chosen:
            return weights
        kept = torch.ones(weights.shape[-3], 1, 1)
        kept[chosen] = 0
        return weights * kept

    return edit


def only(mask: Bool[Tensor, "T T"], first_layer: int = 0) -> Edit:
    """Keys outside the mask (True = may attend) get nothing, from first_layer on; each row is divided by its new sum."""
    def edit(layer, weights):
        if layer < first_layer:
            return weights
        kept = weights * mask
        return kept / kept.sum(-1, keepdim=True).clamp(min=torch.finfo(kept.dtype).tiny)

    return edit
