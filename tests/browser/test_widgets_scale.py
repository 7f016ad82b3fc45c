"""ScaleLab in Chromium: equal to Python, moved by keys, readable, quick."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from widget_harness import module, shown

from attnbook.widgets import ScaleLab, scale

STATES = [(seed, d, n, kind) for seed in (1, 7) for d in (1, 64, 1024) for n in (2, 32, 512) for kind in scale.NAMES]


def said(page):
    return page.locator(".attn-live").inner_text()


def test_arithmetic_equals_python(browser):
    with shown(browser, ScaleLab()) as page:
        module(page, ScaleLab._esm)
        theirs = page.evaluate("(states) => states.map((state) => lab.statistics(...state))", STATES)
        for state, got in zip(STATES, theirs, strict=True):
            want = scale.statistics(*state)
            for name in ("std", "dead", "jacobian", "weights", "norms"):
                assert got[name] == pytest.approx(want[name], rel=1e-6, abs=1e-12), (state, name)
            assert got["counts"] == pytest.approx(want["counts"], abs=1e-4)


def test_the_generator_equals_python(browser):
    with shown(browser, ScaleLab()) as page:
        module(page, ScaleLab._esm)
        for seed in (1, 2, 9999):
            theirs = page.evaluate("""(seed) => {
                const uniform = lab.mulberry(seed);
                return [...Array(50)].map(() => uniform());
            }""", seed)
            mine = scale.mulberry(seed)
            assert theirs == [next(mine) for _ in range(50)]


def test_the_first_state_shows_dead_rows(browser):
    with shown(browser, ScaleLab()) as page:
        found = scale.statistics(1, 512, 8, "none")
        assert f"Dead rows: {100 * found['dead']:.0f} %" in said(page)
        assert page.locator("circle").count() == 60
        assert page.locator("circle[data-dead]").count() == round(60 * found["dead"]) > 20


@pytest.mark.parametrize("control, key, words", [
    (0, "Home", "Width 1,"), (0, "End", "Width 1024,"), (0, "ArrowLeft", "Width 256,"),
    (1, "End", "512 keys"), (1, "Home", "2 keys"),
])
def test_each_slider_moves_by_keys_and_changes_the_picture(browser, control, key, words):
    with shown(browser, ScaleLab()) as page:
        before = page.locator(".attn-picture").inner_html()
        page.locator("input[type=range]").nth(control).focus()
        page.keyboard.press(key)
        page.wait_for_function("words => document.querySelector('.attn-live').textContent.includes(words)", arg=words)
        assert page.locator(".attn-picture").inner_html() != before
        assert page.evaluate("document.activeElement.type") == "range"  # the focus stays


def test_the_factor_revives_all_rows_and_more_keys_show_the_surprise(browser):
    with shown(browser, ScaleLab()) as page:
        page.locator("input[type=radio]").nth(1).check(force=True)
        page.wait_for_function("document.querySelector('.attn-live').textContent.includes('Dead rows: 0 %')")
        page.locator("input[type=radio]").nth(0).check(force=True)
        page.locator("input[type=range]").nth(1).press("End")
        page.wait_for_function("document.querySelector('.attn-live').textContent.includes('scaling makes it smaller')")


def test_a_new_sample_and_reset(browser):
    with shown(browser, ScaleLab()) as page:
        first = said(page)
        page.get_by_role("button", name="New sample").click()
        page.wait_for_function("old => document.querySelector('.attn-live').textContent !== old", arg=first)
        page.locator(".attn-reset").click()
        page.wait_for_function("old => document.querySelector('.attn-live').textContent === old", arg=first)


def test_chinese_page_speaks_chinese(browser):
    with shown(browser, ScaleLab(), language="zh") as page:
        assert "不缩放" in said(page)
        words = page.locator(".attn-lab").inner_text().replace("dₖ", "")
        assert not any(c.isascii() and c.isalpha() for c in words)


@pytest.mark.parametrize("state", [{}, {"d_k": 64, "n_keys": 512}, {"d_k": 1, "n_keys": 2, "scale": "d"}])
def test_static_and_live_picture_agree(browser, state):
    boxes = """[...document.querySelectorAll('main svg rect')].map((n) =>
        ['x', 'y', 'width', 'height'].map((name) => Number(n.getAttribute(name))))"""
    rings = "[...document.querySelectorAll('main svg circle')].map((n) => getComputedStyle(n).fill === 'none')"
    with shown(browser, ScaleLab(**state)) as page, shown(browser, ScaleLab(**state), js=False) as still:
        live, drawn = page.evaluate(boxes), still.evaluate(boxes)
        assert len(live) == len(drawn) > 1
        for one, two in zip(live, drawn, strict=True):
            assert one == pytest.approx(two, abs=0.11)
        assert page.evaluate(rings) == still.evaluate(rings)


@pytest.mark.parametrize("width", [320, 375, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_accessible_and_inside_the_page(browser, width, dark):
    with shown(browser, ScaleLab(), width=width, dark=dark) as page:
        found = Axe().run(page).response["violations"]
        assert not found, [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for box in map(lambda n: n.bounding_box(), page.locator("input, button").all()):
            assert box["height"] >= 24 and box["width"] >= 24
        small = page.evaluate("""[...document.querySelectorAll('.attn-picture text')].map((t) =>
            parseFloat(getComputedStyle(t).fontSize) * t.ownerSVGElement.getScreenCTM().a)""")
        assert min(small) >= 9
