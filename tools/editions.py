"""The two editions: English as written in _config.yml and _toc.yml, Chinese derived from them.

The Chinese edition holds the finished pages only. A page is finished when it has a catalogue,
locale/zh_CN/LC_MESSAGES/<page>.po; tests/book checks that such a catalogue is complete.
"""

import re

import nbformat
import yaml

from environment import BUILD, ROOT

CATALOGUES = ROOT / "locale" / "zh_CN" / "LC_MESSAGES"
FOLDER = BUILD / "config"
CHINESE = {
    "title": "智能的原子：拆解并测量注意力",
    "author": "attnbook 作者",
}


def version() -> str:
    """The package's version, read without importing it."""
    return re.search(r'__version__ = "(.+?)"', (ROOT / "attnbook" / "__init__.py").read_text(encoding="utf-8"))[1]


def read_config() -> dict:
    """The English configuration."""
    return yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))


def timeout() -> int:
    """Seconds that a cell may take."""
    return read_config()["execute"]["timeout"]


def read_toc() -> dict:
    """The English table of contents."""
    return yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))


def pages_of(toc: dict) -> list[str]:
    """Page names of a table of contents in reading order: root, then the chapters of every part."""
    return [toc["root"], *(chapter["file"] for part in toc.get("parts", []) for chapter in part["chapters"])]


def finished(page: str) -> bool:
    """Whether the page has a Chinese catalogue."""
    return (CATALOGUES / f"{page}.po").exists()


def edition_pages() -> dict[str, list[str]]:
    """Page names of each edition that exists; without a finished first page there is no Chinese edition."""
    english = pages_of(read_toc())
    chinese = [page for page in english if finished(page)]
    return {"en": english, "zh": chinese} if finished(english[0]) else {"en": english}


def toc_of(edition: str) -> dict:
    """The edition's table of contents, with only the pages that the edition has."""
    toc, pages = read_toc(), set(edition_pages()[edition])
    parts = []
    for part in toc.get("parts", []):
        chapters = [chapter for chapter in part["chapters"] if chapter["file"] in pages]
        if chapters:
            parts.append({**part, "chapters": chapters})
    return {**toc, "parts": parts} if parts else {key: toc[key] for key in ("format", "root")}


def config_of(edition: str, cache: str) -> dict:
    """The edition's Jupyter Book configuration; cache is the folder of executed notebooks."""
    config = read_config()
    sphinx, pages = config["sphinx"]["config"], edition_pages()
    # the generated file lies elsewhere, and Jupyter Book resolves these from the file's folder
    folders = config["sphinx"].get("local_extensions", {})
    config["sphinx"]["local_extensions"] = {name: str(ROOT / folder) for name, folder in folders.items()}
    config["execute"]["cache"] = cache
    sphinx["release"] = version()
    context = sphinx.setdefault("html_context", {})
    context["attn_pages"] = pages
    context["attn_languages"] = [
        {**language, "toc": (FOLDER / f"{language['dir']}_toc.yml").relative_to(ROOT).as_posix()}
        for language in context.get("attn_languages", []) if language["dir"] in pages]
    context["attn_version"] = version()
    footer = "attnbook {} · code MIT · text CC BY 4.0"
    if edition == "zh":
        config.update(CHINESE)
        sphinx["language"] = "zh_CN"
        sphinx.setdefault("html_theme_options", {})["search_bar_text"] = "搜索本书……"
        context["attn_lang_label"] = "语言"
        context["attn_elsewhere"] = places(set(pages["en"]) - set(pages["zh"]))
        footer = "attnbook {} · 代码 MIT · 文字 CC BY 4.0"
    config.setdefault("html", {})["extra_footer"] = f"<p>{footer.format(version())}</p>"
    return config


def source(page: str):
    """Path of the page's source file. Raises FileNotFoundError if there is none."""
    for path in (ROOT / f"{page}.ipynb", ROOT / f"{page}.md"):
        if path.exists():
            return path
    raise FileNotFoundError(f"_toc.yml names {page}; expected {page}.ipynb or {page}.md")


def markdown(page: str) -> str:
    """The page's text: the markdown file, or the markdown cells of the notebook."""
    path = source(page)
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    cells = nbformat.read(path, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def places(pages: set[str]) -> dict[str, list[str]]:
    """Label -> [page, title] of all places in the pages; a page's own name counts as a label.

    The Chinese edition needs it for links to pages that exist in English only.
    """
    found = {}
    for page in sorted(pages):
        text = markdown(page)
        title = re.search(r"^# +(.+)$", text, re.M)
        found[page] = [page, title[1] if title else page]
        for label, heading in re.findall(r"^\(([\w.-]+)\)=\s*\n+#+ +(.+)$", text, re.M):
            found[label] = [page, heading]
        for label in re.findall(r"^:(?:name|label): *([\w.-]+)|\$\$ *\(([\w.-]+)\)", text, re.M):
            found["".join(label)] = [page, title[1] if title else page]
    return found


def paths(edition: str):
    """Where the edition's generated configuration and table of contents lie."""
    return FOLDER / f"{edition}.yml", FOLDER / f"{edition}_toc.yml"


def write(cache: str) -> None:
    """Write configuration and contents of all editions; they refer to each other, so all before any is built."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for edition in edition_pages():
        for path, content in zip(paths(edition), (config_of(edition, cache), toc_of(edition)), strict=True):
            path.write_text(yaml.safe_dump(content, allow_unicode=True, sort_keys=False), encoding="utf-8")
