"""CostLab and PatternLab in Chromium: equal to Python, moved by keys and pointer, readable, inside the page."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from widget_harness import module, shown

from attnbook.widgets import CostLab, PatternLab, cost, pattern

LABS = {"cost": CostLab, "pattern": PatternLab}


def said(page):
    return page.locator(".attn-live").inner_text()


def texts(page):
    return page.locator("main svg text").evaluate_all("nodes => nodes.filter(n => n.textContent).map(n => n.textContent)")


def until(page, words):
    page.wait_for_function("words => document.querySelector('.attn-live').textContent.includes(words)", arg=words)


def test_the_bill_equals_python(browser):
    with shown(browser, CostLab()) as page:
        module(page, CostLab._esm)
        grid = [[n, w, b, r, rate] for n in (100, 4642, 10**7) for w in (16, 65536) for b in (16, 1024) for r in (1, 512)
                for rate in cost.RATES]
        theirs = page.evaluate("""grid => grid.map((state) => { const found = lab.bill(...state);
            return [found, Object.fromEntries(Object.entries(found).map(([name, [time, size]]) => [name,
                [lab.inWords(time, "time"), lab.inWords(size, "size"), lab.placeOf(time, "time"), lab.placeOf(size, "size")]]))]; })""", grid)
        for state, (found, words) in zip(grid, theirs, strict=True):
            for name, (time, size) in cost.bill(*state).items():
                assert found[name] == pytest.approx([time, size], rel=1e-9)
                assert words[name][:2] == [cost.in_words(time, cost.TIMES)[0], cost.in_words(size, cost.SIZES)[0]]
                assert words[name][2:] == pytest.approx([cost.place(time, "time"), cost.place(size, "size")], abs=1e-6)


def test_patterns_equal_python(browser):
    with shown(browser, PatternLab()) as page:
        module(page, PatternLab._esm)
        grid = [[name, width, order] for name in pattern.NAMES for width in (1, 3, 4, 12) for order in pattern.ORDERS]
        theirs = page.evaluate("""grid => grid.map(([name, width, order]) => { const m = lab.maskOf(name, width, order);
            return [m, lab.edgesOf(m), lab.reachOf(m, 17, 4), lab.hopsOf(m, order)]; })""", grid)
        for (name, width, order), got in zip(grid, theirs, strict=True):
            mask = pattern.mask_of(name, width, order)
            assert got == [mask, pattern.edges_of(mask), pattern.reach_of(mask, 17, 4), pattern.hops_of(mask, order)]


def test_cost_lab_by_keyboard(browser):
    with shown(browser, CostLab()) as page:
        start = said(page)
        assert "the matrix takes 2.00 TB, tiles hold 2.03 MB" in start
        page.get_by_role("slider", name="tokens n").press("Home")
        until(page, "100 tokens, one head: the matrix takes 20.0 kB")
        page.get_by_role("slider", name="tokens n").press("End")
        until(page, "the matrix takes 200 TB")
        page.get_by_role("slider", name="window", exact=True).press("End")
        until(page, "A window of 65536")
        page.get_by_role("slider", name="tile", exact=True).press("End")
        until(page, "tiles hold 22.1 MB")
        page.get_by_role("slider", name="workers in the ring").press("Home")
        until(page, "a ring of 1,")
        page.get_by_role("radio", name="an accelerator, 10¹⁴").check()
        until(page, "Both take 2.13 min")
        page.locator(".attn-reset").press("Enter")
        page.wait_for_function("start => document.querySelector('.attn-live').textContent === start", arg=start)


def test_pattern_lab_by_keyboard_and_pointer(browser):
    with shown(browser, PatternLab()) as page:
        start = said(page)
        assert "Every pair is joined after 8 layers" in start
        page.get_by_role("radio", name="window + 1 global token").check()
        page.get_by_role("radio", name="both ways").check()
        until(page, "joined after 2 layers")
        page.get_by_role("radio", name="causal", exact=True).check()
        until(page, "joined after 8 layers")
        page.get_by_role("slider", name="window and stride").press("Home")
        until(page, "Some pairs are never joined")
        page.get_by_role("slider", name="row").focus()
        page.keyboard.press("ArrowUp")
        until(page, "Token 23 hears")
        page.keyboard.press("Shift+ArrowUp")
        until(page, "Token 18 hears")
        page.keyboard.press("ArrowDown")
        until(page, "Token 19 hears")
        box = page.locator(".attn-picture svg").first.bounding_box()
        page.mouse.click(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * (26 + 12 * 4.5) / 322)
        until(page, "Token 5 hears")
        page.locator(".attn-reset").press("Enter")
        page.wait_for_function("start => document.querySelector('.attn-live').textContent === start", arg=start)


def test_chinese_pages_speak_chinese(browser):
    with shown(browser, CostLab(), language="zh") as page:
        assert "矩阵要占 2.00 TB" in said(page) and page.get_by_role("slider", name="词元数 n").count() == 1
    with shown(browser, PatternLab(), language="zh") as page:
        assert "经过 8 层" in said(page) and page.get_by_role("radio", name="窗口 + 1 个全局词元").count() == 1


@pytest.mark.parametrize("one", [CostLab(), CostLab(n=2000, rate="accelerator"), PatternLab(),
                                 PatternLab(pattern="strided", order="both", row=3)], ids=repr)
def test_static_and_live_picture_say_the_same(browser, one):
    with shown(browser, one) as page, shown(browser, one, js=False) as still:
        live = texts(page)
        drawn = [t for t in texts(still) if not any("\u4e00" <= c <= "\u9fff" for c in t)]
        shared = [t for t in drawn if t in live]
        assert sorted(set(live)) == sorted(set(shared)) and len(live) > 10
        assert said(page) == type(one).caption(one)[0]


@pytest.mark.parametrize("name", LABS)
@pytest.mark.parametrize("width", [320, 375, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_accessible_and_inside_the_page(browser, name, width, dark):
    with shown(browser, LABS[name](), width=width, dark=dark) as page:
        found = Axe().run(page).response["violations"]
        assert not found, [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for box in map(lambda n: n.bounding_box(), page.locator("input, button, .attn-handle").all()):
            assert box["height"] >= 24 and box["width"] >= 24
        small = page.evaluate("""[...document.querySelectorAll('.attn-picture text')].map((t) =>
            parseFloat(getComputedStyle(t).fontSize) * t.ownerSVGElement.getScreenCTM().a)""")
        assert min(small) >= 9
