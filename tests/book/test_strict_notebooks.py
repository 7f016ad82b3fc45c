"""The comparison of notebooks itself: a changed number must fail, what differs by machine or release must not."""

import re
import shutil
import subprocess
import sys

import nbformat
import pytest
from environment import ROOT

STRICT = ["-p", "no:cacheprovider", "-q", "--nbval", "--nbval-current-env", "--nbval-cell-timeout=60",
          "--nbval-sanitize-with", "nbval.cfg"]


def stream(text: str, name: str = "stdout"):
    """A stored output of a print."""
    return nbformat.v4.new_output("stream", name=name, text=text)


def shown(kind: str = "execute_result", **data):
    """A stored result or picture; keys with _ for the / of a type."""
    count = {"execution_count": 1} if kind == "execute_result" else {}
    return nbformat.v4.new_output(kind, data={key.replace("_", "/", 1): value for key, value in data.items()}, **count)


PICTURE = """
from IPython.display import display
display({"text/plain": "a figure", "image/png": "bmV3", "image/svg+xml": "<svg id='new'/>", "text/html": "<p>new</p>"},
        raw=True)"""
CELLS = {
    "number that was printed": ("print(0.5)", stream("0.5\n")),
    "result": ("1 + 1", shown(text_plain="2")),
    "warning that is new": ("import warnings; warnings.warn('new'); print('ok')", stream("ok\n")),
    "picture that differs": (PICTURE, shown(
        "display_data", text_plain="a figure", image_png="b2xk", **{"image_svg+xml": "<svg id='old'/>"},
        text_html="<p>old</p>")),
    "address in memory": ("print(object())", stream("<object object at 0x7f0123456789>\n")),
    "package of the book": ("import attnbook; print(attnbook.__version__ != '')", stream("True\n")),
}
CHANGED = {
    "number that was printed": ("print(0.5)", stream("0.6\n")),
    "result": ("1 + 1", shown(text_plain="3")),
    "text beside a warning": ("import warnings; warnings.warn('new'); print('ok')", stream("well\n")),
    "text beside a picture": (PICTURE, shown("display_data", text_plain="another figure", image_png="b2xk")),
    "output that is missing": ("print(0.5)", None),
    "output that is no more": ("x = 0.5", stream("0.5\n")),
    "error": ("1 / 0", None),
}


def strict(folder, *arguments: str) -> subprocess.CompletedProcess:
    """Run pytest there as `make test` runs it over the book's notebooks."""
    shutil.copy(ROOT / "conftest.py", folder)
    shutil.copy(ROOT / "tests" / "nbval.cfg", folder)
    return subprocess.run([sys.executable, "-m", "pytest", *STRICT, *arguments], cwd=folder, capture_output=True,
                          text=True)


def results(folder, cells: dict) -> dict[str, str]:
    """Write the cells as one notebook, run it, and give the outcome of each."""
    made = nbformat.v4.new_notebook()
    for source, output in cells.values():
        cell = nbformat.v4.new_code_cell(source, outputs=[output] if output else [], execution_count=1)
        made.cells.append(cell)
    nbformat.write(made, folder / "cells.ipynb")
    output = strict(folder, "-rA", "--tb=no", "cells.ipynb").stdout
    found = {int(number): word for word, number in re.findall(r"^(PASSED|FAILED) .*?Cell (\d+)", output, re.M)}
    assert len(found) == len(cells), output
    return {name: found[i] for i, name in enumerate(cells)}


def test_what_differs_by_machine_or_release_passes(tmp_path):
    assert results(tmp_path, CELLS) == dict.fromkeys(CELLS, "PASSED")


def test_what_was_changed_fails(tmp_path):
    assert results(tmp_path, CHANGED) == dict.fromkeys(CHANGED, "FAILED")


def test_slow_cell_fails(tmp_path):
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("__import__('time').sleep(30)")])
    nbformat.write(made, tmp_path / "slow.ipynb")
    done = strict(tmp_path, "--nbval-cell-timeout=1", "slow.ipynb")
    assert done.returncode != 0 and "Timeout" in done.stdout


@pytest.mark.parametrize("page", ["prerequisites"])
def test_changed_number_in_a_real_notebook_fails(tmp_path, page):
    made = nbformat.read(ROOT / f"{page}.ipynb", as_version=4)
    output = next(o for cell in made.cells if cell.cell_type == "code" for o in cell.outputs
                  if o.output_type == "stream" and re.search(r"\d", o.text))
    output.text = re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), output.text, count=1)
    nbformat.write(made, tmp_path / "changed.ipynb")
    done = strict(tmp_path, "--tb=no", "changed.ipynb")
    assert done.returncode == 1 and re.search(r"\b1 failed", done.stdout), done.stdout
