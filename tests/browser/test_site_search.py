"""Search in the built pages, in both languages, also for phrases that no word list holds."""

import pytest

QUERIES = [
    ("en", "vanishing gradient", "chapters/01_routing"), ("en", "masking", None), ("en", "softmax", None),
    ("zh", "注意力", "chapters/01_routing"), ("zh", "指代消解", "chapters/01_routing"), ("zh", "掩码", None),
    ("zh", "注意力权重", None), ("zh", "梯度消失", "chapters/01_routing"), ("zh", "softmax", None),
]


@pytest.mark.parametrize(("edition", "query", "expected"), QUERIES, ids=[query for _, query, _ in QUERIES])
def test_search_answers(new_page, site, edition, query, expected):
    """At least one page is found; where one is expected, it is among the first three."""
    page = new_page()
    page.goto(f"{site}{edition}/search.html?q={query}")
    page.wait_for_selector("#search-results ul.search li a", timeout=5000)
    page.wait_for_function("!document.querySelector('#search-progress')?.textContent.endsWith('...')")
    hits = [a.get_attribute("href") for a in page.locator("#search-results ul.search li > a").all()]
    first = list(dict.fromkeys(hit.split("?")[0].split("#")[0] for hit in hits))[:3]
    assert expected is None or any(hit.endswith(f"{expected}.html") for hit in first), first


def test_search_opens_from_any_page_and_takes_the_query(new_page, site):
    page = new_page()
    page.goto(site + "zh/chapters/01_routing.html")
    page.keyboard.press("Control+k")
    box = page.locator("#pst-search-dialog input[type=search]")
    box.fill("指代消解")
    box.press("Enter")
    page.wait_for_url("**/search.html?q=*")
    page.wait_for_selector("#search-results ul.search li a")


def test_chinese_index_holds_chinese(new_page, site):
    page = new_page()
    page.goto(site + "zh/search.html?q=x")
    page.wait_for_function("Search._index != null")
    terms = page.evaluate("Object.keys(Search._index.terms).filter(t => /[\\u3400-\\u9fff]/.test(t)).length")
    assert terms > 500, f"{terms} Chinese terms"
