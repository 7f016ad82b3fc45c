"""The ledger's filter: by section, verdict and words, by keyboard, in both languages; without JavaScript the whole list."""

import pytest

import _site

EDITIONS = [edition for edition in ("en", "zh") if "ledger" in _site.page_names(edition)]
WORDS = {"en": {"wrong": "wrong (27)", "said": "27 of 200 claims shown.", "text": "Text", "section": "Section"},
         "zh": {"wrong": "错误 (27)", "said": "显示 200 条说法中的 27 条。", "text": "文字", "section": "小节"}}


@pytest.fixture(params=EDITIONS)
def edition(request):
    return request.param


@pytest.fixture
def opened(new_page, site, edition):
    def open_page(tail="", **options):
        page = new_page(**options)
        page.goto(f"{site}{edition}/ledger.html{tail}")
        return page
    return open_page


def shown(page):
    return page.locator(".attn-entry:visible").count()


def test_without_javascript_the_list_is_complete_and_unfolds(opened):
    page = opened(js=False)
    assert shown(page) == 200 and page.locator(".attn-ledger-filter").count() == 0
    first = page.locator(".attn-entry").first
    assert not first.locator(".attn-entry-body").is_visible()
    first.locator("summary").click()
    assert first.locator(".attn-entry-body").is_visible()


def test_it_filters_by_verdict_section_and_words(opened, edition):
    page, words = opened(), WORDS[edition]
    status = page.get_by_role("status")
    for box in page.get_by_role("checkbox").all():
        if box.get_attribute("value") != "wrong":
            box.uncheck()
    assert shown(page) == 27 and status.inner_text() == words["said"]
    assert page.get_by_role("checkbox", name=words["wrong"]).is_checked()
    page.get_by_label(words["section"]).select_option("2.2")
    sections = page.eval_on_selector_all(".attn-ledger-section:not([hidden])", "all => all.map(s => s.dataset.section)")
    assert sections and all(section.startswith("2.2") for section in sections)
    page.get_by_label(words["text"]).fill("no such words")
    assert shown(page) == 0 and page.locator(".attn-ledger h3:visible").count() == 0


def test_the_keyboard_reaches_and_works_every_control(opened):
    page = opened()
    page.locator(".attn-ledger-filter input[type=search]").focus()
    page.keyboard.type("softmax")
    some = shown(page)
    assert 0 < some < 200
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert shown(page) < some  # the first section alone
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # unfold what is shown
    assert page.locator(".attn-entry[open]").count() == shown(page) > 0
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # show all
    assert shown(page) == 200
    page.keyboard.press("Tab")
    page.keyboard.press("Space")  # the first verdict
    assert shown(page) == 200 - 34


def test_controls_are_large_enough_to_touch(opened):
    sizes = opened(width=320).eval_on_selector_all(
        ".attn-ledger-filter :is(select, button, input[type=search], fieldset label), .attn-entry > summary",
        "all => all.map(e => [e.getBoundingClientRect().width, e.getBoundingClientRect().height])")
    assert sizes and all(width >= 24 and height >= 24 for width, height in sizes)


def test_a_link_to_a_claim_finds_it_folded_or_filtered(opened):
    page = opened("#claim-2.4-a")
    entry = page.locator(".attn-entry", has=page.locator("[id='claim-2.4-a']"))
    assert entry.get_attribute("open") is not None
    page.locator(".attn-ledger-filter input[type=search]").fill("no such words")
    assert not entry.is_visible()
    page.evaluate("location.hash = ''")
    page.evaluate("location.hash = 'claim-2.4-a'")
    page.wait_for_function("document.querySelectorAll('.attn-entry:not([hidden])').length === 200")
    assert entry.locator(".attn-entry-body").is_visible()


def test_an_address_can_ask_for_a_filter(opened):
    page = opened("?verdict=wrong,unsupported&section=2.6&text=percent")
    verdicts = page.eval_on_selector_all(".attn-entry:not([hidden])", "all => all.map(e => e.dataset.verdict)")
    assert set(verdicts) <= {"wrong", "unsupported"} and shown(page) < 10


def test_words_of_the_other_language_are_not_searched(opened, edition):
    if edition == "en":
        page = opened()
        page.locator(".attn-ledger-filter input[type=search]").fill("注意力")
        assert shown(page) == 0


def test_a_card_and_its_entry_lead_to_each_other(opened, site, edition):
    page = opened("#claim-2.1-a")
    page.locator("[id='claim-2.1-a'] a[href*='chapters/']:visible").first.click()
    page.wait_for_url("**/chapters/01_routing.html#claim-2.1-a")
    page.locator("[id='claim-2.1-a'] .attn-claim-verdict a:visible").click()
    page.wait_for_url(f"{site}{edition}/ledger.html#claim-2.1-a")
    assert page.locator("[id='claim-2.1-a']").is_visible()
