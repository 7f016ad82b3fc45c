"""Every page in dark colours; a file of its own, so that two workers share the pages."""

import pytest

from _soundness import PAGES, faults


@pytest.mark.parametrize("path", PAGES)
def test_dark_page_is_sound(new_page, site, path):
    page = new_page(dark=True)
    found = faults(page, site + path, dark=True)
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert not found, "\n".join(found)
