"""FormulaLab in Chromium: its arithmetic equals Python's, and everything can be moved by hand and by keyboard."""

import json
import math

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe

from attnbook.attention import attention
from attnbook.softmax import softmax
from attnbook.widgets import FormulaLab, _svg
from widget_harness import module, page_html, shown

NINE = [f"{role} of token {i}" for role in ("query", "key", "value") for i in (1, 2, 3)]


@pytest.fixture(scope="module")
def lab(browser):
    """A page with the lab's module as window.lab, for its pure functions."""
    page = browser.new_page()
    module(page, FormulaLab._esm)
    yield page
    page.close()


@pytest.fixture
def formula(browser):
    with shown(browser, FormulaLab()) as page:
        yield page


def drawing(page):
    """All that the reader sees of the pictures and the formula."""
    return "".join(part.evaluate("e => e.outerHTML") for part in page.locator(".attn-picture svg, .attn-formula").all())


def settle(page):
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


# -- arithmetic ---------------------------------------------------------------------------

def numbers(x):
    """A tensor as JSON text that keeps infinities."""
    return json.dumps([["-inf" if v == -math.inf else v for v in row] for row in x.tolist()])


def test_softmax_equals_pythons_on_a_grid(lab):
    gen = torch.Generator().manual_seed(0)
    rows = torch.cat([torch.randn(40, 5, generator=gen, dtype=torch.float64) * scale for scale in (0.1, 1, 10, 1000)])
    rows[::7, 2] = -math.inf
    rows[3] = -math.inf
    for temperature in (1.0, 0.05, 10.0):
        js = lab.evaluate("""([rows, t]) => JSON.parse(rows).map(
            (row) => lab.softmax(row.map((x) => (x === "-inf" ? -Infinity : x)), t))""", [numbers(rows), temperature])
        torch.testing.assert_close(torch.tensor(js, dtype=torch.float64), softmax(rows, temperature=temperature),
                                   rtol=0, atol=1e-6)


def test_every_stage_equals_pythons_on_a_grid(lab):
    gen = torch.Generator().manual_seed(1)
    for _ in range(30):
        q, k, v = (torch.rand(3, 2, generator=gen, dtype=torch.float64) * 6 - 3 for _ in range(3))
        output, weights = attention(q, k, v)
        js = lab.evaluate("([q, k, v]) => lab.attend(q, k, v)", [x.tolist() for x in (q, k, v)])
        stages = {"scores": q @ k.T, "scaled": q @ k.T / math.sqrt(2), "weights": weights, "output": output}
        for name, expected in stages.items():
            torch.testing.assert_close(torch.tensor(js[name], dtype=torch.float64), expected, rtol=0, atol=1e-6)


def test_numbers_are_written_as_in_python(lab):
    values = [s * m * 10.0 ** e for s in (1, -1) for m in (1, 1.2345, 5.018, 9.9961) for e in range(-7, 9)] + [0.0]
    assert lab.evaluate("xs => xs.map(x => lab.fmt(x))", values) == [_svg.fmt(x) for x in values]
    assert lab.evaluate("xs => xs.map(x => lab.fix(x))", values) == [_svg.fix(x) for x in values]
    assert lab.evaluate("[NaN, Infinity, -Infinity].map(x => lab.fmt(x))") == ["–", "∞", "−∞"]


# -- the hand -----------------------------------------------------------------------------

def test_first_state_already_answers(formula):
    said = formula.locator("[aria-live=polite]").inner_text()
    assert said.startswith("Weight of token 1 on token 3: 0.76; output (0.04, 1.55).")
    assert "NaN" not in formula.locator(".attn-lab").inner_text()


