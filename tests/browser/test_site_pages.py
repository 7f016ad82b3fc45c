"""Every page of both editions: accessible, complete, nothing sideways. A failing test lists all that is wrong."""

import pytest

import _site
from _soundness import PAGES, faults

EXPECTED = {
    "en": {"index", "prerequisites", "notation", "glossary", "references", "api", "chapters/01_routing"},
    "zh": {"index", "notation", "glossary", "references", "chapters/01_routing"},
}


@pytest.mark.parametrize("edition", EXPECTED)
def test_edition_has_its_pages(edition):
    missing = EXPECTED[edition] - set(_site.page_names(edition))
    assert not missing, f"{edition} lacks {sorted(missing)}"


@pytest.mark.parametrize("path", PAGES)
def test_page_is_sound(new_page, site, path):
    found = faults(new_page(), site + path)
    assert not found, "\n".join(found)


def test_first_page_of_the_site_leads_to_an_edition(new_page, site):
    page = new_page()
    page.goto(site)
    page.wait_for_url(site + "en/index.html")
