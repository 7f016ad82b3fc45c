"""Questions in Chromium: every answer gets its own words, by mouse and keyboard, in both languages."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from attnbook.widgets import Quiz
from widget_harness import module, shown


def words(text):
    return {"en": text, "zh": f"中{text}"}


NO_NUMBER = "Write a number, for example 0.25, −3 or 1/4."
ONE = {"id": "one", "kind": "choice", "text": words("Which `shape`?"), "options": [
    {"text": words("square"), "right": False, "why": words("why not square")},
    {"text": words("round"), "right": True, "why": words("why round")},
    {"text": words("flat"), "right": False, "why": words("why not flat")}]}
SEVERAL = {"id": "several", "kind": "choice", "text": words("Which are even?"), "options": [
    {"text": words("two"), "right": True, "why": words("two is even")},
    {"text": words("three"), "right": False, "why": words("three is odd")},
    {"text": words("four"), "right": True, "why": words("four is even")}]}
NUMBER = {"id": "number", "kind": "number", "text": words("How much?"), "answer": 0.25, "tolerance": 0.01,
          "right": words("a quarter"), "otherwise": words("no idea"), "wrong": [
              {"value": 4, "why": words("upside down")}, {"value": 0.5, "tolerance": 0.1, "why": words("the root")},
              {"above": 10, "why": words("far too large")}, {"above": -2, "below": 0, "why": words("a bit negative")}]}
ORDER = {"id": "order", "kind": "order", "text": words("In which order?"), "right": words("well sorted"), "steps": [
    {"text": words("score")},
    {"text": words("scale"), "why": words("scale is too early")},
    {"text": words("softmax"), "why": words("softmax is too early")},
    {"text": words("mix"), "why": words("mix is too early")}]}


@pytest.fixture(scope="module")
def judge(browser):
    """judge(question, answer) -> (right, [words]) by the page's own function."""
    page = browser.new_page()
    module(page, Quiz._esm)

    def ask(question, answer):
        verdict = page.evaluate("([question, answer]) => lab.judge(question, answer)", [question, answer])
        return verdict["right"], [why["en"] for why in verdict["why"]]

    ask.page = page
    yield ask
    page.close()


def live(page):
    return page.locator("[aria-live=polite]").inner_text()


# -- the verdict --------------------------------------------------------------------------

@pytest.mark.parametrize("text, value", [
    ("0.25", .25), (" 0,25 ", .25), ("，25", .25), (".5", .5), ("1/4", .25), ("25 %", .25),
    ("−3", -3), ("－3", -3), ("+2", 2), ("1e-3", .001), ("", None), ("a", None),
    ("1/0x", None), ("1 2 3 a", None), ("--1", None), ("1/2/3", None), (".", None),
])
def test_numbers_are_read_as_readers_write_them(judge, text, value):
    read = judge.page.evaluate("text => lab.readNumber(text)", text)
    assert read != read if value is None else read == pytest.approx(value)


@pytest.mark.parametrize("chosen, right, why", [
    ([1], True, ["why round"]), ([0], False, ["why not square"]), ([2], False, ["why not flat"])])
def test_one_choice(judge, chosen, right, why):
    assert judge(ONE, chosen) == (right, why)


@pytest.mark.parametrize("chosen, right, why", [
    ([0, 2], True, ["two is even", "four is even"]),
    ([0, 1], False, ["three is odd"]),
    ([0, 1, 2], False, ["three is odd"]),
    ([2], False, ["four is even", "What you chose is right, but something is still missing."]),
    ([], None, ["Choose an answer first."])])
def test_several_choices(judge, chosen, right, why):
    assert judge(SEVERAL, chosen) == (right, why)


@pytest.mark.parametrize("text, right, why", [
    ("0.25", True, "a quarter"), ("0.26", True, "a quarter"), ("0,24", True, "a quarter"), ("0.27", False, "no idea"),
    ("4", False, "upside down"), ("4.005", False, "upside down"), ("0.45", False, "the root"),
    ("11", False, "far too large"), ("10", False, "no idea"), ("-1", False, "a bit negative"), ("-2", False, "no idea"),
    ("x", None, NO_NUMBER), ("1/0", False, "far too large")])
def test_number_with_named_mistakes(judge, text, right, why):
    assert judge(NUMBER, text) == (right, [why])


@pytest.mark.parametrize("order, right, why", [
    ([0, 1, 2, 3], True, "well sorted"), ([1, 0, 2, 3], False, "scale is too early"),
    ([0, 2, 1, 3], False, "softmax is too early"), ([3, 2, 1, 0], False, "mix is too early")])
def test_order_names_the_step_that_stands_too_early(judge, order, right, why):
    assert judge(ORDER, order) == (right, [why])


# -- the page -----------------------------------------------------------------------------

