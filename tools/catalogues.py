"""Refresh the Chinese catalogues from the English text: python tools/catalogues.py [PAGE ...]

Catalogues that exist are refreshed; for each PAGE named a new one is begun. A page with a
catalogue belongs to the Chinese edition, so name a page only when you are about to translate it.
Messages whose English changed are marked fuzzy and must be looked at; tests/book finds those left.
"""

import subprocess
import sys

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

import editions
import environment
import executed
import site_assets
from environment import BUILD, ROOT

HEADER = "# Chinese text of the page {}. One message per paragraph, heading, table cell or caption."
LINE_WIDTH = 100
ADDRESS = "https://github.com/attnbook/attnbook/issues"


def extract() -> None:
    """Write the messages of all English pages as .pot files below _build/gettext."""
    site_assets.copy_mathjax()  # the configuration names its folder
    cache = executed.folder()
    executed.fill(editions.edition_pages()["en"], cache, editions.timeout())
    editions.write(str(cache))
    subprocess.run([sys.executable, str(ROOT / "tools" / "one_edition.py"), "en", "gettext"], check=True, cwd=ROOT,
                   stdout=subprocess.DEVNULL)


def load(path) -> Catalog:
    """Read a catalogue; the messages that were put aside as obsolete may be wanted again."""
    with path.open("rb") as file:
        catalogue = read_po(file, locale="zh_CN")
    for message in catalogue.obsolete.values():
        catalogue[message.id] = message
    catalogue.obsolete.clear()
    return catalogue


def refresh(page: str) -> None:
    """Merge the messages of the page into its catalogue; begin one if there is none."""
    with (BUILD / "gettext" / f"{page}.pot").open("rb") as file:
        template = read_po(file)
    path = editions.CATALOGUES / f"{page}.po"
    catalogue = load(path) if path.exists() else Catalog("zh_CN", creation_date=template.creation_date)
    catalogue.update(template, update_creation_date=False)
    catalogue.header_comment, catalogue.fuzzy = HEADER.format(page), False
    catalogue.project, catalogue.version = "attnbook", editions.version()
    catalogue.msgid_bugs_address = ADDRESS
    catalogue.last_translator = "The attnbook authors"
    catalogue.language_team = "zh_CN"
    catalogue.revision_date = catalogue.creation_date
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, catalogue, width=LINE_WIDTH)
    real = [message for message in catalogue if message.id]
    open_ones = sum(not message.string or message.fuzzy for message in real)
    print(f"{path.relative_to(ROOT)}: {len(real)} messages, {open_ones} empty or fuzzy")


def main(new: list[str]) -> None:
    """Refresh the finished pages and begin the new ones."""
    known = editions.pages_of(editions.read_toc())
    unknown = [page for page in new if page not in known]
    if unknown:
        sys.exit(f"not in _toc.yml: {', '.join(unknown)}; expected names such as {known[-1]}")
    extract()
    for page in known:
        if editions.finished(page) or page in new:
            refresh(page)


if __name__ == "__main__":
    environment.prepare()
    main(sys.argv[1:])
