"""Every page of both editions, light and dark, wide and on a phone: accessible, complete, nothing sideways.

One load serves many checks; a failing test lists all that is wrong with its page.
"""

import pytest
from axe_playwright_python.sync_playwright import Axe

import _site

AXE = {"resultTypes": ["violations"], "preload": False}  # preloading asks for style sheets by wrong addresses
EXPECTED = {
    "en": {"index", "prerequisites", "notation", "glossary", "references", "api", "chapters/01_routing"},
    "zh": {"index", "notation", "glossary", "chapters/01_routing"},
}
PAGES = [*_site.all_pages(), *(f"{edition}/{name}.html" for edition in ("en", "zh") for name in ("search", "genindex"))]

# Elements that end right of the screen, with no box around them that scrolls or cuts.
STICKING_OUT = """() => {
  const width = document.documentElement.clientWidth, out = [];
  for (const e of document.querySelectorAll("main *, .bd-header-article *")) {
    const r = e.getBoundingClientRect();
    if (!r.width || r.right <= width + 1 || e.closest("dialog, .bd-sidebar-secondary")) continue;
    let box = e.parentElement;
    while (box && box !== document.body && getComputedStyle(box).overflowX === "visible") box = box.parentElement;
    if (!box || box === document.body) out.push(`${e.tagName}.${e.className.baseVal ?? e.className}`);
  }
  return out.slice(0, 5);
}"""
RAW_TEX = r"""() => {
  const text = document.querySelector(".bd-article")?.innerText ?? "";
  const maths = [...document.querySelectorAll(".bd-article .math")];
  return {
    raw: text.match(/\\\(|\\\[|\$\$|\\begin\{|\\frac|\\text\{/g) || [],
    unset: maths.filter(m => !m.querySelector("mjx-container")).map(m => m.textContent.slice(0, 60)),
    faulty: [...document.querySelectorAll("mjx-merror, [data-mml-node=merror]")].map(m => m.textContent.slice(0, 60)),
  };
}"""
WIDE_FORMULAS = """() => [...document.querySelectorAll(".bd-article div.math")].filter(m => m.clientWidth).map(m => {
  const style = getComputedStyle(m), set = m.querySelector("mjx-container")?.getBoundingClientRect();
  return { text: m.textContent.slice(0, 60), hidden: m.scrollWidth > m.clientWidth + 1 && style.overflowX === "visible",
           start: m.scrollLeft, cut: set ? set.left < -1 : false };
}).filter(m => m.hidden || m.start || m.cut)"""


@pytest.mark.parametrize("edition", EXPECTED)
def test_edition_has_its_pages(edition):
    missing = EXPECTED[edition] - set(_site.page_names(edition))
    assert not missing, f"{edition} lacks {sorted(missing)}"


def _axe(page, where):
    found = Axe().run(page, options=AXE).response["violations"]
    return [f"{where}: {v['id']} {n['target']} {n['html'][:120]} {n['failureSummary'][:160]}"
            for v in found for n in v["nodes"]]


def _sideways(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    scroll, client = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    return [] if scroll == client else [f"{width} px: {scroll} px wide because of {page.evaluate(STICKING_OUT)}"]


def _formulas(page):
    found = page.evaluate(RAW_TEX)
    return [f"formulas, {kind}: {what}" for kind, what in found.items() if what]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_page_is_sound(new_page, site, path, dark):
    page = new_page(dark=dark)
    page.goto(site + path)
    _site.settle(page)
    faults = _formulas(page) + _axe(page, "1280 px")
    assert page.locator("html").get_attribute("data-theme") == ("dark" if dark else "light")
    for width in (768, 320, 375):
        faults += _sideways(page, width)
    faults += [f"formula on a phone: {m}" for m in page.evaluate(WIDE_FORMULAS)]
    faults += _axe(page, "375 px")
    assert not faults, "\n".join(faults)


def test_first_page_of_the_site_leads_to_an_edition(new_page, site):
    page = new_page()
    page.goto(site)
    page.wait_for_url(site + "en/index.html")
