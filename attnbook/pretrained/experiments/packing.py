"""Attention maps as text: each weight one byte, in base64. The bytes of a row sum to 255, so its last one is left out."""

import base64
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor


def pack(weights: Float[Tensor, "... S"]) -> str:
    """Rows of weights that sum to 1 as text, S - 1 bytes a row; the error of a weight is less than 1/255.

    Each weight is rounded down to a multiple of 1/255; what a row then lacks goes to those that lost most.
    """
    exact = weights * 255
    low = exact.floor()
    lost = (exact - low).argsort(dim=-1, descending=True, stable=True).argsort(-1)  # 0 for the one that lost most
    whole = low + (lost < 255 - low.sum(-1, keepdim=True))
    return base64.b64encode(whole[..., :-1].to(torch.uint8).contiguous().numpy().tobytes()).decode("ascii")


def unpack(text: str, shape: Sequence[int]) -> Float[Tensor, "... S"]:
    """The weights again, in that shape; rows sum to 1."""
    *rows, n = shape
    stored = torch.tensor(list(base64.b64decode(text)), dtype=torch.float32).reshape(*rows, n - 1)
    return torch.cat([stored, 255 - stored.sum(-1, keepdim=True)], -1) / 255


def rounded(x, digits: int = 4):
    """Tensors as lists, numbers rounded, through dicts and lists."""
    if isinstance(x, Tensor):
        return rounded(x.tolist(), digits)
    if isinstance(x, dict):
        return {key: rounded(value, digits) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [rounded(value, digits) for value in x]
    return round(x, digits) if isinstance(x, float) else x
