"""The two editions: one source, complete translations, and the same code, figures and exercises."""

import html as entities
import re

import catalogues
import editions
import pytest
from babel.messages.pofile import read_po
from book_files import NOTEBOOKS, code_cells, html
from environment import BUILD

ENGLISH = editions.pages_of(editions.read_toc())
FINISHED = [page for page in ENGLISH if editions.finished(page)]
SHARED = editions.edition_pages().get("zh", [])
# written in place of the English text, so the two may only differ in words
SAME_NUMBER = {
    "figures": r"<figure\b",
    "exercises": r'<div class="[^"]*\bexercise\b[^"]*admonition',
    "solutions": r'class="[^"]*\bsolution\b',
    "numbered formulas": r'<span class="eqno"',
    "formulas": r'class="math notranslate',
    "widgets": r"data-attn-model=",
    "headings": r"<section\b",
    "tables": r"<table\b",
}
PLACEHOLDER = re.compile(r"\$[^$]+\$|\{math\}`[^`]*`|`[^`]*`")


def catalogue(page: str):
    """The page's Chinese catalogue."""
    with (editions.CATALOGUES / f"{page}.po").open("rb") as file:
        return read_po(file, locale="zh_CN")


def squeezed(text: str) -> str:
    """The text without white space."""
    return re.sub(r"\s+", "", text)


def formulas(page: str) -> set[str]:
    """The displayed formulas of the page's English source, squeezed."""
    text = editions.markdown(page)
    found = re.findall(r"\$\$(.+?)\$\$", text, re.S)
    found += re.findall(r"^[`:]{3,}\{math\}.*?\n(.+?)^[`:]{3,}\s*$", text, re.S | re.M)
    found += re.findall(r"(\\begin\{(?:align|equation|gather)\*?\}.+?\\end\{(?:align|equation|gather)\*?\})", text, re.S)
    return {squeezed(re.sub(r"^:\w+:.*$", "", formula, flags=re.M)) for formula in found}


def needs_no_words(message: str, known: set[str]) -> bool:
    """Whether a message is a formula, a piece of code or a number, and may stay as it is."""
    return squeezed(message) in known or not re.search(r"[A-Za-z]{2,}", PLACEHOLDER.sub("", message))


@pytest.mark.parametrize("page", FINISHED)
def test_finished_page_is_translated(page):
    known = formulas(page)
    empty = [m.id for m in catalogue(page) if m.id and not m.string and not needs_no_words(m.id, known)]
    fuzzy = [m.id for m in catalogue(page) if m.id and m.fuzzy]
    assert not empty, f"{len(empty)} without Chinese, first: {empty[:3]}"
    assert not fuzzy, f"{len(fuzzy)} fuzzy, first: {fuzzy[:3]}"


@pytest.fixture(scope="module")
def extracted() -> dict[str, set[str]]:
    """Page -> messages of the present English text, drawn out as `make gettext` does."""
    catalogues.extract()
    found = {}
    for page in FINISHED:
        with (BUILD / "gettext" / f"{page}.pot").open("rb") as file:
            found[page] = {message.id for message in read_po(file) if message.id}
    return found


@pytest.mark.parametrize("page", FINISHED)
def test_catalogue_is_of_the_present_text(page, extracted):
    """Where this fails, the English text changed: `make gettext`, then translate what is new or fuzzy."""
    known = {message.id for message in catalogue(page) if message.id}
    missing, left = extracted[page] - known, known - extracted[page]
    assert not missing, f"{len(missing)} not in the catalogue, for example {sorted(missing)[:3]}"
    assert not left, f"{len(left)} not in the text any more, for example {sorted(left)[:3]}"


def code_blocks(edition: str, page: str) -> list[str]:
    """The code cells of a built page as text."""
    blocks = re.findall(r'<div class="cell_input[^"]*">.*?<pre>(.*?)</pre>', html(edition, page), re.S)
    return [entities.unescape(re.sub(r"<[^>]+>", "", block)).strip() for block in blocks]


@pytest.mark.parametrize("page", [page for page in SHARED if page in NOTEBOOKS])
def test_code_is_the_same(page):
    shown = [cell.source.strip() for cell in code_cells(page)
             if not {"remove-input", "remove-cell"} & set(cell.metadata.get("tags", []))]
    assert code_blocks("en", page) == shown
    assert code_blocks("zh", page) == shown


@pytest.mark.parametrize("page", SHARED)
@pytest.mark.parametrize("what", SAME_NUMBER)
def test_parts_are_the_same(page, what):
    english, chinese = (len(re.findall(SAME_NUMBER[what], html(edition, page))) for edition in ("en", "zh"))
    assert english == chinese


@pytest.mark.parametrize("page", [page for page in SHARED if page in NOTEBOOKS])
def test_printed_numbers_are_the_same(page):
    def outputs(edition):
        found = re.findall(r'<div class="output stream[^"]*">.*?<pre>(.*?)</pre>', html(edition, page), re.S)
        return [re.findall(r"-?\d+(?:\.\d+)?", re.sub(r"<[^>]+>", "", text)) for text in found]
    assert outputs("en") == outputs("zh")


@pytest.mark.parametrize("page", ENGLISH)
def test_headings_have_labels(page):
    """Chinese headings have no name of their own; the label before each gives it one."""
    text = re.sub(r"^(`{3,}|:{3,})\S.*?^\1\s*$", "", editions.markdown(page), flags=re.S | re.M)
    lines = [line for line in text.splitlines() if line.strip()]
    bare = [line for before, line in zip(["", *lines], lines, strict=False)
            if re.match(r"#+ ", line) and not re.fullmatch(r"\([A-Za-z0-9_-]+\)=", before.strip())]
    assert not bare


@pytest.mark.parametrize("page", ENGLISH)
def test_text_has_neither_footnotes_nor_raw_html(page):
    """Footnotes break in translated text, and words inside raw HTML are not translated."""
    text = re.sub(r"`[^`]*`|\$[^$]*\$", "", re.sub(r"^```.*?^```", "", editions.markdown(page), flags=re.S | re.M))
    assert not re.search(r"\[\^\w+\]", text)
    assert not re.search(r"<(?!https?:|!--)/?[a-z][a-z0-9]*[ >/]", text)
