"""The built site, read as files: complete, self-contained, light, and with links that lead somewhere."""

import gzip
import html as entities
import json
import re
from urllib.parse import unquote, urlsplit

import editions
import environment
import pytest
from book_files import BUILT, attributes, html
from environment import ROOT, SITE
from fontTools.ttLib import TTFont

FIRST_VISIT = 1_000_000  # bytes, gzip, theme and mathematics included
EDITIONS = sorted({edition for edition, _ in BUILT})
REMOTE = re.compile(r"^(https?:)?//")
OF_THIS_MACHINE = {str(ROOT), str(environment.SITE), str(environment.BUILD)}


def site_files(*suffixes: str):
    """All files of the site with such an ending."""
    return [path for path in SITE.rglob("*") if path.suffix in suffixes]


def identifiers(text: str) -> set[str]:
    """All places of a page that a link can name."""
    return set(re.findall(r"""\sid=["']([^"']+)["']""", text))


@pytest.mark.parametrize("edition", EDITIONS)
def test_edition_has_exactly_its_pages(edition):
    folder = SITE / edition
    written = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.html")
               if not path.relative_to(folder).as_posix().startswith("_")}
    assert written - {"genindex", "search", "py-modindex", "prf-prf"} == set(editions.edition_pages()[edition])


def test_front_page_leads_to_each_edition():
    links = attributes((SITE / "index.html").read_text(encoding="utf-8"), "a", "href")
    assert links == [f"{edition}/index.html" for edition in editions.edition_pages()]
    assert all((SITE / link).exists() for link in links)


@pytest.mark.parametrize("edition, page", BUILT)
def test_page_says_its_language(edition, page):
    assert attributes(html(edition, page), "html", "lang") == [{"en": "en", "zh": "zh-CN"}[edition]]


@pytest.mark.parametrize("edition, page", BUILT)
def test_page_loads_nothing_from_elsewhere(edition, page):
    text = html(edition, page)
    loaded = [*attributes(text, "script", "src"), *attributes(text, "img", "src"), *attributes(text, "iframe", "src"),
              *attributes(text, "source", "src"), *attributes(text, "video", "src")]
    for tag in re.findall(r"<link\b[^>]*>", text):
        if not re.search(r"""rel=["'](canonical|alternate|author|license)["']""", tag):
            loaded += attributes(tag, "link", "href")
    inline = "\n".join(re.findall(r"<script\b(?![^>]*application/)[^>]*>(.*?)</script>", text, re.S))
    loaded += re.findall(r"""(?:import\s*\(?|from|fetch\()\s*["'`](https?://[^"'`]+)""", inline)
    assert not [address for address in loaded if REMOTE.match(address)]


def test_scripts_and_styles_load_nothing_from_elsewhere():
    for path in site_files(".css"):
        text = path.read_text(encoding="utf-8", errors="replace")
        asked = re.findall(r"""(?:url\(\s*["']?|@import\s+["'])((?:https?:)?//[^"')\s]+)""", text)
        assert not asked, f"{path}: {asked}"
    for path in site_files(".js"):
        text = path.read_text(encoding="utf-8", errors="replace")
        asked = re.findall(r"""(?:import\s*\(|importScripts\(|fetch\(|\.src\s*=)\s*["'`](https?://[^"'`]+)""", text)
        assert not asked, f"{path}: {asked}"


@pytest.mark.parametrize("edition, page", BUILT)
def test_no_page_has_a_path_of_the_machine_that_built_it(edition, page):
    text = html(edition, page)
    assert not [path for path in OF_THIS_MACHINE if re.search(re.escape(path) + r"\b", text)]
    assert not re.search(r"Glyph \d+ .{0,80}missing", text)


@pytest.mark.parametrize("edition, page", BUILT)
def test_links_within_the_site_lead_somewhere(edition, page):
    text, path = html(edition, page), SITE / edition / f"{page}.html"
    broken = []
    for kind, name in (("a", "href"), ("link", "href"), ("script", "src"), ("img", "src")):
        for address in map(entities.unescape, attributes(text, kind, name)):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                broken.append(address)
            elif parts.fragment and target.suffix == ".html":
                if unquote(parts.fragment) not in identifiers(target.read_text(encoding="utf-8")):
                    broken.append(address)
    assert not broken


@pytest.mark.parametrize("edition, page", BUILT)
def test_headings_have_names_that_stay(edition, page):
    """A heading without a label gets id1, id2 ... in Chinese, and links to it break with the next heading."""
    sections = re.findall(r"""<section\b[^>]*\sid=["']([^"']+)["']""", html(edition, page))
    assert sections and not [name for name in sections if re.fullmatch(r"id\d+", name) or not name.isascii()]


