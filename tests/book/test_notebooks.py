"""The notebooks as they are stored: portable, executed in order, and with numbers that nbval compares."""

import ast
import importlib
import json
import re

import pytest
from book_files import NOTEBOOKS, code_cells, notebook
from environment import ROOT

LEAST_COMPARED = 0.6  # share of code cells whose output has text
EXEMPT = {"nbval-skip", "nbval-ignore-output"}
OF_A_MACHINE = re.compile(r"(/home/|/root/|/Users/|/tmp/|/work/|/var/|site-packages|[A-Z]:\\\\)")


def compared_text(cell) -> str:
    """What nbval compares of a cell: printed text and the text form of results."""
    if EXEMPT & set(cell.metadata.get("tags", [])):
        return ""
    streams = [o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stdout"]
    return "".join([*streams, *(o.data.get("text/plain", "") for o in cell.outputs if "data" in o)])


def test_book_has_notebooks():
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_kernel_exists_on_every_machine(page):
    assert notebook(page).metadata.kernelspec.name == "python3"
    assert "widgets" not in notebook(page).metadata


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_cells_were_executed_in_order(page):
    counts = [cell.execution_count for cell in code_cells(page)]
    assert counts == list(range(1, len(counts) + 1))


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_cells_have_names_of_their_own(page):
    names = [cell.id for cell in notebook(page).cells]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_nothing_stored_belongs_to_one_machine(page):
    for cell in code_cells(page):
        for output in cell.outputs:
            text = json.dumps({k: v for k, v in output.get("data", output).items() if k != "image/png"})
            assert not OF_A_MACHINE.search(text), f"cell {cell.id}: {OF_A_MACHINE.search(text)[0]}"
            assert "\x1b" not in text and "\\u001b" not in text, f"cell {cell.id} stores terminal colours"
            assert output.output_type != "error", f"cell {cell.id} stores an error"
            assert output.get("name") != "stderr", f"cell {cell.id} stores a warning"


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_most_cells_have_text_that_is_compared(page):
    cells = code_cells(page)
    compared = [cell for cell in cells if compared_text(cell).strip()]
    # a page of a few cells may need half of them to load and to bind numbers
    least = LEAST_COMPARED * len(cells) if len(cells) > 5 else 1
    assert len(compared) >= least, f"{len(compared)} of {len(cells)}: " + ", ".join(
        cell.id for cell in cells if cell not in compared)


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_views_of_widgets_are_stored_as_pictures(page):
    for cell in code_cells(page):
        for output in cell.outputs:
            assert "application/vnd.jupyter.widget-view+json" not in output.get("data", {}), cell.id


def imported_names(tree: ast.AST):
    """(module, name or None) of all imports from attnbook."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "attnbook":
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names if alias.name.split(".")[0] == "attnbook")


def exists(module: str, name: str | None) -> bool:
    """Whether the package has the module, and the module the name or such a submodule."""
    found = importlib.import_module(module)
    if name is None or hasattr(found, name):
        return True
    return importlib.util.find_spec(f"{module}.{name}") is not None


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_names_that_a_notebook_imports_exist(page):
    tree = ast.parse("\n".join(cell.source for cell in code_cells(page)))
    for module, name in imported_names(tree):
        assert exists(module, name), f"{page}: {module} has no {name}"


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_attributes_of_imported_modules_exist(page):
    """`from attnbook.exercises import routing` and then `routing.check_x`: check_x must exist."""
    tree = ast.parse("\n".join(cell.source for cell in code_cells(page)))
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "attnbook":
            for alias in node.names:
                value = getattr(importlib.import_module(node.module), alias.name, None)
                if type(value).__name__ == "module":
                    modules[alias.asname or alias.name] = value
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            assert hasattr(modules[node.value.id], node.attr), f"{page}: {node.value.id}.{node.attr}"


def test_markdown_pages_need_no_kernel():
    for path in [*ROOT.glob("*.md"), *(ROOT / "chapters").glob("*.md")]:
        assert "{code-cell}" not in path.read_text(encoding="utf-8"), path.name
