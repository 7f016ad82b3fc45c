"""Each notebook alone, executed as the book's build executes it; values that the ledger has measured are there already."""

import pathlib
import sys
import time

import nbformat
from jupyter_cache.executors.utils import single_nb_execution

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import editions  # noqa: E402
import run_tests  # noqa: E402

BUDGET = 20  # seconds
EXCEPTIONS = {
    "01_routing.ipynb": 30,  # trains 24 recurrences, 8 models of coreference and 2 spellers; reads two real models
    "07_thought_experiments.ipynb": 30,  # starts four new interpreters for the ring; reads a real model
}


def run() -> bool:
    """Print a line for each notebook; True if all ran and are within the budget."""
    return all([_one(pathlib.Path(path)) for path in run_tests.notebooks()])


def _one(path):
    notebook, started = nbformat.read(path, as_version=4), time.perf_counter()
    result = single_nb_execution(
        notebook, cwd=str(path.parent), timeout=editions.timeout(), allow_errors=False, store_widget_state=False,
        extra_arguments=["--log-level=ERROR"])
    seconds, budget = time.perf_counter() - started, EXCEPTIONS.get(path.name, BUDGET)
    print(f"{path.name}: {seconds:.1f} s of {budget}" if result.err is None else f"{path.name}: {result.exc_string}")
    return result.err is None and seconds <= budget