@pytest.mark.parametrize("edition, page", BUILT)
def test_editions_of_a_page_name_each_other(edition, page):
    text = html(edition, page)
    named = re.findall(r"""<link rel="alternate" hreflang="[^"]+" href="([^"]+)">""", text)
    shared = [e for e in EDITIONS if (e, page) in BUILT]
    if len(shared) == 1:
        assert not named
        return
    targets = {((SITE / edition / page).parent / address).resolve() for address in named}
    assert targets == {(SITE / e / f"{page}.html").resolve() for e in shared}


@pytest.mark.parametrize("edition, page", [(e, p) for e, p in BUILT if (ROOT / f"{p}.ipynb").exists()])
def test_launch_buttons_open_this_notebook(edition, page):
    branch = editions.read_config()["repository"]["branch"]
    links = [unquote(entities.unescape(link)) for link in attributes(html(edition, page), "a", "href")]
    binder = [link for link in links if "mybinder.org" in link]
    colab = [link for link in links if "colab.research.google.com" in link]
    assert len(binder) == len(colab) == 1
    assert binder[0].endswith(f"/{branch}?urlpath=lab/tree/{page}.ipynb"), binder
    assert colab[0].endswith(f"/blob/{branch}/{page}.ipynb"), colab


@pytest.mark.parametrize("edition", EDITIONS)
def test_first_page_shows_the_version(edition):
    assert f"attnbook {editions.version()}" in html(edition, "index")


@pytest.mark.parametrize("edition", EDITIONS)
def test_icons_of_the_pages_are_in_the_icon_script(edition):
    script = (SITE / edition / "_static" / "scripts" / "fontawesome.js").read_text(encoding="utf-8")
    used = set()
    for page in editions.edition_pages()[edition]:
        for classes in re.findall(r"""<i class=["']([^"']*\bfa-[^"']*)["']""", html(edition, page)):
            used |= set(re.findall(r"\bfa-([a-z0-9-]+)", classes))
    used -= {"solid", "regular", "brands", "lg", "sm", "xs", "fw", "spin", "xl", "2x", "3x"}
    assert used and not [name for name in used if not re.search(rf"""["{{,]"?{name}"?[:,\]]""", script)]
    assert len(gzip.compress(script.encode())) < 40_000


@pytest.mark.parametrize("edition", EDITIONS)
def test_icons_of_the_pages_are_in_the_fonts_that_show_them_without_a_script(edition):
    static = SITE / edition / "_static"
    fonts = list(static.glob("vendor/fontawesome/webfonts/*"))
    letters = set().union(*(TTFont(font).getBestCmap() for font in fonts))
    style = (static / "styles" / "pydata-sphinx-theme.css").read_text(encoding="utf-8")
    for name in ("rocket", "github", "bars", "magnifying-glass"):
        assert f"fa-{name}" in html(edition, "index")
        code = re.search(rf'fa-{name}:before[^{{}}]*{{content:"\\([0-9a-f]+)"', style)
        assert int(code[1], 16) in letters, name
    assert {font.suffix for font in fonts} == {".woff"} and sum(font.stat().st_size for font in fonts) < 20_000


def loaded_by(edition: str, page: str):
    """Files that a first visit of the page fetches: scripts, styles, and MathJax's usual fonts."""
    text, path = html(edition, page), SITE / edition / f"{page}.html"
    addresses = attributes(text, "script", "src") + attributes(text, "img", "src")
    for tag in re.findall(r"<link\b[^>]*>", text):
        if re.search(r"""rel=["'](stylesheet|preload|icon|shortcut icon)["']""", tag):
            addresses += attributes(tag, "link", "href")
    files = {(path.parent / unquote(urlsplit(a).path)).resolve() for a in addresses if not a.startswith("data:")}
    static = SITE / edition / "_static"
    if "math" in text:
        fonts = ("Main-Regular", "Math-Italic", "Size1-Regular", "Size2-Regular", "AMS-Regular", "Zero")
        files |= {static / f"mathjax/output/chtml/fonts/woff-v2/MathJax_{font}.woff" for font in fonts}
    files |= set(static.glob("**/fa-*.woff"))
    return {path, *files}


@pytest.mark.parametrize("edition, page", BUILT)
def test_first_visit_is_light(edition, page):
    sizes = {path.name: len(gzip.compress(path.read_bytes(), 6)) for path in loaded_by(edition, page)}
    assert sum(sizes.values()) <= FIRST_VISIT, sorted(sizes.items(), key=lambda item: -item[1])


@pytest.mark.parametrize("edition", EDITIONS)
def test_site_has_no_source_maps(edition):
    assert not list((SITE / edition).rglob("*.map"))


@pytest.mark.parametrize("edition", EDITIONS)
def test_search_index_is_there(edition):
    text = (SITE / edition / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("{"):text.rindex("}") + 1])
    assert set(index["docnames"]) == set(editions.edition_pages()[edition])
    if edition == "zh":
        chinese = [term for term in index["terms"] if re.search(r"[\u3400-\u9fff]", term)]
        assert len(chinese) > 500
