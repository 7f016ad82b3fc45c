"""Folded parts: solutions are closed on load, open by key, stay reachable without JavaScript, and are open on paper."""

import _site

SOLUTIONS = ".bd-article .solution"
TEXT = (".bd-article :is(p, li, pre, td, figcaption, .math, svg)"
        ":not(.lang-en, .lang-zh, :is(.lang-en, .lang-zh, mjx-container, button, .headerlink) *)"
        ":not(:is(.attn-widget, .attn-static) *)")
SEEN = "all => all.filter(e => e.checkVisibility()).map(e => e.className)"
UNSEEN = "all => all.filter(e => !e.checkVisibility()).map(e => e.textContent.trim().slice(0, 60))"


def test_site_has_chapters():
    assert _site.chapters()


def test_solutions_are_closed_and_have_one_switch(chapter):
    path, page = chapter
    solutions = page.locator(SOLUTIONS).all()
    assert solutions, f"{path} has no solution"
    for solution in solutions:
        assert solution.evaluate("e => e.tagName") == "DETAILS", f"{path}: a solution in plain sight"
        assert solution.get_attribute("open") is None
        assert solution.locator(":scope > summary").count() == 1
        assert solution.locator("button.toggle-button").count() == 0
        inside = solution.locator(":scope > :not(summary)")
        assert inside.count() > 0 and not any(part.is_visible() for part in inside.all())


def test_a_key_opens_and_closes_a_solution(chapter):
    _, page = chapter
    solution = page.locator(SOLUTIONS).first
    solution.locator("summary").focus()
    for key, visible in (("Enter", True), ("Enter", False), ("Space", True), ("Space", False)):
        page.keyboard.press(key)
        assert solution.locator(":scope > :not(summary)").first.is_visible() == visible


def test_every_class_that_folds_does_fold(chapter):
    _, page = chapter
    plain = page.locator(".bd-article .dropdown:not(details):not(.sd-dropdown)")
    assert plain.count() == 0, plain.first.inner_text()[:80]


def test_paper_shows_all_text_and_no_furniture(chapter):
    furniture = (".bd-sidebar-primary, .bd-sidebar-secondary, .bd-header-article, .prev-next-footer, .skip-link,"
                 " .copybtn, .attn-lang, .attn-controls")
    _, page = chapter
    page.emulate_media(media="print")
    try:
        assert not page.eval_on_selector_all(TEXT, UNSEEN)
        assert not page.eval_on_selector_all(furniture, SEEN)
        assert page.locator("h1").filter(visible=True).count() == 1
    finally:
        page.emulate_media(media="screen")


def test_a_chapter_prints(new_page, site):
    page = new_page()
    page.goto(site + _site.chapters()[0])
    _site.settle(page)
    assert len(page.pdf()) > 50_000
