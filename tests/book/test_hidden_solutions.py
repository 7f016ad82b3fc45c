"""`hide_solutions: true` builds, and leaves no solution in pages, search index or downloads."""

import json
import subprocess
import sys

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
    ("markdown", "# Page\n\n```{exercise} Name\n:label: ex\nQUESTION\n```\n\n```{solution} ex\n:class: dropdown\nSECRETONE\n```"),
    ("markdown", "```{exercise}\n:label: ex2\nOther.\n```"),
    ("markdown", "````{solution-start} ex2\n:class: dropdown\n````"),
    ("code", "print('SECRETTWO')"),
    ("markdown", "SECRETTHREE\n\n````{solution-end}\n````"),
    ("code", "print('KEPT')"),
]


def test_no_solution_is_left_anywhere(tmp_path):
    extra = {"code": {"outputs": [], "execution_count": None}, "markdown": {}}
    cells = [{"cell_type": kind, "id": f"c{i}", "metadata": {}, "source": source, **extra[kind]} for i, (kind, source) in enumerate(CELLS)]
    notebook = {"cells": cells, "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
                "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "conf.py").write_text(CONFIG)
    (tmp_path / "index.ipynb").write_text(json.dumps(notebook))
    out = tmp_path / "out"
    run = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", str(tmp_path), str(out)],
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    texts = {path.relative_to(out).as_posix(): path.read_text("utf-8", errors="ignore")
             for path in out.rglob("*") if path.is_file() and "_static" not in path.parts}
    assert not [name for name, text in texts.items() if "secret" in text.lower()]
    assert "QUESTION" in texts["index.html"] and "KEPT" in texts["index.html"]
    assert "KEPT" in next(text for name, text in texts.items() if name.startswith("_sources/index.ipynb"))
