"""Attention maps as text: each weight one byte, round(255 w), in base64. Rows are divided by their sum when read."""

import base64
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor


def pack(weights: Float[Tensor, "..."]) -> str:
    """Weights between 0 and 1 as text, row after row; the error of a weight is at most 1/510."""
    return base64.b64encode((weights * 255).round().to(torch.uint8).contiguous().numpy().tobytes()).decode("ascii")


def unpack(text: str, shape: Sequence[int]) -> Float[Tensor, "..."]:
    """The weights again, in that shape, each row divided by its sum."""
    weights = torch.tensor(list(base64.b64decode(text)), dtype=torch.float32).reshape(tuple(shape))
    return weights / weights.sum(-1, keepdim=True)


def rounded(x, digits: int = 4):
    """Tensors as lists, numbers rounded, through dicts and lists."""
    if isinstance(x, Tensor):
        return rounded(x.tolist(), digits)
    if isinstance(x, dict):
        return {key: rounded(value, digits) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [rounded(value, digits) for value in x]
    return round(x, digits) if isinstance(x, float) else x
