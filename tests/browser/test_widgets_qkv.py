"""DictionaryLab and CacheLab in Chromium: equal to Python, moved by keys, readable, quick."""

import itertools

import pytest
from axe_playwright_python.sync_playwright import Axe
from widget_harness import module, shown

from attnbook.caches import PUBLISHED
from attnbook.widgets import CacheLab, DictionaryLab, cache, dictionary


def said(page):
    return page.locator(".attn-live").inner_text()


def wait_for(page, words):
    page.wait_for_function("w => document.querySelector('.attn-live').textContent.includes(w)", arg=words)


# -- DictionaryLab ------------------------------------------------------------------------

def test_a_lookup_equals_python(browser):
    lab = DictionaryLab()
    settings = itertools.product((-3, -0.4, 2.5), (-2, 0.1, 3), (0.03, 1, 10), (0, 1))
    grid = [[[x, y], t, hard] for x, y, t, hard in settings]
    with shown(browser, lab) as page:
        module(page, DictionaryLab._esm)
        theirs = page.evaluate("""([grid, keys, values]) => grid.map(([q, t, hard]) => {
            const { weights, output } = lab.lookUp(q, keys, values, t, Boolean(hard));
            return [...weights, ...output, lab.effective(weights)]; })""", [grid, lab.k, lab.v])
        hulls = page.evaluate("(points) => points.map((p) => lab.hullOf(p))", [lab.k, lab.v])
    for (q, t, hard), row in zip(grid, theirs, strict=True):
        weights, output = dictionary.look_up(q, lab.k, lab.v, t, hard)
        assert row == pytest.approx([*weights, *output, dictionary.effective(weights)], abs=1e-9)
    assert hulls == [[list(p) for p in dictionary.hull_of(points)] for points in (lab.k, lab.v)]


def test_cold_softmax_is_a_dictionary_and_warm_an_average(browser):
    with shown(browser, DictionaryLab()) as page:
        heat = page.locator("input[type=range]")
        heat.press("Home")
        wait_for(page, "A dictionary: key 1 takes all")
        heat.press("End")
        wait_for(page, "nearly an average of all")


def test_the_query_moves_by_keys_and_the_hard_choice_snaps(browser):
    with shown(browser, DictionaryLab(hard=True)) as page:
        assert "key 1 takes all (weight 1.00)" in said(page)
        query = page.locator(".attn-handle")
        for _ in range(2):
            query.press("Shift+ArrowLeft")
        wait_for(page, "key 2 takes all")
        page.get_by_role("button", name="Reset").click()
        wait_for(page, "key 1 takes all")


def test_the_query_is_dragged(browser):
    with shown(browser, DictionaryLab()) as page:
        box = page.locator(".attn-handle").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - 150, y, steps=4)
        page.mouse.up()
        wait_for(page, "Key 3 gets weight")


def test_tied_values_stand_where_the_keys_stand(browser):
    with shown(browser, DictionaryLab()) as page:
        page.locator("input[type=checkbox]").check()
        wait_for(page, "it can only hand back what it matched on")


# -- CacheLab -----------------------------------------------------------------------------

def test_sizes_equal_python(browser):
    grid = [list(p) for p in itertools.product((1, 61), (8, 96), (0, 2, 5), (64, 128), (64, 576), (16, 6))]
    amounts = [0, 1023, 1024, 69120, 5e9, 3e13]
    with shown(browser, CacheLab()) as page:
        module(page, CacheLab._esm)
        theirs = page.evaluate("""(grid) => grid.map(([layers, heads, shares, d, latent, bits]) => {
            const all = lab.sizes(layers, heads, lab.kvHeads(heads, shares), d, latent, bits);
            return [...Object.values(all), lab.lessThanBase(all.MLA)]; })""", grid)
        words = page.evaluate("(n) => n.map(lab.amount)", amounts)
    for (layers, heads, shares, d, latent, bits), row in zip(grid, theirs, strict=True):
        mine = cache.sizes(layers, heads, cache.kv_heads(heads, shares), d, latent, bits)
        assert row == pytest.approx([*mine.values(), cache.less_than_base(mine["MLA"])], rel=1e-9)
    assert words == [cache.amount(n) for n in amounts]


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_model_sets_its_own_cache(browser, name):
    with shown(browser, CacheLab()) as page:
        page.get_by_role("radio", name="GPT-3 175B" if name == "DeepSeek-V2" else "DeepSeek-V2", exact=True).check()
        page.get_by_role("radio", name=name, exact=True).check()
        wait_for(page, f"{cache.amount(PUBLISHED[name].cache_bytes())} per token")


def test_the_quoted_cut_splits_into_architecture_and_bits(browser):
    with shown(browser, CacheLab()) as page:
        assert "67.5 KiB per token" in said(page) and "82.2 % below DeepSeek 67B" in said(page)
        page.get_by_role("radio", name="6", exact=True).check()
        wait_for(page, "93.3 % below DeepSeek 67B at 16 bits. Of these, 82.2 % come from what is stored")


def test_sliders_move_by_keys(browser):
    with shown(browser, CacheLab()) as page:
        page.get_by_role("slider", name="layers").press("ArrowLeft")
        wait_for(page, cache.amount(2 * 59 * 576))
        page.get_by_role("radio", name="GQA", exact=True).check()
        page.get_by_role("slider", name="query heads on one head of keys (GQA)").press("Home")
        wait_for(page, cache.amount(2 * 59 * 2 * 128 * 128))


# -- both ---------------------------------------------------------------------------------

LABS = {"dictionary": DictionaryLab, "cache": CacheLab}


@pytest.mark.parametrize("lab", LABS)
@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_accessible_and_inside_the_page(browser, lab, width, dark):
    with shown(browser, LABS[lab](), width=width, dark=dark) as page:
        found = Axe().run(page).response["violations"]
        assert not found, [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("lab", LABS)
def test_a_chinese_page_speaks_chinese(browser, lab):
    with shown(browser, LABS[lab](), language="zh") as page:
        text = page.locator(".attn-lab").inner_text()
        for word in ("query", "keys", "weight", "below", "layers", "Reset", "Try"):
            assert word not in text
        assert "试一试" in text and "重置" in text


@pytest.mark.parametrize("lab", LABS)
def test_the_static_picture_stands_without_javascript(browser, lab):
    with shown(browser, LABS[lab](), js=False) as page:
        assert page.locator("main svg").count() == 2
        assert page.locator("main [role=img]").get_attribute("aria-labelledby")
