"""SoftmaxLab in Chromium: equal to Python, moved by keys, pointer and buttons, readable, quick."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from widget_harness import module, shown

from attnbook.widgets import SoftmaxLab
from attnbook.widgets import softmax as lab

ROWS = [[2.0, 1.0, 0.1, -0.5, -1.5], [1.0, 0.9, 0.8], [4.0, -4.0], [0.0, 0.0, 0.0, 0.0]]


def said(page):
    return page.locator(".attn-live").inner_text()


def texts(page):
    return page.locator("main svg text").evaluate_all("nodes => nodes.filter(n => n.textContent).map(n => n.textContent)")


def until(page, words):
    page.wait_for_function("words => document.querySelector('.attn-live').textContent.includes(words)", arg=words)


def test_arithmetic_equals_python(browser):
    with shown(browser, SoftmaxLab()) as page:
        module(page, SoftmaxLab._esm)
        grid = [[row, T, change] for row in ROWS for T in (0.05, 0.2, 0.7, 1.0, 1.5, 10.0) for change in lab.CHANGES]
        theirs = page.evaluate("""grid => grid.map(([row, T, change]) => {
            const x = lab.changed(row, change), p = lab.softmax(x, T), J = lab.jacobian(p, T);
            return [...x, ...p, ...J.flat(), lab.entropyOf(p), lab.normOf(J), lab.argmax(x)];
        })""", grid)
        for (row, T, change), got in zip(grid, theirs, strict=True):
            x = lab.changed(row, change)
            p = lab.shares(x, T)
            J = lab.jacobian(p, T)
            mine = [*x, *p, *sum(J, []), lab.entropy_of(p), lab.norm_of(J), x.index(max(x))]
            assert got == pytest.approx(mine, abs=1e-6)


def test_the_first_state_shows_the_point_and_the_surprise_follows(browser):
    with shown(browser, SoftmaxLab()) as page:
        before = said(page)
        assert "Largest share 0.614 (score 1)" in before and "of 5 were in play" in before
        page.get_by_role("radio", name="+ 100", exact=True).check()
        until(page, "changed nothing")
        assert said(page).startswith(before) and "102" in texts(page)
        page.get_by_role("radio", name="× 2", exact=True).check()
        until(page, "all gaps have doubled")
        assert "Largest share 0.614" not in said(page)


def test_handles_move_by_keys_and_pointer_and_reset_restores(browser):
    with shown(browser, SoftmaxLab()) as page:
        start = said(page)
        handles = page.locator(".attn-handle")
        assert handles.count() == 5
        handles.nth(1).focus()
        page.keyboard.press("Shift+ArrowUp")
        page.keyboard.press("ArrowUp")
        page.wait_for_function("document.querySelectorAll('.attn-handle')[1].getAttribute('aria-valuenow') === '1.6'")
        box = handles.nth(4).bounding_box()
        assert min(box["width"], box["height"]) >= 24
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x, y - 90, steps=4)
        page.mouse.up()
        until(page, "(score 5)")
        page.locator(".attn-reset").press("Enter")
        page.wait_for_function("start => document.querySelector('.attn-live').textContent === start", arg=start)


def test_temperature_and_presets(browser):
    with shown(browser, SoftmaxLab()) as page:
        page.get_by_role("button", name="2, 1, 0.1", exact=True).click()
        until(page, "of 3 were in play")
        for mark, largest in (("0.7", "0.766"), ("1.5", "0.557"), ("0.2", "0.993")):  # the rows of the source's table
            page.get_by_role("radio", name=mark, exact=True).check()
            until(page, f"Largest share {largest}")
            assert page.locator(".attn-slider output").inner_text() == f"{mark}0"
        page.get_by_role("button", name="1, 0.9, 0.8", exact=True).click()
        until(page, "Largest share 0.506")
        page.locator("input[type=range]").press("Home")
        until(page, "Largest share 0.8")
        assert page.locator(".attn-slider output").inner_text() == "0.05"
        page.locator("input[type=range]").press("End")
        until(page, "Largest share 0.337")
        page.get_by_role("button", name="1, 2, 3", exact=True).click()
        page.get_by_role("radio", name="1.0", exact=True).check()
        page.get_by_role("radio", name="× 100", exact=True).check()
        until(page, "Largest share 1.000")
        assert "NaN" not in page.locator(".attn-lab").inner_text() and "300" in texts(page)


def test_chinese_page_speaks_chinese(browser):
    with shown(browser, SoftmaxLab(change="plus"), language="zh") as page:
        assert "什么也没变" in said(page) and "最大份额 0.614（分数 1）" in said(page)
        assert page.get_by_role("slider", name="分数 3").count() == 1


@pytest.mark.parametrize("state", [{}, {"logits": [1.0, 2.0, 3.0], "change": "ten"}, {"temperature": 0.2}])
def test_static_and_live_picture_say_the_same(browser, state):
    one = SoftmaxLab(**state)
    with shown(browser, one) as page, shown(browser, one, js=False) as still:
        live = texts(page)
        drawn = [t for t in texts(still) if not any("\u4e00" <= c <= "\u9fff" for c in t)]
        assert sorted(live) == sorted(drawn) and len(live) > 20


@pytest.mark.parametrize("width", [320, 375, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_accessible_and_inside_the_page(browser, width, dark):
    with shown(browser, SoftmaxLab(), width=width, dark=dark) as page:
        found = Axe().run(page).response["violations"]
        assert not found, [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for box in map(lambda n: n.bounding_box(), page.locator("input, button, .attn-handle").all()):
            assert box["height"] >= 24 and box["width"] >= 24
        small = page.evaluate("""[...document.querySelectorAll('.attn-picture text')].map((t) =>
            parseFloat(getComputedStyle(t).fontSize) * t.ownerSVGElement.getScreenCTM().a)""")
        assert min(small) >= 9
