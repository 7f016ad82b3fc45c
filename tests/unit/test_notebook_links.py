"""The extension that turns links to notebooks into links to pages."""

import pathlib
import sys
from types import SimpleNamespace

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "_ext"))

from attnbook_sphinx.notebook_links import rewrite  # noqa: E402


def rewritten(html, docname="chapters/01_routing", pages=("ledger", "chapters/01_routing"), elsewhere=()):
    """The HTML as the built page has it."""
    def relative(here, page):
        return "../" * here.count("/") + page + ".html"

    config = SimpleNamespace(
        html_context={"attn_elsewhere": {page: [page, "title"] for page in elsewhere}},
        html_theme_options={"repository_url": "https://example.org/book", "repository_branch": "main"})
    app = SimpleNamespace(env=SimpleNamespace(found_docs=set(pages)), config=config, srcdir=ROOT,
                          builder=SimpleNamespace(get_relative_uri=relative))
    return rewrite(html, app, docname)


@pytest.mark.parametrize("html, expected", [
    ('<a href="../ledger.ipynb#claim-2.1-a">x</a>', '<a href="../ledger.html#claim-2.1-a">x</a>'),
    ('<a class="b" href="../ledger.ipynb" lang="en">x</a>', '<a class="b" href="../ledger.html" lang="en">x</a>'),
    ('<a href="https://example.org/a.ipynb">x</a>', '<a href="https://example.org/a.ipynb">x</a>'),
    ('<a href="#here">x</a>', '<a href="#here">x</a>'),
])
def test_a_link_to_a_notebook_leads_to_its_page(html, expected):
    assert rewritten(html) == expected


def test_a_page_of_the_other_edition_only_is_found_there():
    html = rewritten('<a href="chapters/05_x.ipynb#claim-1">five</a>', docname="ledger", elsewhere=("chapters/05_x",))
    assert html == '<a href="../en/chapters/05_x.html#claim-1">five</a>'


def test_a_page_that_does_not_exist_leaves_the_words():
    assert rewritten('see <a href="../nowhere.ipynb#x">that <b>page</b></a>.') == "see that <b>page</b>."


def test_a_file_of_the_package_leads_to_its_source():
    html = rewritten('<a href="attnbook/claims/routing.py"><code>r</code></a>', docname="ledger")
    assert html == '<a href="https://example.org/book/blob/main/attnbook/claims/routing.py"><code>r</code></a>'
    assert rewritten('<a href="attnbook/claims/none.py">r</a>', docname="ledger") == "r"