@pytest.mark.parametrize("key", ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"])
def test_each_handle_is_moved_by_arrow_keys(formula, key):
    for name in NINE:
        handle = formula.get_by_role("slider", name=name)
        handle.focus()
        settle(formula)
        before, words = drawing(formula), handle.get_attribute("aria-valuetext")
        formula.keyboard.press(key)
        settle(formula)
        assert drawing(formula) != before and handle.get_attribute("aria-valuetext") != words


def test_tab_reaches_handles_and_controls_in_reading_order(formula):
    names = []
    for _ in range(7):
        formula.keyboard.press("Tab")
        names.append(formula.locator(":focus").evaluate("e => e.ariaLabel || e.value || e.innerText"))
    assert names == ["query of token 1", "query of token 2", "query of token 3", "query", "0", "weights", "Reset"]


@pytest.mark.parametrize("legend, first, last", [
    ("Drag", "queries", "values"), ("Query of token", "1", "3"), ("Stage", "weights", "scaled")])
def test_each_choice_changes_the_picture_by_keyboard(formula, legend, first, last):
    group = formula.get_by_role("group", name=legend, exact=True)
    group.get_by_role("radio", name=first, exact=True).focus()
    before = drawing(formula)
    formula.keyboard.press("ArrowLeft")
    settle(formula)
    assert group.get_by_role("radio", name=last, exact=True).is_checked()
    assert drawing(formula) != before


def test_dragging_a_value_moves_the_output_but_no_weight(formula):
    weights = [formula.locator(".attn-strip text.mid").all_inner_texts()[i] for i in (2, 7, 12)]
    box = formula.get_by_role("slider", name="value of token 3").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    said = formula.locator("[aria-live=polite]").inner_text()
    formula.mouse.move(x, y)
    formula.mouse.down()
    formula.mouse.move(x - 40, y + 60, steps=5)
    formula.mouse.up()
    settle(formula)
    assert formula.locator("[aria-live=polite]").inner_text() != said
    assert [formula.locator(".attn-strip text.mid").all_inner_texts()[i] for i in (2, 7, 12)] == weights
    assert formula.get_by_role("radio", name="values").is_checked()


def test_a_finger_drags_too(browser):
    context = browser.new_context(viewport={"width": 375, "height": 900}, has_touch=True)
    page = context.new_page()
    page.set_content(page_html(FormulaLab()))
    page.wait_for_selector("[data-ready]")
    handle = page.get_by_role("slider", name="query of token 1")
    handle.scroll_into_view_if_needed()
    box, before = handle.bounding_box(), handle.get_attribute("aria-valuetext")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch = context.new_cdp_session(page)
    strokes = (("touchStart", [(0, 0)]), ("touchMove", [(10, 40)]), ("touchMove", [(20, 60)]), ("touchEnd", []))
    for kind, points in strokes:
        at = [{"x": x + dx, "y": y + dy} for dx, dy in points]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})
    assert handle.get_attribute("aria-valuetext") != before
    context.close()


def test_the_output_never_leaves_the_triangle_of_the_values(lab):
    q, k, v = torch.rand(3, 200, 3, 2, generator=torch.Generator().manual_seed(2), dtype=torch.float64) * 6 - 3
    output = lab.evaluate("([q, k, v]) => q.map((x, n) => lab.attend(x, k[n], v[n]).output)",
                          [x.tolist() for x in (q, k, v)])
    one = torch.ones(200, 1, 3, dtype=torch.float64)
    corners = torch.cat([v.transpose(1, 2), one], 1)  # columns: x, y, 1 of each value
    points = torch.cat([torch.tensor(output, dtype=torch.float64).transpose(1, 2), one], 1)
    shares = torch.linalg.solve(corners, points)  # of each corner in each point; they sum to 1
    assert shares.min() > -1e-6


def test_vectors_stay_in_the_plane_and_shift_takes_long_steps(formula):
    handle = formula.get_by_role("slider", name="query of token 1")
    handle.focus()
    formula.keyboard.press("Shift+ArrowRight")
    assert handle.get_attribute("aria-valuetext") == "(1.40, 0.90)"
    for _ in range(10):
        formula.keyboard.press("Shift+ArrowUp")
    assert handle.get_attribute("aria-valuetext") == "(1.40, 3.00)"


def test_reset_restores_the_first_state(formula):
    before = drawing(formula)
    formula.get_by_role("slider", name="query of token 2").focus()
    formula.keyboard.press("ArrowRight")
    formula.get_by_role("radio", name="scores").check()
    settle(formula)
    assert drawing(formula) != before
    formula.get_by_role("button", name="Reset").click()
    settle(formula)
    assert drawing(formula) == before


