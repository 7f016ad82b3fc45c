"""Checks of arguments, shared by all parts: each error names the argument, what came and what was expected."""

import torch
from torch import Tensor


def describe(x) -> str:
    """Say in a few words what a value is, for an error message."""
    if isinstance(x, Tensor):
        return f"a {str(x.dtype).removeprefix('torch.')} tensor of shape {tuple(x.shape)}"
    return f"{type(x).__name__} {x!r}" if isinstance(x, (int, float, str, bool, type(None))) else type(x).__name__


def float_tensor(name: str, x, min_dim: int = 0) -> None:
    """Raise unless x is a floating-point tensor with at least min_dim axes."""
    if not isinstance(x, Tensor):
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
    numbers = isinstance(positions, Tensor) and positions.dtype != torch.bool and not positions.is_complex()
    if not numbers or (whole and positions.is_floating_point()):
        kind = "whole numbers" if whole else "numbers"
        raise TypeError(f"{name} is {describe(positions)}; expected a tensor of {kind}")
    rows = tuple(x.shape[:-1])
    same_axes = positions.dim() == len(rows) and all(p in (1, n) for p, n in zip(positions.shape, rows, strict=True))
    fits = positions.shape == rows[-1:] or (same_axes and positions.shape[-1] == rows[-1])
    shape(name, positions, f"{rows[-1:]}, or {len(rows)} axes that broadcast to {rows}, the rows of x", fits)


def qkv(q, k, v) -> None:
    """Three float tensors of one dtype whose shapes fit: q (..., L, d_k), k (..., S, d_k), v (..., S, d_v)."""
    for name, x in (("q", q), ("k", k), ("v", v)):
        float_tensor(name, x, min_dim=2)
    same_dtype(q=q, k=k, v=v)
    shape("k", k, f"(..., S, {q.shape[-1]}), the width of q", k.shape[-1] == q.shape[-1])
    shape("v", v, f"(..., {k.shape[-2]}, d_v), one row per key", v.shape[-2] == k.shape[-2])
    try:
        torch.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    except RuntimeError:
        raise ValueError(
            f"batch axes of q {tuple(q.shape[:-2])}, k {tuple(k.shape[:-2])} and v {tuple(v.shape[:-2])} do not match; "
            "expected axes that broadcast"
        ) from None


def fits(name: str, x, scores) -> Tensor:
    """The mask or bias, checked: it must broadcast to the scores without ambiguity and without enlarging them."""
    target = tuple(scores.shape)
    if not isinstance(x, Tensor) or not (x.dtype == torch.bool or x.is_floating_point()):
        raise TypeError(f"{name} is {describe(x)}; expected a boolean or floating-point tensor")
    if name == "bias" and x.dtype == torch.bool:
        raise TypeError("bias is boolean; expected numbers to add (pass it as mask to hide keys)")
    fitted = x
    while fitted.dim() > len(target) and fitted.shape[-3] == 1:  # a padding mask for heads, on scores without heads
        fitted = fitted.squeeze(-3)
    if 2 < fitted.dim() < len(target):
        raise ValueError(
            f"{name} has shape {tuple(x.shape)}; expected 2 axes (L, S), or {len(target)} like the scores {target}: "
            "with another number of axes it is unclear which are batch and which are heads"
        )
    try:
        same = tuple(torch.broadcast_shapes(fitted.shape, target)) == target
    except RuntimeError:
        same = False
    shape(name, x, f"something that broadcasts to {target}", same)
    return fitted
