"""`hide_solutions: true` builds, and leaves no solution in pages, search index or downloads."""

import subprocess
import sys

import nbformat

from environment import ROOT

CONFIG = f"""
import sys
sys.path.insert(0, {str(ROOT / '_ext')!r})
extensions = ["myst_nb", "sphinx_exercise", "attnbook_sphinx"]
html_theme = "basic"
nb_execution_mode = "off"
hide_solutions = True
"""
CELLS = [
    ("markdown", "# Page\n\n```{exercise} Name\n:label: ex\nQUESTION\n```"),
    ("markdown", "```{solution} ex\n:class: dropdown\nSECRETONE\n```"),
    ("markdown", "```{exercise}\n:label: ex2\nOther.\n```"),
    ("markdown", "````{solution-start} ex2\n:class: dropdown\n````"),
    ("code", "print('SECRETTWO')"),
    ("markdown", "SECRETTHREE\n\n````{solution-end}\n````"),
    ("code", "print('KEPT')"),
]


def test_no_solution_is_left_anywhere(tmp_path):
    make = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [make[kind](text) for kind, text in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    (tmp_path / "conf.py").write_text(CONFIG)
    nbformat.write(notebook, tmp_path / "index.ipynb")
    out = tmp_path / "out"
    run = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", str(tmp_path), str(out)],
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    texts = {path.relative_to(out).as_posix(): path.read_text("utf-8", errors="ignore")
             for path in out.rglob("*") if path.is_file() and "_static" not in path.parts}
    assert not [name for name, text in texts.items() if "secret" in text.lower()]
    assert "QUESTION" in texts["index.html"] and "KEPT" in texts["index.html"]
    assert "KEPT" in next(text for name, text in texts.items() if name.startswith("_sources/index.ipynb"))
