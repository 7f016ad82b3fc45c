"""CoreferenceExplorer in Chromium: equal to Python, every control by keys, the map always named, readable, quick."""

import random

import pytest
from axe_playwright_python.sync_playwright import Axe

from attnbook.pretrained import saved
from attnbook.widgets import CoreferenceExplorer, coreference
from widget_harness import module, shown

WORDS = "The animal didn't cross the street because it was too".split()
IT, ANIMAL = 7, 1


def matrix(draw, causal, n):
    rows = []
    for query in range(n):
        scores = [draw.expovariate(1) ** 2 if key <= query or not causal else 0.0 for key in range(n)]
        rows.append([round(x / sum(scores), 3) for x in scores])
    return rows


def network(seed, causal=False, layers=2, heads=1, words=("tired", "wide"), n=11, **more):
    """A model of random weights; under the mask both readings share all rows but the last."""
    draw, readings = random.Random(f"{seed} {causal} {layers}"), {}
    for i, last in enumerate(words):
        weights = [[matrix(draw, causal, n) for _ in range(heads)] for _ in range(layers)]
        if causal and i:
            for layer, before in zip(weights, readings[words[0]]["weights"], strict=True):
                for head, old in zip(layer, before, strict=True):
                    head[:-1] = old[:-1]
        readings[last] = {"answer": {"animal": [0.98, 0.03][i], "street": [0.02, 0.97][i]}, "weights": weights}
    return {"seed": seed, "causal": causal, "layers": layers, "heads": heads, "accuracy": 1.0, "readings": readings,
            **more}


def example(*models):
    return {"words": {last: [*WORDS, last] for last in ("tired", "wide")}, "models": list(models)}


def usual():
    return example(*(network(seed, causal) for causal in (False, True) for seed in range(3)))


def said(page):
    return page.locator(".attn-live").inner_text()


def bars(page):
    return [float(x) for x in page.eval_on_selector_all(".coref .bar i", "bars => bars.map((b) => b.dataset.weight)")]


def settle(page):
    page.evaluate("() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")


def control(page, name):
    return page.locator("fieldset.attn-choice", has=page.locator("legend", has_text=name)).locator("input")


def test_rows_equal_python_for_every_word_of_every_map(browser):
    data = usual()
    with shown(browser, CoreferenceExplorer(data)) as page:
        module(page, CoreferenceExplorer._esm)
        readings = [reading for net in data["models"] for reading in net["readings"].values()]
        rows = [row for reading in readings for layer in reading["weights"] for row in layer[0]]
        theirs = page.evaluate("(rows) => rows.map((r) => [lab.rowOf(r), lab.strongest(r)])", rows)
        for row, (whole, best) in zip(rows, theirs, strict=True):
            assert whole == pytest.approx(coreference.row_of(row), abs=1e-6)
            assert best == coreference.strongest(row)


def test_the_first_state_equals_the_static_picture(browser):
    lab = CoreferenceExplorer(usual())
    with shown(browser, lab) as page, shown(browser, lab, js=False) as still:
        assert bars(page) == pytest.approx(lab.row(), abs=1e-6)
        numbers = [n for n in still.locator("svg text").all_text_contents()][1::2]
        assert page.locator(".coref .number").all_text_contents() == numbers
        assert "layer 2 of 2, head 1 of 1, seed 0, no mask" in page.locator(".attn-note").first.inner_text()
        assert "its row sums to 1.000. The model answers animal (0.980)." in said(page)
        assert "“it” reads " in said(page)


def test_a_click_on_a_word_shows_what_it_reads(browser):
    lab = CoreferenceExplorer(usual())
    with shown(browser, lab) as page:
        page.locator(".coref label").nth(3).click()
        settle(page)
        wanted = CoreferenceExplorer(lab.data, word=3).row()
        assert bars(page) == pytest.approx(wanted, abs=1e-6) and said(page).startswith("“cross” reads ")
        drawn = page.eval_on_selector_all(
            ".coref .arcs path", "arcs => arcs.map((p) => [+p.dataset.key, +p.getAttribute('stroke-width')])")
        thick = {j: max(0.7, coreference.THICK * w) for j, w in enumerate(wanted) if w >= 0.005}
        assert dict(drawn) == pytest.approx(thick, abs=1e-6)


