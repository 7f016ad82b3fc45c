"""What a reader's function returned, read as numbers. Anything array-like is welcome; the rest gets a sentence."""

import numpy as np
import torch
from torch import Tensor

TOLERANCE = 1e-4  # float32 on numbers near 1 errs by about 1e-6; the named mistakes differ by 1e-2 and more


class Unreadable(Exception):
    """The value cannot be read as numbers; the message says why, to follow "The function returned"."""


def numbers(value) -> Tensor:
    """A detached float64 copy of a tensor, array, number or nested list; Unreadable for anything else."""
    if value is None:
        raise Unreadable("nothing (None): it is not written yet, or its return is missing")
    try:
        return _numbers(value)
    except (KeyboardInterrupt, Unreadable):
        raise
    except BaseException:  # a hostile object, a list that contains itself, an integer beyond float64
        raise Unreadable(f"a {type(value).__name__} that cannot be read as numbers") from None


def _numbers(value):
    if isinstance(value, (str, bytes)):
        raise Unreadable("text in place of numbers")
    if isinstance(value, (list, tuple)):
        rows = [numbers(item) for item in value]
        if len({row.shape for row in rows}) > 1:
            shapes = " and ".join(str(tuple(row.shape)) for row in rows[:2])
            raise Unreadable(f"a {type(value).__name__} of {len(rows)} parts of unequal shapes, the first two {shapes};"
                             " expected one array")
        return torch.stack(rows) if rows else torch.zeros(0, dtype=torch.float64)
    if isinstance(value, Tensor):
        if value.is_complex():
            raise Unreadable("complex numbers; expected real ones")
        return value.detach().to_dense().to("cpu", torch.float64, copy=True)
    if isinstance(value, (bool, int, float)):
        return torch.tensor(float(value), dtype=torch.float64)
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise Unreadable(f"a {type(value).__name__} that cannot be read as real numbers")
    return torch.tensor(array.astype(np.float64))


def truths(value) -> Tensor:
    """Like numbers, for answers of True and False: booleans, or numbers that are all 0 or 1."""
    read = numbers(value)
    if read.numel() and not ((read == 0) | (read == 1)).all():
        raise Unreadable("numbers other than 0 and 1; expected one True or False for each word, not word numbers")
    return read


def length(value) -> Tensor:
    """Like numbers, for one number; None is read as infinity ("cannot be reached")."""
    read = torch.tensor(torch.inf, dtype=torch.float64) if value is None else numbers(value)
    if read.numel() != 1:
        raise Unreadable(f"{read.numel()} numbers, shape {tuple(read.shape)}; expected one number or None")
    return read.reshape(())


def fit(got: Tensor, want: Tensor) -> Tensor:
    """got without the leading axes of size 1 that it has more than want: an extra batch axis is no mistake."""
    while got.dim() > want.dim() and got.shape[0] == 1:
        got = got[0]
    return got


def close(got: Tensor, want: Tensor, tolerance: float = TOLERANCE) -> bool:
    """Same shape and same numbers, to tolerance (|want| + 1/5); NaN agrees with NaN, which only a wrong answer has."""
    return got.shape == want.shape and torch.allclose(got, want, rtol=tolerance, atol=tolerance / 5, equal_nan=True)


def precision(value) -> str:
    """The number format if it is too coarse to be compared ("float16", "int64"), else an empty string."""
    if not isinstance(value, (Tensor, np.ndarray, np.generic)):
        return ""
    dtype = str(value.dtype).removeprefix("torch.")
    return "" if dtype in ("float32", "float64") else dtype