def test_choice_by_keyboard_with_a_reason_for_each_answer(browser):
    with shown(browser, Quiz(ONE)) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.keyboard.press("Enter")
        assert live(page) == "✗ Not yet. why not square"
        page.keyboard.press("ArrowDown")
        assert live(page) == ""
        page.keyboard.press("Enter")
        assert live(page) == "✓ Right. why round"
        page.get_by_role("button", name="Reset").click()
        assert live(page) == "" and page.locator("input:checked").count() == 0


def test_checking_nothing_asks_for_an_answer(browser):
    with shown(browser, Quiz(ONE), Quiz(NUMBER)) as page:
        for card in page.locator(".attn-lab").all():
            card.get_by_role("button", name="Check").click()
            assert card.locator("[aria-live]").inner_text() in ("Choose an answer first.", NO_NUMBER)
            assert not card.get_by_role("button", name="Show the answer").is_visible()


def test_several_choices_mark_what_was_ticked(browser):
    with shown(browser, Quiz(SEVERAL)) as page:
        page.get_by_label("two").check()
        page.get_by_label("three").check()
        page.get_by_role("button", name="Check").click()
        assert page.locator("[data-right=true]").count() == page.locator("[data-right=false]").count() == 1
        assert live(page) == "✗ Not yet. three is odd"


def test_number_and_its_answer(browser):
    with shown(browser, Quiz(NUMBER)) as page:
        field = page.get_by_label("How much?")
        field.fill("4")
        field.press("Enter")
        assert live(page) == "✗ Not yet. upside down" and field.get_attribute("aria-invalid") == "true"
        page.get_by_role("button", name="Show the answer").click()
        assert field.input_value() == "0.25" and live(page) == "✓ Right. a quarter"
        assert field.get_attribute("aria-invalid") is None


@pytest.mark.parametrize("answer, shown_as", [(16, "16"), (0.2, "0.2"), (-1.5, "−1.5"), (0, "0"), (1234567, "1234567")])
def test_the_shown_answer_is_one_the_question_takes(browser, answer, shown_as):
    with shown(browser, Quiz({**NUMBER, "answer": answer, "wrong": [{"value": 77, "why": words("x")}]})) as page:
        page.get_by_label("How much?").fill("77")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Show the answer").click()
        assert page.get_by_label("How much?").input_value() == shown_as and "Right" in live(page)


def test_order_by_keyboard_keeps_the_focus_and_says_the_place(browser):
    with shown(browser, Quiz(ORDER)) as page:
        assert page.locator("li > span").all_inner_texts() == ["scale", "mix", "score", "softmax"]
        page.get_by_role("button", name="Check").click()
        assert live(page) == "✗ Not yet. scale is too early"
        page.get_by_role("button", name="Earlier: score").focus()
        page.keyboard.press("Enter")
        assert live(page) == "Now at place 2 of 4."
        assert page.evaluate("document.activeElement.ariaLabel") == "Earlier: score"
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Later: mix").click()
        page.get_by_role("button", name="Check").click()
        assert live(page) == "✓ Right. well sorted"


def test_chinese_page_asks_and_answers_in_chinese(browser):
    with shown(browser, Quiz(ONE), language="zh-CN") as page:
        page.get_by_label("中flat").check()
        page.get_by_role("button", name="检查").click()
        assert live(page) == "✗ 还不对。中why not flat"
        assert page.locator(".attn-title").inner_text() == "问题：选一项"


def test_nothing_is_stored_or_sent(browser):
    with shown(browser, Quiz(NUMBER)) as page:
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.get_by_label("How much?").fill("4")
        page.keyboard.press("Enter")
        page.wait_for_timeout(100)
        assert not asked and page.url == "about:blank"
        assert not any(word in Quiz._esm for word in ("localStorage", "sessionStorage", "cookie", "fetch("))


def test_without_javascript_the_answer_unfolds(browser):
    with shown(browser, Quiz(ONE), js=False) as page:
        assert page.locator("main > .attn-static > ul li").all_inner_texts() == ["square", "round", "flat"]
        assert not page.get_by_text("why round", exact=True).is_visible()
        page.locator("summary").click()
        assert page.get_by_text("why round", exact=True).is_visible()


@pytest.mark.parametrize("dark", [False, True])
def test_no_accessibility_fault_before_and_after_an_answer(browser, dark):
    with shown(browser, Quiz(ONE), Quiz(SEVERAL), Quiz(NUMBER), Quiz(ORDER), dark=dark, width=375) as page:
        page.get_by_label("flat").check()
        for button in page.get_by_role("button", name="Check").all():
            button.click()
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_a_phone_shows_all_of_it(browser):
    with shown(browser, Quiz(ONE), Quiz(NUMBER), Quiz(ORDER), width=320) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        sizes = page.evaluate("""[...document.querySelectorAll("button, .attn-option")]
            .map((e) => e.getBoundingClientRect()).filter((b) => b.height).map((b) => Math.min(b.width, b.height))""")
        assert min(sizes) >= 24
