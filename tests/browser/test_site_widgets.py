"""Widgets on the built pages come alive without a kernel; the host that revives them keeps the picture on failure."""

import json

import pytest

import _site

PAGES = _site.all_pages()
HOST = _site.ROOT / "static" / "anywidget-lite.js"
STATE = "application/vnd.jupyter.widget-state+json"
COUNTER = """
let starts = 0;
export default {
  initialize() { starts += 1; },
  render({ model, el }) {
    const draw = () => { el.textContent = `${model.get("value")} after ${starts} start`; };
    model.on("change:value", draw);
    el.addEventListener("click", () => { model.set("value", model.get("value") + 1); model.save_changes(); });
    draw();
    return () => model.off("change:value", draw);
  },
};
"""


@pytest.mark.parametrize("path", PAGES)
def test_widgets_come_alive(new_page, site, path):
    """Within 5 s of the load, each in place of its picture; without JavaScript each picture is there."""
    still = new_page(js=False)
    still.goto(site + path)
    pictures = still.locator("[data-attn-model]")
    sizes = [box.bounding_box() for box in pictures.all()]
    assert all(size and size["height"] > 40 for size in sizes), "a widget without a picture"
    page = new_page()
    page.goto(site + path)
    _site.settle(page, seconds=5)
    live = page.locator(".attn-widget[data-attn-model][data-ready='1']")
    assert live.count() == len(sizes)
    assert all(widget.inner_text().strip() for widget in live.all())


def test_chapter_and_first_page_have_widgets(new_page, site):
    page = new_page(js=False)
    for edition in ("en", "zh"):
        for name in ("index", "chapters/01_routing"):
            page.goto(f"{site}{edition}/{name}.html")
            assert page.locator("[data-attn-model]").count() > 0, f"{edition}/{name} has no widget"


def _page_of(models, boxes):
    state = {"state": {name: {"model_module": "anywidget", "state": fields} for name, fields in models.items()}}
    places = "".join(f'<div class="attn-static" data-attn-model="{name}">picture</div>' for name in boxes)
    scripts = f'<script type="{STATE}">{json.dumps(state)}</script><script>{HOST.read_text("utf-8")}</script>'
    return f"<main>{places}</main>{scripts}"


def test_two_views_share_one_model(new_page):
    page = new_page()
    page.set_content(_page_of({"a": {"_esm": COUNTER, "value": 1}}, ["a", "a"]))
    views = page.locator(".attn-widget[data-ready='1']")
    views.nth(1).wait_for()
    views.nth(0).click()
    assert views.all_inner_texts() == ["2 after 1 start"] * 2


def test_a_widget_that_fails_leaves_its_picture_and_its_neighbours(new_page, problems):
    page = new_page()
    broken = "export default { render() { throw new Error('no'); } };"
    models = {"bad": {"_esm": broken}, "good": {"_esm": COUNTER, "value": 5}}
    page.set_content(_page_of(models, ["bad", "good", "unknown"]))
    page.locator(".attn-widget[data-ready='1']").wait_for()
    assert page.locator(".attn-static").all_inner_texts() == ["picture", "picture"]
    assert page.locator(".attn-widget").inner_text() == "5 after 1 start"
    assert len(problems) == 1 and "stays a picture" in problems[0]
    problems.clear()
