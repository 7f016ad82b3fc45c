"""The keyboard reaches everything that can be used, in reading order, and shows where it is."""

import re

import pytest
import yaml

import _site

PAGES = [f"{edition}/{name}.html" for edition, name in
         (("en", "index"), ("en", "chapters/01_routing"), ("zh", "chapters/01_routing"), ("en", "notation"))]
MARK = """() => {
  const usable = "a[href], button:not([disabled]), input:not([disabled]), select, textarea, summary, [tabindex='0']";
  const all = [...document.querySelectorAll(usable)].filter(e =>
    e.checkVisibility({ visibilityProperty: true }) && e.tabIndex >= 0 && e.getBoundingClientRect().width > 0
    && !e.closest("dialog:not([open])") && !(e.type === "radio" && !e.checked));
  all.forEach((e, i) => { e.dataset.stop = i; });
  window.stops = [];
  document.addEventListener("focusin", ({ target }) => {
    const style = getComputedStyle(target);
    window.stops.push({ stop: target.dataset.stop ?? null, what: target.outerHTML.slice(0, 100),
      ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1 || style.boxShadow !== "none"
        || target.matches(".attn-choice input, .attn-handle") });
  });
  return all.map(e => e.outerHTML.slice(0, 100));
}"""
NAMES = """() => [...document.querySelectorAll(".attn-widget :is(input, button, select, [role=slider])")].map(e =>
  ([...e.labels ?? []].map(label => label.innerText).join(" ") || e.getAttribute("aria-label") || e.innerText).trim())"""


@pytest.mark.parametrize("path", PAGES)
def test_tab_reaches_every_control_in_order(new_page, site, path):
    page = new_page()
    page.goto(site + path)
    _site.settle(page)
    controls = page.evaluate(MARK)
    for _ in range(len(controls) + 20):
        page.keyboard.press("Tab")
    stops = page.evaluate("window.stops")
    reached = [int(s["stop"]) for s in stops if s["stop"] is not None]
    missed = [what for i, what in enumerate(controls) if i not in reached]
    assert not missed, f"{len(missed)} of {len(controls)}: {missed[:5]}"
    first_round = list(dict.fromkeys(reached))
    assert first_round == sorted(first_round), "not in reading order"
    blind = [s["what"] for s in stops if not s["ring"]]
    assert not blind, f"no visible focus: {blind[:5]}"


@pytest.mark.parametrize("path", PAGES)
def test_controls_of_widgets_have_names_in_the_language_of_the_page(new_page, site, path):
    page = new_page()
    page.goto(site + path)
    _site.settle(page)
    names = page.evaluate(NAMES)
    assert all(names), "a control without a name"
    if path.startswith("zh/"):
        kept = set(yaml.safe_load((_site.ROOT / "locale/zh_CN/figures.yml").read_text("utf-8"))["kept"])
        english = [name for name in names if set(re.findall(r"[A-Za-z']{2,}", name)) - kept]
        assert not english, english
