"""Figures in the page: described, readable in both themes, their words in the page's language."""

import io
import re
from collections import Counter

import pytest
import yaml
from PIL import Image

import _site

SHORTEST = {"en": 15, "zh": 8}  # characters of a description; Chinese says the same in half of them
HAN = re.compile(r"[\u3400-\u9fff]")
DESCRIPTIONS = """() => [...document.querySelectorAll(".bd-article img, .bd-article svg[role=img]")].map(e => {
  const label = e.getAttribute("aria-labelledby");
  if (label) return label.split(" ").map(id => document.getElementById(id)?.innerText ?? "").join(" ");
  return e.getAttribute("alt") ?? e.getAttribute("aria-label") ?? "";
})"""
TEXTS = """svg => [...svg.querySelectorAll("text")].filter(t => t.checkVisibility() && t.textContent.trim()).map(t => {
  const box = t.getBoundingClientRect(), frame = svg.getBoundingClientRect(), style = getComputedStyle(t);
  let opacity = style.fillOpacity;
  for (let e = t; e.closest("svg"); e = e.parentElement) opacity *= getComputedStyle(e).opacity;
  return { text: t.textContent.trim(), fill: style.fill, opacity: opacity,
           box: [box.left - frame.left, box.top - frame.top, box.right - frame.left, box.bottom - frame.top] };
})"""
DUPLICATE_IDS = """() => {
  const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
  return [...new Set(ids.filter((id, i) => ids.indexOf(id) !== i))];
}"""


def luminance(colour):
    """Relative luminance of an sRGB colour (WCAG 2)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    """Contrast ratio of two colours (WCAG 2): 1 to 21."""
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def _background(picture, box):
    """The commonest colour behind a label; its box is taller than its letters, so the middle decides."""
    left, top, right, bottom = max(box[0], 0), max(box[1], 0), min(box[2], picture.width), min(box[3], picture.height)
    edge = 0.2 * min(right - left, bottom - top)
    area = picture.crop((round(left - 1), round(top + edge), round(right + 1), round(bottom - edge)))
    return max(area.getcolors(area.width * area.height))[1]


def faint_labels(svg):
    """Labels of a picture whose contrast with what is behind them is below 4.5."""
    labels = svg.evaluate(TEXTS)
    if not labels:
        return []
    picture, faint = Image.open(io.BytesIO(svg.screenshot())).convert("RGB"), []
    for label in labels:
        behind = _background(picture, label["box"])
        ink, share = [float(v) for v in re.findall(r"[\d.]+", label["fill"])[:3]], float(label["opacity"])
        seen = [share * i + (1 - share) * b for i, b in zip(ink, behind)]
        ratio = contrast(seen, behind)
        if ratio < 4.5:
            faint.append(f"{label['text']!r}: {ratio:.1f}")
    return faint


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_labels_are_readable(visited, theme):
    _, page = visited
    page.emulate_media(color_scheme=theme)
    page.wait_for_function("theme => document.documentElement.dataset.theme === theme", arg=theme)
    faint = [label for svg in page.locator(".bd-article svg:visible").all() for label in faint_labels(svg)]
    assert not faint


def test_pictures_are_described_and_ids_are_unique(visited):
    path, page = visited
    said = [" ".join(text.split()) for text in page.evaluate(DESCRIPTIONS)]
    short = [text for text in said if len(text) < SHORTEST[path[:2]] or re.search(r"\.(svg|png)$", text)]
    assert not short, "no description, or a file name"
    assert len(said) == len(set(said)), f"repeated: {[text for text, n in Counter(said).items() if n > 1]}"
    if path.startswith("zh/"):
        assert all(HAN.search(text) for text in said), [text for text in said if not HAN.search(text)]
    assert not page.evaluate(DUPLICATE_IDS)


def test_chapters_show_their_figures_as_part_of_the_page(visited):
    """Inline SVG, as it is served (so without JavaScript, too); no figure is a file that the theme cannot colour."""
    path, page = visited
    assert page.locator(".cell_output img[src$='.svg']").count() == 0
    if path in _site.chapters():
        assert re.search(r"<svg[^>]*attn-figure", (_site.SITE / path).read_text("utf-8"))
        assert page.locator(".bd-article svg.attn-figure").count() > 0


def test_words_in_figures_are_translated(new_page, site):
    """A Latin word in a Chinese figure is one that the catalogue writes on purpose."""
    catalogue = yaml.safe_load((_site.ROOT / "locale/zh_CN/figures.yml").read_text("utf-8"))
    known = set(re.findall(r"[A-Za-z]{2,}", str(list(catalogue.values()))))
    page = new_page(js=False)
    for name in _site.page_names("zh"):
        page.goto(f"{site}zh/{name}.html")
        texts = page.eval_on_selector_all("svg.attn-figure text", "all => all.map(t => t.textContent)")
        left = {text for text in texts if set(re.findall(r"[A-Za-z]{2,}", text)) - known}
        assert not left, f"{name}: {sorted(left)}"
