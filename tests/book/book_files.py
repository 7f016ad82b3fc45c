"""The book's sources and its built pages, as the tests of this folder need them."""

import functools
import re

import editions
import nbformat
from environment import ROOT, SITE

ENGLISH = editions.pages_of(editions.read_toc())
NOTEBOOKS = [page for page in ENGLISH if editions.source(page).suffix == ".ipynb"]
BUILT = [(edition, page) for edition, pages in editions.edition_pages().items() for page in pages]


@functools.cache
def notebook(page: str):
    """The page's notebook."""
    return nbformat.read(ROOT / f"{page}.ipynb", as_version=4)


def code_cells(page: str) -> list:
    """The notebook's code cells."""
    return [cell for cell in notebook(page).cells if cell.cell_type == "code"]


@functools.cache
def html(edition: str, page: str) -> str:
    """The built page."""
    return (SITE / edition / f"{page}.html").read_text(encoding="utf-8")


def attributes(text: str, tag: str, name: str) -> list[str]:
    """Values of an attribute of all tags of one kind."""
    return re.findall(rf"""<{tag}\b[^>]*?\s{name}=["']([^"']*)["']""", text, re.S)
