"""RopeLab and WaveLab in Chromium: equal to Python, moved by keys, readable."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from widget_harness import module, shown

from attnbook.widgets import RopeLab, WaveLab, rope, waves


def said(page):
    return page.locator(".attn-live").inner_text()


def wait_for(page, words):
    page.wait_for_function("words => document.querySelector('.attn-live').textContent.includes(words)", arg=words)


# -- RopeLab ------------------------------------------------------------------------------

def test_turning_equals_python(browser):
    states = [(q, k, base, layout) for q, k in ((0, 0), (9, 4), (4, 9), (127, 1), (64, 127)) for base in rope.BASES
              for layout in ("half", "interleaved")]
    with shown(browser, RopeLab()) as page:
        module(page, RopeLab._esm)
        theirs = page.evaluate("(states) => states.map((s) => lab.score(...s))", states)
        assert theirs == pytest.approx([rope.score(*state) for state in states], abs=1e-9)
        for _, key, base, layout in states:
            turned = page.evaluate("([v, p, b, l]) => lab.hands(v, p, b, l).flat()", [rope.KEY, key, base, layout])
            assert turned == pytest.approx([x for hand in rope.hands(rope.KEY, key, base, layout) for x in hand], abs=1e-9)
        assert page.evaluate("lab.limit()") == pytest.approx(rope.limit())


def test_moving_both_keeps_the_score_and_moving_one_does_not(browser):
    with shown(browser, RopeLab()) as page:
        value = f"score {rope.score(9, 4, 100, 'half'):.2f}"
        assert value in said(page)
        hands = page.locator("path.line-query").first
        before = hands.get_attribute("d")
        both = page.locator("input[type=range]")
        both.focus()
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        wait_for(page, "Query at position 12, key at 7")
        assert value in said(page) and hands.get_attribute("d") != before
        both.press("End")
        wait_for(page, "Query at position 127, key at 122")
        page.locator(".attn-handle").nth(1).focus()
        page.keyboard.press("ArrowLeft")
        wait_for(page, "key at 121")
        assert value not in said(page)
        page.locator(".attn-reset").click()
        wait_for(page, "Query at position 9, key at 4")


def test_handles_are_dragged_and_stay_on_the_line(browser):
    with shown(browser, RopeLab()) as page:
        box = page.locator(".attn-handle").first.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 2000, y, steps=3)
        page.mouse.up()
        wait_for(page, "Query at position 127")


@pytest.mark.parametrize("radio, words", [(1, "Query at"), (3, "Query at")])
def test_pairing_and_base_change_the_curve(browser, radio, words):
    with shown(browser, RopeLab()) as page:
        line = page.locator("path.line-stream")
        before = line.get_attribute("d")
        page.locator("input[type=radio]").nth(radio).check(force=True)
        page.wait_for_function("old => document.querySelector('path.line-stream').getAttribute('d') !== old", arg=before)
        assert words in said(page)


# -- WaveLab ------------------------------------------------------------------------------

def test_waves_equal_python(browser):
    with shown(browser, WaveLab()) as page:
        module(page, WaveLab._esm)
        for d in (4, 32, 64):
            theirs = page.evaluate("d => [...Array(40).keys()].flatMap((p) => [...Array(d).keys()].map((c) => lab.entry(p, c, d)))", d)
            assert theirs == pytest.approx([waves.entry(p, c, d) for p in range(40) for c in range(d)], abs=1e-9)
            for i in range(d // 2):
                assert page.evaluate("([i, d]) => lab.wavelength(i, d)", [i, d]) == pytest.approx(waves.wavelength(i, d))
        values = [x / 50 - 1 for x in range(101)]
        assert page.evaluate("v => v.map(lab.level)", values) == [waves.level(x) for x in values]
        assert page.evaluate("[1, 8].map(lab.slope)") == [waves.slope(1), waves.slope(8)]


@pytest.mark.parametrize("control, key, words", [
    (0, "End", "Width 64"), (0, "Home", "Width 4, column 3"), (1, "End", "column 31: pair 15"),
    (1, "ArrowRight", "column 5: pair 2"), (2, "End", "head 8 loses one unit of score in 256 steps")])
def test_each_slider_moves_by_keys_and_changes_the_picture(browser, control, key, words):
    with shown(browser, WaveLab()) as page:
        before = page.locator(".attn-picture").inner_html()
        page.locator("input[type=range]").nth(control).focus()
        page.keyboard.press(key)
        wait_for(page, words)
        assert page.locator(".attn-picture").inner_html() != before
        page.locator(".attn-reset").click()
        wait_for(page, "Width 32, column 4")


def test_the_last_column_follows_the_width(browser):
    with shown(browser, WaveLab(d_model=64, column=63)) as page:
        assert "spans 47117" in said(page) or "spans 47100" in said(page)
        page.locator("input[type=range]").nth(0).press("Home")
        wait_for(page, "Width 4, column 3: pair 1")
        assert page.locator("input[type=range]").nth(1).get_attribute("max") == "3"


# -- both ---------------------------------------------------------------------------------

@pytest.mark.parametrize("lab, state", [
    (RopeLab, {}), (RopeLab, {"query": 3, "key": 120, "pairing": "interleaved", "base": 10000}),
    (WaveLab, {}), (WaveLab, {"d_model": 6, "column": 5, "head": 8})])
def test_static_and_live_picture_agree(browser, lab, state):
    curves = """[...document.querySelectorAll('main svg path')].map((n) => n.getAttribute('d'))
        .filter((d) => d && (d.length > 400 || /^M\\d+ \\d+L/.test(d))).sort()"""
    marks = """[...document.querySelectorAll('main svg circle')].filter((n) => [3, 7, 44].includes(Number(n.getAttribute('r')))
        && !n.closest('.attn-handle')).map((n) => ['cx', 'cy'].map((name) => Number(n.getAttribute(name)).toFixed(1)))"""
    with shown(browser, lab(**state)) as page, shown(browser, lab(**state), js=False) as still:
        assert {tuple(at) for at in page.evaluate(marks)} <= {tuple(at) for at in still.evaluate(marks)}
        live, drawn = page.evaluate(curves), still.evaluate(curves)
        assert live == drawn and live


@pytest.mark.parametrize("lab", [RopeLab, WaveLab])
def test_chinese_page_speaks_chinese(browser, lab):
    with shown(browser, lab(), language="zh") as page:
        words = page.locator(".attn-lab").inner_text().replace("ALiBi", "").replace("rad", "").replace("维度 d", "")
        assert not any(c.isascii() and c.isalpha() for c in words), words


@pytest.mark.parametrize("lab", [RopeLab, WaveLab])
@pytest.mark.parametrize("width", [320, 375, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_accessible_and_inside_the_page(browser, lab, width, dark):
    with shown(browser, lab(), width=width, dark=dark) as page:
        found = Axe().run(page).response["violations"]
        assert not found, [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for box in map(lambda n: n.bounding_box(), page.locator("input, button, .attn-target").all()):
            assert box["height"] >= 23.5 and box["width"] >= 23.5
        small = page.evaluate("""[...document.querySelectorAll('.attn-picture text')].map((t) =>
            parseFloat(getComputedStyle(t).fontSize) * t.ownerSVGElement.getScreenCTM().a)""")
        assert min(small) >= 9
