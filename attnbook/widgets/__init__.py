"""The book's interactive pictures: each runs in the page with no kernel, and in Jupyter.

Each class is loaded on first use; none needs torch or matplotlib.
"""

from importlib import import_module

_HOMES = {
    "CacheLab": "cache",
    "CoreferenceExplorer": "coreference",
    "CostLab": "cost",
    "DictionaryLab": "dictionary",
    "FormulaLab": "formula",
    "Lab": "_lab",
    "PatternLab": "pattern",
    "Quiz": "quiz",
    "RelayLab": "relay",
    "RopeLab": "rope",
    "ScaleLab": "scale",
    "SoftmaxLab": "softmax",
    "StreamLab": "stream",
    "WaveLab": "waves",
}

__all__ = sorted(_HOMES)


def __getattr__(name):
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_HOMES])
