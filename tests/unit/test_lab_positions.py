"""RopeLab and WaveLab: their arithmetic against the package, their traits and their static pictures."""

import math
import re
import xml.etree.ElementTree as ET

import pytest
import torch
import traitlets

from attnbook.positions import alibi_slopes, rope as package_rope, rope_frequencies, sinusoidal
from attnbook.widgets import RopeLab, WaveLab, rope, waves


def drawn(lab):
    pictures = re.findall(r"<svg.*?</svg>", lab.picture("x"), re.DOTALL)
    return [ET.fromstring(text.replace(' xmlns="http://www.w3.org/2000/svg"', "")) for text in pictures]


# -- RopeLab ------------------------------------------------------------------------------

@pytest.mark.parametrize("base", rope.BASES)
@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_hands_and_scores_are_those_of_the_package(base, layout):
    for query, key in ((0, 0), (9, 4), (4, 9), (127, 3)):
        turned = [package_rope(torch.tensor([vector], dtype=torch.float64), position, layout, base)[0]
                  for vector, position in ((rope.QUERY, query), (rope.KEY, key))]
        assert rope.score(query, key, base, layout) == pytest.approx((turned[0] @ turned[1]).item(), abs=1e-12)
        for vector, position, want in ((rope.QUERY, query, turned[0]), (rope.KEY, key, turned[1])):
            got = [x for hand in rope.hands(vector, position, base, layout) for x in hand]
            assert got == pytest.approx([want[i].item() for pair in rope.pairs_of(layout) for i in pair], abs=1e-12)
    assert rope.frequencies(base) == pytest.approx(rope_frequencies(8, base).tolist())


def test_moving_both_turns_every_hand_and_no_score():
    here, there = (rope.hands(rope.QUERY, p, 100, "half") for p in (9, 29))
    assert all(math.dist(a, b) > 0.01 for a, b in zip(here, there))
    assert rope.score(9, 4, 100, "half") == pytest.approx(rope.score(29, 24, 100, "half"), abs=1e-12)
    assert abs(rope.score(9, 4, 100, "half") - rope.score(4, 9, 100, "half")) > 0.1
    assert abs(rope.score(9, 4, 100, "half") - rope.score(9, 4, 100, "interleaved")) > 0.1


def test_no_score_leaves_the_picture():
    scores = [rope.score(d, 0, base, layout) for d in range(-127, 128) for base in rope.BASES
              for layout in ("half", "interleaved")]
    assert max(map(abs, scores)) <= rope.limit()


@pytest.mark.parametrize("wrong", [{"query": -1}, {"key": 128}, {"pairing": "thirds"}, {"base": 10}])
def test_rope_states_out_of_range_are_refused(wrong):
    with pytest.raises(traitlets.TraitError):
        RopeLab(**wrong)


def test_the_static_clocks_show_the_state():
    lab = RopeLab(query=12, key=12)
    clocks, curve = drawn(lab)
    assert len([c for c in clocks.iter("circle") if c.get("fill") == "none"]) == 4
    (dot,) = curve.iter("circle")
    assert float(dot.get("cx")) == pytest.approx(160)
    en, zh = lab.caption()
    assert "distance 0" in en and "距离 0" in zh
    assert rope.score(12, 12, 100, "half") == pytest.approx(sum(a * b for a, b in zip(rope.QUERY, rope.KEY)))


# -- WaveLab ------------------------------------------------------------------------------

@pytest.mark.parametrize("d", [4, 32, 64])
def test_entries_are_those_of_the_package(d):
    table = sinusoidal(waves.ROWS, d, dtype=torch.float64)
    ours = [[waves.entry(p, c, d) for c in range(d)] for p in range(waves.ROWS)]
    assert torch.allclose(torch.tensor(ours, dtype=torch.float64), table, atol=1e-12)
    lengths = [waves.wavelength(i, d) for i in range(d // 2)]
    assert lengths == pytest.approx((2 * math.pi / rope_frequencies(d)).tolist())


def test_slopes_are_those_of_eight_heads_and_shades_are_symmetric():
    assert [waves.slope(h) for h in range(1, 9)] == alibi_slopes(8).tolist()
    assert [waves.level(x) for x in (-1, -0.3, 0, 0.1, 0.2, 1)] == [-4, -1, 0, 0, 1, 4]


def test_the_surprise_of_the_waves_holds():
    assert waves.wavelength(1, 64) / waves.wavelength(0, 64) == pytest.approx(4 / 3, abs=0.01)
    assert 40_000 < waves.wavelength(31, 64) < 60_000
    assert waves.wavelength(31, 64) < 10**waves.SPAN


@pytest.mark.parametrize("wrong", [{"d_model": 2}, {"d_model": 66}, {"d_model": 7}, {"column": -1}, {"head": 0},
                                   {"head": 9}])
def test_wave_states_out_of_range_are_refused(wrong):
    with pytest.raises(traitlets.TraitError):
        WaveLab(**wrong)


def test_the_static_map_shows_the_state():
    lab = WaveLab(d_model=8, column=63, head=3)
    chart, wave = drawn(lab)
    (frame,) = chart.iter("rect")
    assert float(frame.get("x")) == pytest.approx(waves.LEFT + 7 * (waves.RIGHT - waves.LEFT) / 8)
    assert len(list(wave.iter("circle"))) == 4 and len(list(wave.iter("rect"))) == 8
    en, zh = lab.caption()
    assert "column 7: pair 3" in en and "第 7 列" in zh and "8 steps" in en
    assert len(lab.static()) < 60_000


def test_the_plain_lines_name_the_state():
    assert repr(RopeLab()) == "RopeLab(query=9, key=4, pairing='half', base=100)"
    assert repr(WaveLab(d_model=16)) == "WaveLab(d_model=16, column=4, head=1)"
