"""Docstrings for the API page: the package writes plain text, Sphinx reads reStructuredText.

`name: text` lines become a parameter list, an indented block stays as it stands, and
signs that reStructuredText would take as markup are escaped.
"""

import re

PARAMETER = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*): +(\S.*)$")
CODE = re.compile(r"(``.+?``|`[^`]+`)")


def escape(line: str) -> str:
    """Backslashes before *, | and a closing underscore; single backticks become code."""
    parts = CODE.split(line)
    for i, part in enumerate(parts):
        if i % 2:
            parts[i] = part if part.startswith("``") else f"`{part}`"
        else:
            parts[i] = re.sub(r"([*|\\`]|(?<=\w)_(?!\w))", r"\\\1", part)
    return "".join(parts)


def blocks(lines: list[str]) -> list[list[str]]:
    """Runs of lines between empty lines."""
    found, run = [], []
    for line in [*lines, ""]:
        if line.strip():
            run.append(line.rstrip())
        elif run:
            found.append(run)
            run = []
    return found


def is_parameters(block: list[str]) -> bool:
    """Whether the block is a list of `name: text` lines with indented continuations."""
    return bool(PARAMETER.match(block[0])) and all(PARAMETER.match(x) or x.startswith("  ") for x in block)


def rewrite(block: list[str]) -> list[str]:
    """One block as reStructuredText."""
    if is_parameters(block):
        fields = []
        for line in block:
            match = PARAMETER.match(line)
            fields.append(f":{escape(match[1])}: {escape(match[2])}" if match else f"    {escape(line.strip())}")
        return fields
    if any(line.startswith(("  ", "- ", ">>> ")) for line in block):
        return ["::", "", *(f"    {line}" for line in block)]
    return [escape(line) for line in block]


def process(app, what, name, obj, options, lines):
    """Rewrite a docstring in place, as autodoc wants it."""
    lines[:] = [line for block in blocks(lines) for line in [*rewrite(block), ""]]


def setup(app):
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", process)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
