"""Random inputs that all checks share, and the tolerance for two ways to compute the same numbers."""

import torch
from jaxtyping import Float
from torch import Tensor

EXACT = 1e-12  # float64
SEEDS = range(5)


def normal(seed: int, *shape: int) -> Float[Tensor, "..."]:
    """Standard normal float64 numbers, the same for the same seed and shape."""
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def unit(x: Float[Tensor, "... d"]) -> Float[Tensor, "... d"]:
    """Each row scaled to length 1."""
    return x / x.norm(dim=-1, keepdim=True)
