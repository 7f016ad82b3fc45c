"""CoreferenceExplorer: the data it takes, its first state, its arithmetic and its static picture."""

import base64
import copy
import json
import xml.etree.ElementTree as ET

import pytest

from attnbook.pretrained import saved
from attnbook.widgets import CoreferenceExplorer, coreference

WORDS = "The animal didn't cross the street because it was too".split()
IT, ANIMAL, STREET, LAST = 7, 1, 5, 10


def matrix(peak, causal=False):
    """A row per query: 0.6 on one key (or the query itself, where the key is masked), the rest spread, 3 decimals."""
    n, rows = len(WORDS) + 1, []
    for q in range(n):
        seen = range(q + 1 if causal else n)
        top = peak if peak in seen else q
        low = 0.4 / len(seen)
        rows.append([round(0.6 + low if k == top else low, 3) if k in seen else 0.0 for k in range(n)])
    return rows


def net(seed=0, causal=False, layers=2, heads=1, **more):
    def reading(noun, other, key):
        weights = [[matrix(key if layer else LAST, causal) for _ in range(heads)] for layer in range(layers)]
        return {"answer": {noun: 0.9, other: 0.1}, "weights": weights}

    readings = {"tired": reading("animal", "street", ANIMAL), "wide": reading("street", "animal", STREET)}
    return {"seed": seed, "causal": causal, "layers": layers, "heads": heads, "accuracy": 1.0, "readings": readings,
            **more}


def example(*models):
    return {"words": {last: [*WORDS, last] for last in ("tired", "wide")}, "models": list(models) or [net()]}


def test_a_row_is_made_whole_again():
    assert sum(coreference.row_of([0.333, 0.333, 0.333])) == pytest.approx(1, abs=1e-12)
    assert coreference.row_of([0.5, 0.25, 0.25]) == [0.5, 0.25, 0.25]


def test_the_strongest_come_first_and_ties_keep_their_order():
    assert coreference.strongest([0.1, 0.4, 0.1, 0.4]) == [1, 3, 0]


def test_the_first_state_shows_it_in_the_last_layer_of_the_deepest_model_without_mask():
    lab = CoreferenceExplorer(example(net(causal=True), net(layers=1), net(seed=3)))
    assert (lab.reading, lab.model_index, lab.layer, lab.head, lab.word) == ("tired", 2, 1, 0, IT)
    assert CoreferenceExplorer(example(net(), net(layers=1)), model_index=1).layer == 0


def test_the_row_is_the_query_and_not_the_column():
    lab = CoreferenceExplorer(example())
    assert lab.row()[ANIMAL] == pytest.approx(0.636, abs=3e-3)
    assert CoreferenceExplorer(example(), word=ANIMAL).row()[IT] < 0.05


@pytest.mark.parametrize("state, words", [
    ({"reading": "tall"}, "reading is 'tall'; expected one of tired, wide"),
    ({"model_index": 1}, "model_index is 1; expected less than 1"),
    ({"layer": 2}, "layer is 2; expected less than 2"),
    ({"head": 1}, "head is 1; expected less than 1"),
    ({"word": 11}, "word is 11; expected less than 11"),
    ({"cut": 3}, r"cut is 3; expected -1 or one of \[\]"),
])
def test_states_outside_the_data_are_named(state, words):
    with pytest.raises(ValueError, match=words):
        CoreferenceExplorer(example(), **state)


def spoilt(change):
    data = copy.deepcopy(example())
    change(data)
    return data


def wide(data):
    return data["models"][0]["readings"]["wide"]["weights"]


@pytest.mark.parametrize("change, words", [
    (lambda d: d.pop("words"), r"data is \['models'\]; expected a dict with at least one entry in 'words'"),
    (lambda d: d["models"].clear(), "at least one entry in 'words' and in 'models'"),
    (lambda d: d["models"][0].pop("causal"), r"data\['models'\]\[0\] lacks causal"),
    (lambda d: d["models"][0]["readings"].pop("wide"), r"data\['models'\]\[0\] lacks wide"),
    (lambda d: wide(d).pop(), r"\['wide'\]\['weights'\] has length 1; expected 2"),
    (lambda d: wide(d)[1][0][4].pop(), r"\[1\]\[0\]\[4\] has length 10; expected 11"),
    (lambda d: wide(d)[0][0].__setitem__(2, [0.2] * 11), r"sums to 2\.2000"),
    (lambda d: wide(d)[0][0].__setitem__(2, [2.0, -1.0] + [0.0] * 9), "smallest -1.0"),
])
def test_wrong_data_is_named_with_its_place(change, words):
    with pytest.raises(ValueError, match=words):
        CoreferenceExplorer(spoilt(change))


def test_columns_that_sum_to_one_are_no_rows():
    data = example()
    weights = data["models"][0]["readings"]["tired"]["weights"]
    weights[1][0] = [list(column) for column in zip(*weights[1][0])]
    with pytest.raises(ValueError, match="rows = queries"):
        CoreferenceExplorer(data)