@pytest.mark.parametrize("name, value, state", [
    ("last word", "wide", {"reading": "wide"}), ("layer", "0", {"layer": 0}), ("mask", "1", {"model_index": 3}),
    ("seed", "2", {"model_index": 2}), ("head", "1", {"head": 1}),
])
def test_each_control_moves_by_keys_and_changes_the_picture(browser, name, value, state):
    models = [network(seed, causal, heads=2) for causal in (False, True) for seed in range(3)]
    lab = CoreferenceExplorer(example(*models))
    with shown(browser, lab) as page:
        before = bars(page)
        group = page.locator("fieldset.attn-choice", has=page.locator(f"legend:text-is('{name}')"))
        group.locator("input:checked").focus()
        for _ in range(2 if value == "2" else 1):
            page.keyboard.press("ArrowLeft" if name == "layer" else "ArrowRight")
        settle(page)
        assert bars(page) == pytest.approx(CoreferenceExplorer(lab.data, **state).row(), abs=1e-6) != before
        assert page.evaluate("document.activeElement.value") == value  # the focus stays where the reader works


def test_words_move_by_arrow_keys(browser):
    with shown(browser, CoreferenceExplorer(usual())) as page:
        page.locator(".coref input:checked").focus()
        page.keyboard.press("ArrowLeft")
        settle(page)
        assert said(page).startswith("“because” reads ")


def test_tab_reaches_the_groups_in_reading_order_and_reset_restores(browser):
    with shown(browser, CoreferenceExplorer(usual())) as page:
        first, stops = said(page), []
        for _ in range(6):
            page.keyboard.press("Tab")
            stops.append(page.evaluate("(document.activeElement.closest('fieldset')?.querySelector('legend') ?? "
                                       "document.activeElement).textContent"))
        assert stops[0].startswith("Which word asks") and stops[1:] == ["last word", "layer", "mask", "seed", "Reset"]
        page.locator(".coref label").nth(2).click()
        control(page, "last word").nth(1).check()
        settle(page)
        assert said(page) != first
        page.locator(".attn-reset").press("Enter")
        settle(page)
        assert said(page) == first


def test_the_other_seeds_are_shown_beside(browser):
    data, told = usual(), []
    for i in (1, 2):
        row = CoreferenceExplorer(data, model_index=i).row()
        key = coreference.strongest(row)[0]
        told.append(f"seed {i} {data['words']['tired'][key]} {row[key]:.2f} (accuracy 1.000)")
    with shown(browser, CoreferenceExplorer(data)) as page:
        assert page.locator(".attn-note").last.inner_text().endswith(": " + ", ".join(told) + ".")


def test_under_the_mask_it_cannot_tell_the_sentences_apart(browser):
    with shown(browser, CoreferenceExplorer(usual(), model_index=3)) as page:
        assert "The mask hides the 3 later words from it. The row is the same with “wide”, to 3 decimals." in said(page)
        assert page.locator(".coref .bar.off").count() == 3
        page.locator(".coref label").last.click()
        settle(page)
        assert "mask hides" not in said(page) and "row is the same" not in said(page)


def test_a_line_can_be_cut_where_the_data_has_the_answer(browser):
    data = usual()
    data["models"][0]["readings"]["tired"]["cuts"] = [
        {"layer": 1, "head": 0, "query": IT, "key": ANIMAL, "answer": {"animal": 0.41, "street": 0.59}}]
    with shown(browser, CoreferenceExplorer(data)) as page:
        control(page, "cut a line").nth(1).check()
        settle(page)
        assert "With it → animal set to 0" in said(page)
        assert "answers street (0.590); before, animal (0.980)." in said(page)
        assert page.locator(".coref .arcs .cut").get_attribute("data-key") == str(ANIMAL)
        assert page.locator(".coref .number.cut").count() == 1
        page.locator(".coref label").first.click()
        settle(page)
        assert not page.get_by_text("cut a line").is_visible() and "set to 0" not in said(page)


def test_no_control_without_a_choice_and_no_answer_without_one(browser):
    net = network(0, layers=1)
    del net["accuracy"], net["readings"]["tired"]["answer"]
    with shown(browser, CoreferenceExplorer(example(net))) as page:
        assert page.locator("fieldset.attn-choice:visible").count() == 1  # tired or wide
        assert not page.locator(".coref-answer").is_visible() and "answers" not in said(page)
        assert "accuracy" not in page.locator(".attn-lab").inner_text()


