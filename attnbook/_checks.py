"""Checks of arguments, shared by all parts: each error names the argument, what came and what was expected."""

import torch


def describe(x) -> str:
    """Say in a few words what a value is, for an error message."""
    if isinstance(x, torch.Tensor):
        return f"a {str(x.dtype).removeprefix('torch.')} tensor of shape {tuple(x.shape)}"
    return f"{type(x).__name__} {x!r}" if isinstance(x, (int, float, str, bool, type(None))) else type(x).__name__


def float_tensor(name: str, x, min_dim: int = 0) -> None:
    """Raise unless x is a floating-point tensor with at least min_dim axes."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{name} is {describe(x)}; expected a torch tensor")
    if not x.is_floating_point():
        raise TypeError(f"{name} is {describe(x)}; expected a floating-point tensor, for example {name}.float()")
    if x.dim() < min_dim:
        raise ValueError(f"{name} has shape {tuple(x.shape)}; expected at least {min_dim} axes")


def same_dtype(**tensors) -> None:
    """Raise unless all named tensors have one dtype."""
    dtypes = {name: str(t.dtype).removeprefix("torch.") for name, t in tensors.items()}
    if len(set(dtypes.values())) > 1:
        came = ", ".join(f"{name} {dtype}" for name, dtype in dtypes.items())
        raise TypeError(f"mixed dtypes: {came}; expected one dtype for all")


def shape(name: str, x, expected: str, ok: bool) -> None:
    """Raise with the shape that came and the one expected unless ok."""
    if not ok:
        raise ValueError(f"{name} has shape {tuple(x.shape)}; expected {expected}")


def whole_number(name: str, x, minimum: int = 0) -> None:
    """Raise unless x is an int of at least minimum."""
    if isinstance(x, bool) or not isinstance(x, int):
        raise TypeError(f"{name} is {describe(x)}; expected a whole number")
    if x < minimum:
        raise ValueError(f"{name} is {x}; expected at least {minimum}")


def positive(name: str, x) -> None:
    """Raise unless x is a finite number above 0."""
    if isinstance(x, bool) or not isinstance(x, (int, float)):
        raise TypeError(f"{name} is {describe(x)}; expected a number")
    if not 0 < x < float("inf"):
        raise ValueError(f"{name} is {x!r}; expected a positive number")


def positions(name: str, positions, x, whole: bool = False) -> None:
    """Raise unless positions give each row of x (..., L, d) a number: (L,), or all its axes but the last."""
    numbers = isinstance(positions, torch.Tensor) and positions.dtype != torch.bool and not positions.is_complex()
    if not numbers or (whole and positions.is_floating_point()):
        kind = "whole numbers" if whole else "numbers"
        raise TypeError(f"{name} is {describe(positions)}; expected a tensor of {kind}")
    rows = tuple(x.shape[:-1])
    same_axes = positions.dim() == len(rows) and all(p in (1, n) for p, n in zip(positions.shape, rows, strict=True))
    fits = positions.shape == rows[-1:] or (same_axes and positions.shape[-1] == rows[-1])
    shape(name, positions, f"{rows[-1:]}, or {len(rows)} axes that broadcast to {rows}, the rows of x", fits)
