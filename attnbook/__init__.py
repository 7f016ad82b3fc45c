"""The Atom of Intelligence: attention, taken apart and measured.

The package mirrors the chapters of the book. Import names from their modules,
`from attnbook.attention import attention`; the top level offers the modules only,
and loads each on first use, so that `import attnbook` needs neither torch nor matplotlib.
"""

from importlib import import_module

__version__ = "0.1.0"

_MODULES = (
    "attention", "caches", "claims", "costs", "depth", "diagnosis", "distributed", "efficient", "exercises",
    "figures", "launch", "linear", "long_context", "meter", "positions", "pretrained", "projections",
    "recurrent", "residual", "ring_report", "rotary", "saturation", "scaling", "softmax", "sparse", "stacks",
    "stream", "tasks", "tiled", "training", "transformer", "widgets",
)

__all__ = list(_MODULES)


def __getattr__(name):
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_MODULES])
