"""What a page shows of the models: run there and then as far as that is quick, the rest from the committed file."""

from collections.abc import Callable

from attnbook.pretrained.experiments.packing import rounded
from attnbook.pretrained.files import MINILM, SMOLLM2, installed, saved


def live_or_saved(name: str, measure: Callable[[], dict]) -> dict:
    """saved(name), and over it what measure() returns, where the models of that file are installed.

    measure: gives a part of the same measurement, such as some of its entries or the first rows of its lists. It is
    rounded as the file is, so that a page prints the same with the models and without. Raises ValueError for a part
    that the file does not have.
    """
    file = saved(name)
    needed = {model["name"] for model in file["model"]}
    if not all(installed(model) for model in (MINILM, SMOLLM2) if model.name in needed):
        return file
    return _laid_over(file, rounded(measure()), name)


def _laid_over(file, part, where):
    """The file with a part of it replaced: entries of dicts by name, rows of lists from the first on."""
    if isinstance(part, dict) and isinstance(file, dict):
        if unknown := set(part) - set(file):
            raise ValueError(f"{where} has no {', '.join(sorted(unknown))}; expected some of {', '.join(file)}")
        return {**file, **{key: _laid_over(file[key], new, f"{where}[{key!r}]") for key, new in part.items()}}
    if isinstance(part, list) and isinstance(file, list):
        if len(part) > len(file):
            raise ValueError(f"{where} has {len(file)} rows; expected at most as many, not {len(part)}")
        rows = [_laid_over(old, new, f"{where}[{i}]") for i, (old, new) in enumerate(zip(file, part, strict=False))]
        return rows + file[len(part):]
    if isinstance(part, (dict, list)) or isinstance(file, (dict, list)):
        raise ValueError(f"{where} is {type(file).__name__}; expected the same, not {type(part).__name__}")
    return part
