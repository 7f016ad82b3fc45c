"""Two editions side by side: tags, links both ways, and no English words left in the frame of a Chinese page."""

import re

import pytest

import _site

BOTH = sorted(set(_site.page_names("en")) & set(_site.page_names("zh")))
TAGS = {"en": "en", "zh": "zh-CN"}
# Names, file types and keys; all other Latin words around the text of a Chinese page are forgotten translations.
NAMES = {"attnbook", "MIT", "CC", "BY", "English", "Binder", "Colab", "GitHub", "Ctrl",
         "ipynb", "pdf", "PDF", "md", "html"}
FRAME_WORDS = """() => {
  const out = [];
  const article = document.querySelector(".bd-article");
  const toc = ".bd-links, .page-toc, .prev-next-area, #pst-page-toc-nav";  // titles of pages: the catalogues' business
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; (n = walker.nextNode());) {
    const e = n.parentElement;
    if (article?.contains(e) || e.closest(toc) || e.closest("script, style, noscript, [lang=en], .attn-lang")) continue;
    out.push(n.textContent);
  }
  const said = ["title", "aria-label", "placeholder", "alt", "data-bs-title", "data-bs-original-title", "data-tooltip"];
  const foreign = "[lang=en], a[href*='references.html#'], .attn-figure-box, .attn-widget";  // checked elsewhere
  for (const e of document.querySelectorAll("body *"))
    for (const name of said) if (e.hasAttribute(name) && !e.closest(foreign)) out.push(e.getAttribute(name));
  const titles = ":is(.exercise, .solution, .hide, .note:not(.admonition-note)) > .admonition-title";
  for (const e of document.querySelectorAll(`.bd-article ${titles}`)) out.push(e.innerText.split(/[(（]/)[0]);
  return out;
}"""
WRONG_LANGUAGE = """([other, own]) => {
  const say = e => e.textContent.trim().slice(0, 60), all = name => [...document.querySelectorAll(name)];
  return [...all(`.lang-${other}`).filter(e => e.checkVisibility()).map(e => "shown: " + say(e)),
          ...all(`.lang-${own}`).filter(e => getComputedStyle(e).display === "none").map(e => "hidden: " + say(e))];
}"""


@pytest.mark.parametrize("edition", TAGS)
def test_pages_say_their_language(new_page, site, edition):
    page = new_page(js=False)
    for name in _site.page_names(edition):
        page.goto(f"{site}{edition}/{name}.html")
        assert page.locator("html").get_attribute("lang") == TAGS[edition], name


@pytest.mark.parametrize("name", BOTH)
def test_a_page_and_its_counterpart_link_to_each_other(new_page, site, name):
    page = new_page(js=False)
    for here, there in (("en", "zh"), ("zh", "en")):
        page.goto(f"{site}{here}/{name}.html")
        links = page.locator(".attn-lang a").all()
        assert [link.get_attribute("hreflang") for link in links] == [TAGS[there]]
        assert links[0].evaluate("a => a.href") == f"{site}{there}/{name}.html"
        tags = dict(page.eval_on_selector_all("link[hreflang]", "all => all.map(l => [l.hreflang, l.href])"))
        assert tags == {tag: f"{site}{edition}/{name}.html" for edition, tag in TAGS.items()}


def test_a_page_without_counterpart_offers_none(new_page, site):
    page = new_page(js=False)
    for name in set(_site.page_names("en")) - set(BOTH):
        page.goto(f"{site}en/{name}.html")
        assert page.locator(".attn-lang a, link[hreflang]").count() == 0, name


def test_a_phone_shows_one_language_name(new_page, site):
    page = new_page(width=375)
    page.goto(site + "en/notation.html")
    assert [e.inner_text() for e in page.locator(".attn-lang > *").all() if e.is_visible()] == ["简体中文"]


@pytest.mark.parametrize("name", [*_site.page_names("zh"), "search", "genindex"])
def test_chinese_pages_have_a_chinese_frame(new_page, site, name):
    page = new_page()
    page.goto(f"{site}zh/{name}.html")
    page.wait_for_function("document.readyState === 'complete'")
    said = page.evaluate(FRAME_WORDS)
    left = {text.strip() for text in said if set(re.findall(r"[A-Za-z]{2,}", text)) - NAMES}
    assert not left, sorted(left)


@pytest.mark.parametrize("edition", TAGS)
def test_text_in_both_languages_shows_one(new_page, site, edition):
    """Cards, quizzes and pictures hold both; a page shows its own."""
    page = new_page(js=False)
    other = {"en": "zh", "zh": "en"}[edition]
    for name in _site.page_names(edition):
        page.goto(f"{site}{edition}/{name}.html")
        page_faults = page.evaluate(WRONG_LANGUAGE, [other, edition])
        assert not page_faults, f"{name}: {page_faults}"