def test_the_data_is_not_changed():
    data = example()
    before = json.dumps(data)
    lab = CoreferenceExplorer(data)
    lab.picture("x"), lab.caption()
    assert json.dumps(data) == before


def test_the_caption_names_the_map_the_weights_and_the_answer():
    en, zh = CoreferenceExplorer(example(net(heads=2, seed=4)), head=1).caption()
    assert en.startswith("Layer 2 of 2, head 2 of 2, seed 4, no mask: “it” reads animal 0.64, ")
    assert en.endswith("its row sums to 1.000. The model answers animal (0.900).")
    assert "第 2 个头" in zh and "animal 0.64、" in zh and "1.000" in zh


def test_data_without_an_answer_or_accuracy_shows_none():
    data = example()
    del data["models"][0]["readings"]["tired"]["answer"], data["models"][0]["accuracy"]
    assert "answers" not in CoreferenceExplorer(data).caption()[0]


def test_a_cut_changes_the_answer():
    data = example()
    data["models"][0]["readings"]["tired"]["cuts"] = [
        {"layer": 1, "head": 0, "query": IT, "key": ANIMAL, "answer": {"animal": 0.3, "street": 0.7}}]
    lab = CoreferenceExplorer(data, cut=ANIMAL)
    assert lab.answer() == {"animal": 0.3, "street": 0.7}
    assert lab.caption()[0].endswith("With it → animal set to 0, the model answers street (0.700).")


def texts(lab):
    return [node.text for node in ET.fromstring(lab.picture("x")).iter() if node.tag.endswith("text")]


def test_the_static_picture_has_every_word_and_number_once():
    shown = texts(CoreferenceExplorer(example()))
    assert shown[::2] == [*WORDS, "tired"] and shown[1::2].count("0.64") == 1


def test_the_static_picture_marks_what_the_mask_hides():
    shown = texts(CoreferenceExplorer(example(net(causal=True)), word=IT))
    assert shown.count("hidden") == LAST - IT


def test_the_static_picture_stays_inside_its_frame():
    picture = ET.fromstring(CoreferenceExplorer(example()).picture("x"))
    _, _, width, height = map(float, picture.get("viewBox").split())
    for box in (n for n in picture.iter() if n.tag.endswith("rect")):
        assert 0 <= float(box.get("x")) <= width - float(box.get("width"))
        assert 0 <= float(box.get("y")) <= height - float(box.get("height"))


def test_ten_small_models_fit_the_page():
    models = [net(seed, causal) for seed in range(5) for causal in (False, True)]
    state = CoreferenceExplorer(example(*models)).get_state()
    assert len(json.dumps(state["data"])) < 60_000
    assert len(state["_esm"]) + len(state["_css"]) < 40_000


# -- packed maps of many heads --------------------------------------------------------------

def packed(layers=2, heads=3):
    """A model with one byte a weight: head h of layer l gives 200 to word l + h and 55 to the word itself."""
    n, data = len(WORDS) + 1, bytearray()
    for layer in range(layers):
        for head in range(heads):
            for query in range(n):
                row = [0] * n
                row[query] += 55
                row[layer + head] += 200
                data += bytes(row[:-1])
    readings = {last: {"weights": {"packed": base64.b64encode(data).decode()}} for last in ("tired", "wide")}
    return net(seed=None, layers=layers, heads=heads, readings=readings, accuracy=None)


def test_a_packed_map_is_read_at_its_layer_head_and_query():
    lab = CoreferenceExplorer(example(packed()), layer=1, head=2)
    assert lab.row()[3] == pytest.approx(200 / 255) and lab.row()[IT] == pytest.approx(55 / 255)
    assert CoreferenceExplorer(example(packed()), layer=0, head=0, word=0).row()[0] == pytest.approx(1)
    assert "head 3 of 3, no mask" in lab.caption()[0] and "seed" not in lab.caption()[0]


@pytest.mark.parametrize(("text", "message"), [
    ("!!", "expected base64"), (None, "is NoneType; expected base64"), ("AAAA", "has 3 bytes; expected 660"),
    (base64.b64encode(bytes([26]) * 660).decode(), "has a row above 255"),
])
def test_a_packed_map_that_does_not_fit_is_refused(text, message):
    data = example(packed())
    data["models"][0]["readings"]["wide"]["weights"] = {"packed": text}
    with pytest.raises(ValueError, match=message):
        CoreferenceExplorer(data)


def test_the_committed_encoder_can_be_explored():
    lab = CoreferenceExplorer(saved("maps"), layer=3, head=1)
    words = lab.data["words"]["tired"]
    assert lab.network["heads"] * lab.network["layers"] == 72 and words[lab.word] == "it"
    assert lab.row()[words.index("animal")] == pytest.approx(0.677, abs=6e-3)  # a byte a weight
    assert len(json.dumps(lab.data)) < 120_000 and "MiniLM" in lab.network["name"][0]