def test_room_for_many_heads_sentences_and_kinds_of_model(browser):
    both = ("tired", "wide", "big", "small")
    data = {"words": {**{w: [*WORDS, w] for w in both[:2]}, **{w: f"It is too {w}".split() for w in both[2:]}},
            "sentences": [["tired", "wide"], ["big", "small"]], "models": []}
    for name, heads, layers in ((["small", "小"], 1, 2), (["encoder", "编码器"], 14, 6)):
        net = network(0, heads=heads, layers=layers, name=name)
        net["readings"] |= network(1, heads=heads, layers=layers, words=both[2:], n=4)["readings"]
        data["models"].append(net)
    with shown(browser, CoreferenceExplorer(data, model_index=0)) as page:
        control(page, "model").nth(1).check()
        settle(page)
        page.get_by_label("head").select_option(label="14")
        control(page, "sentence").nth(1).check()
        settle(page)
        assert page.locator(".coref .token").all_text_contents() == ["It", "is", "too", "big"]
        assert "encoder, layer 2 of 6, head 14 of 14" in page.locator(".attn-note").first.inner_text()
        wanted = CoreferenceExplorer(data, model_index=1, layer=1, head=13, reading="big", word=3).row()
        assert bars(page) == pytest.approx(wanted, abs=1e-6)


def test_the_committed_encoder_equals_python_and_has_no_seed(browser):
    data, draw = saved("maps"), random.Random(0)
    with shown(browser, CoreferenceExplorer(data)) as page:
        assert "seed" not in page.locator(".attn-lab").inner_text() and "72 heads" in page.locator(".attn-lab").inner_text()
        assert control(page, "head").count() == 12 and control(page, "sentence").count() == 4
        for _ in range(12):
            layer, head, group = draw.randrange(6), draw.randrange(12), draw.randrange(4)
            reading = data["sentences"][group][0]
            word = draw.randrange(len(data["words"][reading]))
            for name, index in (("sentence", group), ("layer", layer), ("head", head)):
                control(page, name).nth(index).check()
            settle(page)
            page.locator(".coref input").nth(word).check()
            settle(page)
            wanted = CoreferenceExplorer(data, layer=layer, head=head, reading=reading, word=word).row()
            assert bars(page) == pytest.approx(wanted, abs=1e-6)


def test_chinese_page_speaks_chinese(browser):
    with shown(browser, CoreferenceExplorer(usual()), language="zh") as page:
        assert "这一行之和为 1.000" in said(page) and "模型的回答：animal" in said(page)
        words = [*page.locator("legend").all_text_contents(), page.locator(".attn-note").first.inner_text()]
        assert not any(c.isascii() and c.isalpha() for c in "".join(words))


@pytest.mark.parametrize("width", [320, 375, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_accessible_and_inside_the_page(browser, width, dark):
    with shown(browser, CoreferenceExplorer(usual(), model_index=3), width=width, dark=dark) as page:
        found = Axe().run(page).response["violations"]
        assert not found, [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        sizes = [n.bounding_box() for n in page.locator("input:visible, button:visible, select:visible").all()]
        assert len(sizes) > 11 and min(min(box["width"], box["height"]) for box in sizes) >= 24


def test_arcs_follow_the_words_when_the_page_gets_narrower(browser):
    with shown(browser, CoreferenceExplorer(usual()), width=1000) as page:
        wide = page.locator(".coref .arcs path").first.get_attribute("d")
        page.set_viewport_size({"width": 340, "height": 900})
        page.wait_for_function("(d) => document.querySelector('.coref .arcs path').getAttribute('d') !== d", arg=wide)
        ends = page.evaluate("""() => { const box = document.querySelector('.coref').getBoundingClientRect();
            return [...document.querySelectorAll('.coref .arcs path')].map((p) => {
                const end = p.getPointAtLength(p.getTotalLength()).x + box.left;
                const word = document.querySelectorAll('.coref label')[p.dataset.key].getBoundingClientRect();
                return end > word.left - 1 && end < word.right + 1;
            });
        }""")
        assert ends and all(ends)
