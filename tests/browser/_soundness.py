"""What is checked on every page: accessibility, formulas, and that nothing makes the page scroll sideways."""

from axe_playwright_python.sync_playwright import Axe

import _site

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
  const texts = [...document.querySelectorAll(".bd-article :is(p, li, dt, dd, th, td, h1, h2, h3, h4)")];
  const text = texts.map(e => e.checkVisibility() ? e.innerText : "").join("\n");
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
# Words without elements inside whose kind, colours and size were seen before are hidden, so not judged again:
# a page has thousands, and each costs axe a look at all that lies behind it.
HIDE_REPEATED = """() => {
  const ground = e => { for (; e; e = e.parentElement) {
    const colour = getComputedStyle(e).backgroundColor;
    if (colour !== "rgba(0, 0, 0, 0)") return colour;
  } };
  const seen = new Set(), words = [...document.querySelectorAll("main *")].filter(e =>
    !e.childElementCount && e.textContent.trim() && !e.closest(".attn-widget, .attn-static, svg, mjx-container"));
  for (const e of document.querySelectorAll("[data-repeated]")) delete e.dataset.repeated;
  const repeated = words.filter(e => {
    const style = getComputedStyle(e), weight = [style.fontSize, style.fontWeight, style.opacity];
    const key = [e.tagName, e.className, e.parentElement.tagName, style.color, ground(e), ...weight].join();
    return seen.has(key) || !seen.add(key);
  });
  for (const e of repeated) e.dataset.repeated = "";
}"""
AXE = {"resultTypes": ["violations"], "preload": False}  # preloading asks for style sheets by wrong addresses
# Of a formula axe sees the hidden MathML that speaks it; what MathJax draws beside it has no text, only styles.
# Of a figure it sees the name; test_site_figures looks at the labels inside, against what lies behind them.
CONTEXT = {"exclude": [["mjx-math"], ["th:has(mjx-container)"], [".attn-figure > *"]]}
COLOURS = ["color-contrast", "link-in-text-block"]
STRUCTURE = {"rules": {rule: {"enabled": False} for rule in COLOURS}}
SETTLED = "theme => document.documentElement.dataset.theme === theme"


def faults(page, url: str) -> list[str]:
    """Load a page (new, 1280 px wide, light) and say all that is wrong with it: wide and on a phone, light and dark."""
    page.goto(url)
    _site.settle(page)
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    found = _formulas(page) + _axe(page, "1280 px", STRUCTURE)
    for width in (768, 320, 375):
        found += _sideways(page, width)
    found += [f"formula on a phone: {formula}" for formula in page.evaluate(WIDE_FORMULAS)]
    found += _axe(page, "375 px", STRUCTURE)
    page.evaluate("document.querySelectorAll('.attn-figure > *, mjx-math').forEach(e => e.remove())")  # see CONTEXT
    page.add_style_tag(content="[data-repeated] { visibility: hidden !important; }")
    for width in (375, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        found += _colours(page, f"{width} px")
    return found


def _colours(page, where):
    """The page's colours in both themes; a dark page is the same page in other colours."""
    found = []
    for theme in ("dark", "light"):
        page.emulate_media(color_scheme=theme)
        page.wait_for_function(SETTLED, arg=theme)
        page.evaluate(HIDE_REPEATED)
        found += _axe(page, f"{where}, {theme}", {"runOnly": COLOURS})
    return found


def _axe(page, where, rules):
    found = Axe().run(page, context=CONTEXT, options=AXE | rules).response["violations"]
    return [f"{where}: {v['id']} {n['target']} {n['html'][:120]} {n['failureSummary'][:160]}"
            for v in found for n in v["nodes"]]


def _sideways(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    scroll, client = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    return [] if scroll == client else [f"{width} px: {scroll} px wide because of {page.evaluate(STICKING_OUT)}"]


def _formulas(page):
    found = page.evaluate(RAW_TEX)
    return [f"formulas, {kind}: {what}" for kind, what in found.items() if what]
