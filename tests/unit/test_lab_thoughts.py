"""CostLab and PatternLab: their arithmetic is that of the package, their pictures show their numbers."""

import re
import xml.etree.ElementTree as ET

import pytest
import torch
import traitlets

from attnbook import costs, sparse
from attnbook.attention import causal_mask, local_mask
from attnbook.widgets import CostLab, PatternLab, cost, pattern


def drawn(lab):
    return "|".join("|".join(ET.fromstring(text).itertext()) for text in re.findall(r"<svg.*?</svg>", lab.picture("x"), re.DOTALL))


def as_lists(mask):
    return mask.tolist()


# -- CostLab ------------------------------------------------------------------------------

@pytest.mark.parametrize("n", [100, 31623, 10**7])
def test_the_bill_is_that_of_the_package(n):
    found = cost.bill(n, 256, 128, 8, "core")
    for name, (seconds, size) in found.items():
        assert seconds == costs.products(name, n, 64, window=256, ranks=8) / 1e10
        assert size == 2 * costs.numbers(name, n, 64, window=256, block=128, ranks=8)


def test_exact_attention_needs_square_work_and_no_square_memory():
    small, large = (cost.bill(n, 256, 128, 8, "core") for n in (10**5, 10**6))
    assert small["dense"][0] == small["tiled"][0] and large["tiled"][0] / small["tiled"][0] == 100
    assert large["dense"][1] / small["dense"][1] == 100 and large["tiled"][1] / small["tiled"][1] < 10


def test_words_and_places():
    assert cost.in_words(2e12, cost.SIZES) == ("2.00 TB", "2.00 TB")
    assert cost.in_words(12800.0, cost.TIMES) == ("3.56 h", "3.56 小时")
    assert cost.in_words(3e8, cost.TIMES)[0] == "9.51 years"
    assert cost.place(1e-12, "time") == 0 and cost.place(1e20, "size") == 1


def test_the_first_state_shows_the_point():
    text, (en, zh) = drawn(CostLab()), CostLab().caption()
    assert "2.00 TB" in text and "2.03 MB" in text and "the matrix takes 2.00 TB, tiles hold 2.03 MB" in en and "2.00 TB" in zh


@pytest.mark.parametrize("wrong", [{"n": 99}, {"window": 8}, {"block": 2000}, {"ranks": 0}, {"rate": "slow"}])
def test_states_out_of_range_are_refused(wrong):
    with pytest.raises(traitlets.TraitError):
        CostLab(**wrong)


# -- PatternLab ---------------------------------------------------------------------------

@pytest.mark.parametrize("width", [1, 4, 12])
def test_patterns_are_those_of_the_package(width):
    n = pattern.N
    assert pattern.mask_of("full", width, "causal") == as_lists(causal_mask(n))
    assert pattern.mask_of("window", width, "causal") == as_lists(local_mask(n, n, width))
    assert pattern.mask_of("sinks", width, "causal") == as_lists(sparse.sink_mask(n, n, width, pattern.SINKS))
    assert pattern.mask_of("strided", width, "causal") == as_lists(sparse.strided_mask(n, n, width, width))
    for name in pattern.NAMES:
        both = torch.tensor(pattern.mask_of(name, width, "both"))
        assert torch.equal(both & causal_mask(n), torch.tensor(pattern.mask_of(name, width, "causal")))


@pytest.mark.parametrize("name", pattern.NAMES)
def test_reach_and_hops_are_those_of_the_package(name):
    mask = torch.tensor(pattern.mask_of(name, 4, "causal"))
    for layers, heard in enumerate(pattern.reach_of(mask.tolist(), 20, 3)):
        assert heard == sparse.reach(mask, layers)[20].tolist()
    assert pattern.hops_of(mask.tolist(), "causal") == sparse.hops(mask) and pattern.edges_of(mask.tolist()) == mask.sum()


def test_the_surprises_hold():
    def hops(name, order):
        return pattern.hops_of(pattern.mask_of(name, 4, order), order)

    assert hops("global", "both") == 2 and hops("global", "causal") == hops("window", "causal") == 8
    assert hops("sinks", "causal") == 7 and hops("full", "causal") == 1  # all hear the sinks, but these pass nothing on
    assert pattern.hops_of(pattern.mask_of("window", 1, "both"), "both") is None


def test_the_picture_counts_what_has_arrived():
    lab = PatternLab()
    text, (en, zh) = drawn(lab), lab.caption()
    assert all(f"|{seen}|" in f"|{text}|" for seen in (1, 4, 7, 10, 13))
    assert "90 of 300 scores (30 %)" in en and "Every pair is joined after 8 layers" in en and "经过 8 层" in zh
    assert "never" in PatternLab(width=1).caption()[0]


@pytest.mark.parametrize("wrong", [{"width": 0}, {"row": 24}, {"pattern": "random"}, {"order": "up"}])
def test_states_out_of_range_of_patterns_are_refused(wrong):
    with pytest.raises(traitlets.TraitError):
        PatternLab(**wrong)
