"""StreamLab in Chromium: equal to Python, moved by keys, readable."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from widget_harness import module, shown

from attnbook.widgets import StreamLab, stream

STATES = [(seed, kind, depth, scale) for seed in (1, 77) for kind in stream.NAMES for depth in (1, 24, 96)
          for scale in (0.1, 0.5, 1.0, 2.0)]


def said(page):
    return page.locator(".attn-live").inner_text()


def test_arithmetic_equals_python(browser):
    with shown(browser, StreamLab()) as page:
        module(page, StreamLab._esm)
        theirs = page.evaluate("(states) => states.map((state) => lab.curves(...state))", STATES)
        for state, (gradients, cosines) in zip(STATES, theirs, strict=True):
            mine = stream.curves(*state)
            assert gradients == pytest.approx(mine[0], rel=1e-6), state
            assert cosines == pytest.approx(mine[1], abs=1e-6), state


def test_places_equal_python(browser):
    values = [-0.5, -0.3, 0, 0.5, 1, 1e-13, 1e-12, 1e-5, 1e6, 1e7]
    with shown(browser, StreamLab()) as page:
        module(page, StreamLab._esm)
        theirs = page.evaluate("(values) => [0, 1].map((w) => values.map((v) => lab.placeOf(w, v)))", values)
        for which in (0, 1):
            for value, got in zip(values, theirs[which], strict=True):
                want = stream.place(which, value)
                assert got is want is None or got == pytest.approx(want, abs=1e-9)


def test_the_first_state_shows_the_point(browser):
    with shown(browser, StreamLab()) as page:
        gradients, cosines = stream.curves(1, "pre", 96, 1.0)
        assert "96 layers, pre-norm" in said(page) and f"{cosines[-1]:.2f}" in said(page)


@pytest.mark.parametrize("control, key, words", [
    (0, "Home", "1 layers"), (0, "ArrowLeft", "95 layers"), (1, "Home", "branch scale 0.10"),
    (1, "ArrowRight", "branch scale 1.05"), (1, "End", "branch scale 2.00"),
])
def test_each_slider_moves_by_keys_and_changes_the_picture(browser, control, key, words):
    with shown(browser, StreamLab()) as page:
        before = page.locator(".attn-picture").inner_html()
        page.locator("input[type=range]").nth(control).focus()
        page.keyboard.press(key)
        page.wait_for_function("words => document.querySelector('.attn-live').textContent.includes(words)", arg=words)
        assert page.locator(".attn-picture").inner_html() != before
        assert page.evaluate("document.activeElement.type") == "range"  # the focus stays


def test_the_kind_is_chosen_by_keys_and_drawn_thick(browser):
    with shown(browser, StreamLab(scale=0.5)) as page:
        page.locator("input[type=radio]:checked").focus()
        page.keyboard.press("ArrowLeft")
        page.wait_for_function("document.querySelector('.attn-live').textContent.includes('it has vanished')")
        thick = page.locator("[data-kind=none]").first.evaluate("(n) => getComputedStyle(n).strokeWidth")
        assert thick == "3px"


def test_no_residual_explodes_at_a_large_scale(browser):
    with shown(browser, StreamLab(kind="none", scale=2.0)) as page:
        assert "it has exploded" in said(page)


def test_a_new_sample_and_reset(browser):
    with shown(browser, StreamLab()) as page:
        first = said(page)
        page.get_by_role("button", name="New sample").press("Enter")
        page.wait_for_function("old => document.querySelector('.attn-live').textContent !== old", arg=first)
        page.locator(".attn-reset").press("Enter")
        page.wait_for_function("old => document.querySelector('.attn-live').textContent === old", arg=first)


def test_chinese_page_speaks_chinese(browser):
    with shown(browser, StreamLab(), language="zh") as page:
        assert "前置归一化" in said(page)
        words = page.locator(".attn-lab").inner_text()
        assert not any(c.isascii() and c.isalpha() for c in words)


@pytest.mark.parametrize("state", [{}, {"depth": 1}, {"depth": 40, "kind": "none", "scale": 1.6}])
def test_static_and_live_picture_draw_the_same_paths(browser, state):
    paths = "[...document.querySelectorAll('main svg path')].map((n) => (n.getAttribute('d') || '').match(/-?[\\d.]+/g).map(Number))"
    with shown(browser, StreamLab(**state)) as page, shown(browser, StreamLab(**state), js=False) as still:
        live, drawn = page.evaluate(paths), still.evaluate(paths)
        assert len(live) == len(drawn) > 10
        for one, two in zip(live, drawn, strict=True):
            assert one == pytest.approx(two, abs=0.11)


@pytest.mark.parametrize("width", [320, 375, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_accessible_and_inside_the_page(browser, width, dark):
    with shown(browser, StreamLab(), width=width, dark=dark) as page:
        found = Axe().run(page).response["violations"]
        assert not found, [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for box in map(lambda n: n.bounding_box(), page.locator("input, button").all()):
            assert box["height"] >= 24 and box["width"] >= 24
        small = page.evaluate("""[...document.querySelectorAll('.attn-picture text')].map((t) =>
            parseFloat(getComputedStyle(t).fontSize) * t.ownerSVGElement.getScreenCTM().a)""")
        assert min(small) >= 9
