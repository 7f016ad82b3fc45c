"""DictionaryLab and CacheLab: arithmetic equal to the package, traits, captions."""

import re
import xml.etree.ElementTree as ET

import pytest
import torch
import traitlets

from attnbook.attention import attention
from attnbook.caches import PUBLISHED
from attnbook.softmax import entropy, hard_attention
from attnbook.widgets import CacheLab, DictionaryLab, cache, dictionary


def drawn(lab):
    return [ET.fromstring(text) for text in re.findall(r"<svg.*?</svg>", lab.picture("x"), re.DOTALL)]


@pytest.mark.parametrize("query", [[1.2, 0.6], [-3, 2], [0, 0]])
@pytest.mark.parametrize("temperature", [0.05, 1.0, 10.0])
def test_a_soft_lookup_is_attention(query, temperature):
    lab = DictionaryLab()
    weights, output = dictionary.look_up(query, lab.k, lab.v, temperature, False)
    q, k, v = (torch.tensor(x, dtype=torch.float64) for x in ([query], lab.k, lab.v))
    out, w = attention(q, k, v, scale=1 / (2**0.5 * temperature))
    assert weights == pytest.approx(w[0].tolist()) and output == pytest.approx(out[0].tolist())
    assert dictionary.effective(weights) == pytest.approx(entropy(w[0]).exp().item())


def test_a_hard_lookup_is_hard_attention():
    lab = DictionaryLab()
    weights, output = dictionary.look_up([-1, 0.3], lab.k, lab.v, 1.0, True)
    q, k, v = (torch.tensor(x, dtype=torch.float64) for x in ([[-1, 0.3]], lab.k, lab.v))
    out, w = attention(q, k, v, normalise=hard_attention)
    assert weights == w[0].tolist() and output == pytest.approx(out[0].tolist())


def test_the_surprise_holds():
    lab = DictionaryLab()
    cold, warm = (dictionary.look_up(lab.query, lab.k, lab.v, 10**heat, False)[0]
                  for heat in (dictionary.COLD, dictionary.WARM))
    assert dictionary.effective(cold) < 1.02 and dictionary.effective(warm) > 4.9


def test_the_hull_leaves_out_what_lies_inside():
    assert dictionary.hull_of([[0, 0], [2, 0], [1, 0.5], [2, 2], [0, 2]]) == [(0, 0), (2, 0), (2, 2), (0, 2)]


@pytest.mark.parametrize("lab", [DictionaryLab(), DictionaryLab(hard=True, tied=True), CacheLab(), CacheLab(kind="GQA"),
                                 CacheLab(model="GPT-3 175B", kind="MHA", bits=4)])
def test_picture_and_caption_come_in_both_languages(lab):
    assert len(drawn(lab)) == 2
    en, zh = lab.caption()
    assert not re.search(r"[\u4e00-\u9fff]", en) and "−" not in en.replace("(−", "(").replace(", −", ", ")
    assert re.search(r"[\u4e00-\u9fff]", zh) and set(re.findall(r"\d+\.\d+", en)) == set(re.findall(r"\d+\.\d+", zh))


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_kinds_of_a_model_agree_with_the_package(name):
    m = PUBLISHED[name]
    by_kind = cache.sizes(m.n_layers, m.n_heads, m.n_kv_heads, m.d_head, m.d_latent or 576, 16)
    assert by_kind[cache.own_kind(m)] == m.cache_bytes()
    assert by_kind["MHA"] >= by_kind["GQA"] >= by_kind["MQA"]


def test_the_quoted_cut():
    assert cache.less_than_base(PUBLISHED["DeepSeek-V2"].cache_bytes(bits=6)) == pytest.approx(0.933, abs=5e-4)
    assert "82.2 % below DeepSeek 67B" in CacheLab().caption()[0]


@pytest.mark.parametrize("cls, wrong", [(CacheLab, {"model": "mine"}), (CacheLab, {"bits": 5}),
                                        (CacheLab, {"layers": 0}), (DictionaryLab, {"heat": 2.0}), (DictionaryLab, {"query": [4.0, 0.0]})])
def test_states_out_of_range_are_refused(cls, wrong):
    with pytest.raises(traitlets.TraitError):
        cls(**wrong)