def test_each_stage_lights_its_part_of_the_formula(formula):
    for stage, part in (("scores", "Q Kᵀ"), ("scaled", "/ √dₖ"), ("weights", "softmax( )"), ("output", "V")):
        formula.get_by_role("radio", name=stage).check()
        settle(formula)
        assert " ".join(t.strip() for t in formula.locator(".attn-part[data-lit]").all_inner_texts()) == part
        assert formula.locator(".attn-stage[data-lit]").count() == 1


def test_vectors_of_length_zero_and_equal_keys_give_numbers(browser):
    zero = [[0.0, 0.0]] * 3
    with shown(browser, FormulaLab(q=zero, k=zero, v=zero)) as page:
        assert "0.33" in page.locator("[aria-live=polite]").inner_text()
        assert "NaN" not in page.content().split("</main>")[0]


# -- the page -----------------------------------------------------------------------------

def test_many_moves_within_a_frame_are_drawn_once(formula):
    drawn = formula.evaluate("""async () => {
        const live = document.querySelector("[aria-live=polite]"), seen = [];
        new MutationObserver((changes) => seen.push(changes.length)).observe(live, { childList: true });
        const handle = document.querySelector(".attn-handle");
        for (let i = 0; i < 8; i++) handle.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp" }));
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        return seen;
    }""")
    assert drawn == [1]


def test_a_phone_shows_all_of_it_with_targets_for_a_thumb(browser):
    with shown(browser, FormulaLab(), width=320) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        sizes = page.evaluate("""[...document.querySelectorAll('.attn-target, .attn-choice label, button')]
            .map(e => e.getBoundingClientRect()).map(b => Math.min(b.width, b.height))""")
        assert min(sizes) >= 24
        inside = page.evaluate("""[...document.querySelectorAll('.attn-strip text')].every(t => {
            const a = t.getBoundingClientRect(), b = t.ownerSVGElement.getBoundingClientRect();
            return a.left >= b.left - 1 && a.right <= b.right + 1; })""")
        assert inside


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_no_accessibility_fault(browser, dark, language):
    with shown(browser, FormulaLab(), dark=dark, language=language) as page:
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


def test_chinese_page_speaks_chinese(browser):
    with shown(browser, FormulaLab(), language="zh-CN") as page:
        assert page.get_by_role("slider", name="词元 1 的查询").count() == 1
        assert page.locator("[aria-live=polite]").inner_text().startswith("词元 1 对词元 3 的权重：0.76")
        words = page.locator(".attn-lab").inner_text()
        assert not [w for w in ("Try", "Reset", "scores", "output", "Drag") if w in words]


@pytest.mark.parametrize("language, words, others", [
    ("en", "The whole formula", "三个词元"), ("zh-CN", "三个词元", "The whole formula")])
def test_without_javascript_the_picture_stays_in_the_language_of_the_page(browser, language, words, others):
    with shown(browser, FormulaLab(), language=language, js=False) as page:
        assert page.locator(".attn-static svg").count() == 2
        text = page.locator("main").inner_text()
        assert words in text and others not in text
        assert page.get_by_role("img", name="0.76").count() == 1


def test_two_labs_on_a_page_do_not_disturb_each_other(browser):
    with shown(browser, FormulaLab(), FormulaLab(row=2)) as page:
        first, second = page.locator(".attn-lab").nth(0), page.locator(".attn-lab").nth(1)
        first.get_by_role("radio", name="scores").check()
        settle(page)
        assert second.get_by_role("radio", name="weights").is_checked()
        assert second.get_by_role("radio", name="3", exact=True).is_checked()


def test_reader_who_wants_less_motion_gets_none(formula):
    moving = formula.evaluate("""[...document.querySelectorAll(".attn-lab, .attn-lab *")]
        .map((e) => getComputedStyle(e))
        .filter((style) => parseFloat(style.transitionDuration) > 0.01 || style.animationName !== "none").length""")
    assert moving == 0
