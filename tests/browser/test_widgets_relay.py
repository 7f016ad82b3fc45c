"""RelayLab in Chromium: equal to Python, moved by keys, pointer and nothing else, readable, quick."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from attnbook.widgets import RelayLab, relay
from widget_harness import module, shown

GAINS = [0.7, 0.85, 0.95, 1.0, 1.05, 1.1]
DISTANCES = [2, 3, 17, 45, 64]
MEASURED = {"tanh": [0.5**d for d in range(65)], "LSTM": [0.93**d for d in range(65)]}


def left(page, lane):
    return float(page.locator(f"[data-lane={lane}] [data-left]").get_attribute("data-left"))


def said(page):
    return page.locator(".attn-live").inner_text()


def test_arithmetic_equals_python(browser):
    with shown(browser, RelayLab()) as page:
        module(page, RelayLab._esm)
        pairs = [[g, d] for g in GAINS for d in DISTANCES]
        theirs = page.evaluate("""(pairs) => pairs.map(([g, d]) => [
            lab.whatIsLeft(g, d), lab.logPlace(lab.whatIsLeft(g, d)),
            ...["chain", "all"].flatMap((l) => [lab.hopsOf(l, d), lab.stepsOf(l, d)])])""", pairs)
        for (g, d), row in zip(pairs, theirs, strict=True):
            mine = [relay.what_is_left(g, d), relay.log_place(relay.what_is_left(g, d)), relay.hops_of("chain", d),
                    relay.steps_of("chain", d), relay.hops_of("all", d), relay.steps_of("all", d)]
            assert row == pytest.approx(mine, rel=1e-6)


def test_the_first_state_shows_the_point(browser):
    with shown(browser, RelayLab()) as page:
        assert "0.0994 of the first word: nine tenths are gone" in said(page)
        assert left(page, "chain") == pytest.approx(0.95**45) and left(page, "all") == pytest.approx(0.95)


@pytest.mark.parametrize("control, keys, distance, gain", [
    (0, ["ArrowRight"], 46, 0.95), (0, ["Home"], 2, 0.95), (0, ["End"], 64, 0.95),
    (1, ["ArrowRight"], 45, 0.96), (1, ["End"], 45, 1.1), (1, ["Home"], 45, 0.7),
])
def test_each_slider_moves_by_keys_and_changes_the_picture(browser, control, keys, distance, gain):
    with shown(browser, RelayLab()) as page:
        before = page.locator(".attn-picture").inner_html()
        page.locator("input[type=range]").nth(control).focus()
        for key in keys:
            page.keyboard.press(key)
        page.wait_for_function(f"document.querySelector('[data-left]').dataset.left !== '{0.95**45}'")
        assert left(page, "chain") == pytest.approx(gain**distance)
        assert page.locator(".attn-picture").inner_html() != before
        assert f"{distance} hops at {gain:.2f}" in said(page)


def test_the_point_is_dragged_and_moved_by_keys(browser):
    with shown(browser, RelayLab()) as page:
        point = page.locator(".attn-handle")
        box = point.bounding_box()
        assert min(box["width"], box["height"]) >= 24
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - 60, y, steps=4)
        page.mouse.up()
        page.wait_for_function("!document.querySelector('.attn-live').textContent.includes('45 hops')")
        dragged = int(page.locator("input[type=range]").first.input_value())
        assert 25 < dragged < 40 and f"Chain: {dragged} hops" in said(page)
        page.keyboard.press("ArrowLeft")
        page.wait_for_function(f"document.querySelector('.attn-live').textContent.includes('{dragged - 1} hops')")
        assert point.get_attribute("aria-valuenow") == str(dragged - 1)


def test_tab_reaches_everything_in_reading_order_and_reset_restores(browser):
    with shown(browser, RelayLab()) as page:
        roles = []
        for _ in range(4):
            page.keyboard.press("Tab")
            roles.append(page.evaluate("(document.activeElement.getAttribute('aria-label')"
                                       " || document.activeElement.textContent)"))
        assert roles == ["distance in words", "distance", "gain per step (spectral radius)", "Reset"]
        page.locator("input[type=range]").nth(1).press("End")
        page.wait_for_function("document.querySelector('.attn-live').textContent.includes('explodes')")
        page.locator(".attn-reset").press("Enter")
        page.wait_for_function("document.querySelector('.attn-live').textContent.includes('nine tenths are gone')")


@pytest.mark.parametrize("gain, distance, words", [
    (1.05, 64, "explodes"), (1.05, 10, "it grows"), (1.0, 64, "only at exactly 1"), (0.7, 64, "has vanished"),
    (0.95, 14, "half of it is gone"), (0.99, 10, "of the first word. All"),
])
def test_the_sentence_says_what_happened(browser, gain, distance, words):
    with shown(browser, RelayLab(gain=gain, distance=distance)) as page:
        assert words in said(page)


def test_chinese_page_speaks_chinese(browser):
    with shown(browser, RelayLab(), language="zh") as page:
        assert "十分之九已经丢失" in said(page)
        words = page.locator(".attn-lab").inner_text()
        assert not any(c.isascii() and c.isalpha() for c in words)


def test_measured_curves_are_named_and_cut_at_the_axis(browser):
    names = {"tanh": ["tanh cell", "tanh 单元"]}
    with shown(browser, RelayLab(measured=MEASURED, measured_names=names)) as page:
        chart = page.locator(".attn-picture svg").nth(1)
        assert {"tanh cell", "LSTM", "chain", "all-to-all"} <= set(chart.locator("text").all_text_contents())
        assert page.locator("[data-curve=tanh]").get_attribute("d").count("L") == 36  # 0.5^36 is the last above 1e-11


@pytest.mark.parametrize("distance, gain", [(9, 1.03), (64, 0.7), (2, 1.0)])
def test_static_and_live_picture_draw_the_same_paths(browser, distance, gain):
    lab = RelayLab(distance=distance, gain=gain, measured=MEASURED)
    paths = "[...document.querySelectorAll('main svg path')].map((n) => n.getAttribute('d'))"
    with shown(browser, lab) as page, shown(browser, lab, js=False) as still:
        live, drawn = ([numbers(d) for d in p.evaluate(paths)] for p in (page, still))
        assert len(live) == len(drawn) > 10
        for one, two in zip(live, drawn, strict=True):
            assert one == pytest.approx(two, abs=0.11)


def numbers(d):
    return [float(x) for x in re.findall(r"-?[\d.]+", d)]


@pytest.mark.parametrize("width", [320, 375, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_accessible_and_inside_the_page(browser, width, dark):
    with shown(browser, RelayLab(measured=MEASURED), width=width, dark=dark) as page:
        found = Axe().run(page).response["violations"]
        assert not found, [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for box in map(lambda n: n.bounding_box(), page.locator("input, button, .attn-handle").all()):
            assert box["height"] >= 24 and box["width"] >= 24
        small = page.evaluate("""[...document.querySelectorAll('.attn-picture text')].map((t) =>
            parseFloat(getComputedStyle(t).fontSize) * t.ownerSVGElement.getScreenCTM().a)""")
        assert min(small) >= 9
