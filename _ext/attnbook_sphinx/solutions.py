"""`hide_solutions: true` builds an edition without solutions: not in pages, search index or downloads.

sphinx-exercise's own switch stops the build at solutions in the gated form, so the solutions are taken out of
the sources as they are read, and out of the copies that readers download.
"""

import json
import re
from pathlib import Path

FENCE = re.compile(r"^\s*(?P<fence>`{3,}|:{3,})\{(?P<name>solution|solution-start|solution-end)\}")


def without_solutions(lines: list[str], inside: bool = False) -> tuple[list[str], bool]:
    """Lines without solutions, and whether a gated solution is still open at the end.

    inside: whether a gated solution is open before the first line.
    """
    kept, close = [], None
    for line in lines:
        if close is not None:
            if line.strip() == close:
                close = None
        elif found := FENCE.match(line):
            close = found["fence"]
            inside = found["name"] == "solution-start" or (inside and found["name"] != "solution-end")
        elif not inside:
            kept.append(line)
    return kept, inside


def strip_text(text: str) -> str:
    """The text of a page without its solutions."""
    return "".join(without_solutions(text.splitlines(keepends=True))[0])


def strip_notebook(text: str) -> str:
    """The notebook's JSON without solution cells; a Markdown cell that keeps other text keeps that text."""
    notebook, inside = json.loads(text), False
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "markdown":
            cells += [] if inside else [cell]
            continue
        lines, inside = without_solutions("".join(cell["source"]).splitlines(keepends=True), inside)
        if "".join(lines).strip():
            cells.append({**cell, "source": lines})
    return json.dumps({**notebook, "cells": cells}, ensure_ascii=False, indent=1)


def _strip(app, docname: str, text: str) -> str:
    return strip_notebook(text) if app.env.doc2path(docname).endswith(".ipynb") else strip_text(text)


def _on_read(app, docname, source):
    source[0] = _strip(app, docname, source[0])


def _on_finish(app, exception):
    """Strip the copies of the sources beside the pages."""
    for file in Path(app.outdir, "_sources").rglob("*"):
        if {".ipynb", ".md"} & set(file.suffixes):
            text = file.read_text("utf-8")
            file.write_text(strip_notebook(text) if ".ipynb" in file.suffixes else strip_text(text), "utf-8")


def take_over(app, config):
    """Answer hide_solutions ourselves, and keep it from sphinx-exercise."""
    if config.hide_solutions:
        config.hide_solutions = False
        app.connect("source-read", _on_read)
        app.connect("build-finished", _on_finish)


def setup(app):
    app.connect("config-inited", take_over, priority=100)
