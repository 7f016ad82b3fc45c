"""Every page of both editions: accessible, complete, nothing sideways. A failing test lists all that is wrong."""

import pytest

import _site
from _soundness import PAGES, faults

FRONT = {"index", "prerequisites", "notation", "glossary", "references", "ledger"}
CHAPTERS = {"01_routing", "02_qkv", "03_scaling", "04_softmax", "05_residual", "06_positions", "07_thought_experiments",
            "08_summary"}
EXPECTED = {"en": FRONT | {"api"} | {f"chapters/{name}" for name in CHAPTERS}, "zh": FRONT | {"chapters/01_routing"}}


@pytest.mark.parametrize("edition", EXPECTED)
def test_edition_has_its_pages(edition):
    missing = EXPECTED[edition] - set(_site.page_names(edition))
    assert not missing, f"{edition} lacks {sorted(missing)}"


@pytest.mark.parametrize("path", PAGES)
def test_page_is_sound(new_page, site, path):
    found = faults(new_page(), site + path)
    assert not found, "\n".join(found)


FAULTY = """data:text/html,<!doctype html><html lang=en><title>A</title><script>
  const dark = matchMedia("(prefers-color-scheme: dark)"), root = document.documentElement;
  const turn = () => { root.dataset.theme = dark.matches ? "dark" : "light"; };
  dark.addEventListener("change", turn); turn();
</script><style>[data-theme=dark] body { background: black; color: white } [data-theme=dark] .faint { color: dimgray }</style>
<main class=bd-article><h1>Faults</h1><p>Good.</p><p class=faint>Faint in the dark.</p><p class=faint>Faint, too.</p>
<p>Left as TeX: $$x</p><img src="data:,"><div style="width:400px">wide on a small screen</div></main>"""


def test_what_is_wrong_with_a_page_is_found(new_page):
    found = "\n".join(faults(new_page(), FAULTY.replace("\n", " ")))
    for expected in ("formulas, raw: ['$$']", "1280 px: image-alt", "375 px: image-alt", "320 px: 4", "375 px: 4",
                     "375 px, dark: color-contrast", "1280 px, dark: color-contrast"):
        assert expected in found, expected
    assert "light: color-contrast" not in found


@pytest.mark.parametrize("path", [f"{edition}/index.html" for edition in EXPECTED])
def test_a_page_starts_in_the_colours_that_the_reader_prefers(new_page, site, path):
    for dark in (False, True):
        page = new_page(dark=dark)
        page.goto(site + path)
        assert page.locator("html").get_attribute("data-theme") == ("dark" if dark else "light")


def test_first_page_of_the_site_leads_to_an_edition(new_page, site):
    page = new_page()
    page.goto(site)
    page.wait_for_url(site + "en/index.html")
