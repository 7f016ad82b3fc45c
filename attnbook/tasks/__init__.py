"""Small tasks that a model learns in seconds: their data, their models, their measurements."""

from importlib import import_module

_MODULES = (
    "characters", "copying", "coreference", "far", "heads", "left_neighbour", "lookup", "moons",
    "noisy_lookup", "pointing", "previous", "recall", "repeats", "side_by_side", "spelling",
)

__all__ = list(_MODULES)


def __getattr__(name):
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_MODULES])
