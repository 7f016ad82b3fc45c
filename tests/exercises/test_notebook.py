"""The exercises as they stand in the chapters: starters do not pass, solutions do."""

import json
import math
import re
from importlib import import_module
from pathlib import Path

import pytest
import torch
from solutions_routing import STARTERS

CHAPTERS = {
    "01_routing.ipynb": "attnbook.exercises.routing", "02_qkv.ipynb": "attnbook.exercises.qkv",
    "03_scaling.ipynb": "attnbook.exercises.scaling", "04_softmax.ipynb": "attnbook.exercises.softmax",
    "05_residual.ipynb": "attnbook.exercises.residual",
    "06_positions.ipynb": "attnbook.exercises.positions",
    "07_thought_experiments.ipynb": "attnbook.exercises.thoughts",
    "08_summary.ipynb": "attnbook.exercises.summary",
}
DRAWS = 30
FOLDER = Path(__file__).parents[2] / "chapters"


def cells(notebook, tag):
    """Sources of the code cells with that tag."""
    read = json.loads((FOLDER / notebook).read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in read["cells"]
            if cell["cell_type"] == "code" and tag in cell["metadata"].get("tags", [])]


def functions(notebook, tag):
    """The functions defined by the cells of one tag, each cell on its own, as one reader would run it."""
    found = {}
    for source in cells(notebook, tag):
        space = {"math": math, "nn": torch.nn, "torch": torch, **checks(notebook)}
        exec(source, space)
        found |= {name: space[name] for name in re.findall(r"^def (\w+)", source, re.M)}
    return found


def checks(notebook):
    module = import_module(CHAPTERS[notebook])
    return {name: getattr(module, name) for name in module.__all__}


@pytest.mark.parametrize("notebook", CHAPTERS)
def test_each_check_has_a_starter_that_does_not_pass(said, notebook):
    """Whatever is drawn, the message is the same, since it is stored in the notebook."""
    found = functions(notebook, "exercise")
    for name, check in checks(notebook).items():
        messages = {said(check, found[name.removeprefix("check_")]) for _ in range(DRAWS)}
        assert len(messages) == 1, messages
        assert "passed" not in messages.pop()


@pytest.mark.parametrize("notebook", CHAPTERS)
def test_each_solution_passes(said, notebook):
    found = functions(notebook, "solution")
    for name, check in checks(notebook).items():
        for _ in range(5):
            assert "passed" in said(check, found[name.removeprefix("check_")])


def test_the_bugs_in_the_notebook_are_those_of_the_tests(said):
    found = functions("01_routing.ipynb", "exercise")
    for name, check in checks("01_routing.ipynb").items():
        function = name.removeprefix("check_")
        space = {"torch": torch}
        exec(STARTERS[function], space)
        assert said(check, found[function]) == said(check, space[function])
