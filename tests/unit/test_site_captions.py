"""Cells of tables inside boxes reach gettext: MyST gives them no place, and Sphinx skips what has none."""

import pathlib
import sys

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from myst_parser.parsers.docutils_ import Parser
from sphinx.transforms.i18n import Locale, PreserveTranslatableMessages
from sphinx.util.nodes import extract_messages

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "_ext"))

from attnbook_sphinx.captions import LocateCells  # noqa: E402

BOX = """Before.

```{note}
| vector | role |
|---|---|
| query | asks |
```
"""
PLAIN = """| vector | role |
|---|---|
| query | asks |
"""
CELLS = ["vector", "role", "query", "asks"]


def document(text):
    return publish_doctree(text, source_path="page.md", parser=Parser())


def located(text):
    page = document(text)
    LocateCells(page).apply()
    return page


def cells(page):
    return [cell for table in page.findall(nodes.table) for cell in table.findall(nodes.paragraph)]


def messages(page):
    return [message for _, message in extract_messages(page)]


def test_without_the_transform_cells_in_a_box_are_no_messages():
    """If this fails, MyST has mended it and LocateCells can go."""
    assert not set(CELLS) & set(messages(document(BOX)))


@pytest.mark.parametrize("text", [BOX, PLAIN], ids=["in a box", "plain"])
def test_every_cell_is_a_message(text):
    assert [message for message in messages(located(text)) if message in CELLS] == CELLS


def test_cells_in_a_box_get_the_page_and_the_line_of_their_table():
    page = located(BOX)
    table = next(page.findall(nodes.table))
    assert [(cell.source, cell.line) for cell in cells(page)] == [("page.md", table.line)] * 4


def test_a_cell_that_has_a_place_keeps_it():
    page = document(BOX)
    first = cells(page)[0]
    first.source, first.line = "other.md", 77
    LocateCells(page).apply()
    assert (first.source, first.line) == ("other.md", 77)


def test_text_outside_tables_is_left_alone():
    before = [(p.source, p.line) for p in document("One.\n\nTwo.\n").findall(nodes.paragraph)]
    assert [(p.source, p.line) for p in located("One.\n\nTwo.\n").findall(nodes.paragraph)] == before


def test_cells_are_located_before_sphinx_keeps_and_translates_messages():
    assert LocateCells.default_priority < PreserveTranslatableMessages.default_priority < Locale.default_priority
