"""RelayLab: its arithmetic, its traits and its static picture."""

import re
import xml.etree.ElementTree as ET

import pytest
import torch
import traitlets

from attnbook.widgets import RelayLab, relay


def drawn(lab):
    return [ET.fromstring(text) for text in re.findall(r"<svg.*?</svg>", lab.picture("x"), re.DOTALL)]


@pytest.mark.parametrize("gain, hops", [(0.7, 64), (0.95, 45), (1.0, 20), (1.05, 45)])
def test_a_scaled_orthogonal_recurrence_keeps_gain_to_the_power_of_hops(gain, hops):
    w, _ = torch.linalg.qr(torch.randn(8, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0)))
    first = torch.ones(8, dtype=torch.float64, requires_grad=True)
    h = first
    for _ in range(hops):
        h = h @ (gain * w)
    (gradient,) = torch.autograd.grad(h[0], first)
    assert relay.what_is_left(gain, hops) == pytest.approx((h.norm() / first.norm()).item(), rel=1e-9)
    assert relay.what_is_left(gain, hops) == pytest.approx(gradient.norm().item(), rel=1e-9)


def test_the_surprise_holds():
    assert relay.what_is_left(0.95, 45) < 0.1 < relay.what_is_left(0.95, 44)
    assert relay.what_is_left(1.05, 48) > 10 > relay.what_is_left(1.05, 47)


def test_hops_and_steps():
    assert [relay.hops_of(lane, 9) for lane in ("chain", "all")] == [9, 1]
    assert [relay.steps_of(lane, 9) for lane in ("chain", "all")] == [10, 1]


def test_every_gain_and_distance_lies_on_the_axis():
    ends = [relay.log_place(gain**d) for gain in (relay.WEAK, relay.STRONG) for d in (relay.NEAR, relay.FAR)]
    assert 0 <= min(ends) and max(ends) <= 1
    assert relay.log_place(1e3) == 0 and relay.log_place(1e-11) == 1


@pytest.mark.parametrize("wrong", [{"distance": 1}, {"distance": 65}, {"gain": 0.69}, {"gain": 1.11}])
def test_states_out_of_range_are_refused(wrong):
    with pytest.raises(traitlets.TraitError):
        RelayLab(**wrong)


def test_measured_curves_are_kept_short():
    assert RelayLab(measured={"LSTM": [1.0, 0.123456, 0.0]}).measured == {"LSTM": [1.0, 0.123, 0.0]}


@pytest.mark.parametrize("values, words", [
    ([1.0] * 66, r"measured\['a'\] has 66 values; expected at most 65"),
    ([float("nan")], r"measured\['a'\] holds nan; expected finite norms"),
    ([-1.0], r"measured\['a'\] holds -1.0"),
])
def test_wrong_curves_are_named(values, words):
    with pytest.raises(traitlets.TraitError, match=words):
        RelayLab(measured={"a": values})


def test_the_static_picture_shows_the_numbers_of_the_state():
    lab = RelayLab(distance=45, gain=0.95)
    lanes, plot = drawn(lab)
    words = "".join(lanes.itertext())
    assert "Chain: 45 hops" in words and "0.0994 left" in words and "0.950 left" in words
    en, zh = lab.caption()
    assert "45 hops at 0.95" in en and "0.0994" in en and "0.0994" in zh and "46 steps" in en
    assert "10⁻⁹" in "".join(plot.itertext())


def strokes(lab):
    """Strokes of each path of the lanes: bars, chain and dots, then bars, thin lines, thick line and dots."""
    return [path.get("d").split("M")[1:] for path in drawn(lab)[0].iter("path")]


def test_the_static_picture_has_one_dot_a_word_and_one_line_a_pair():
    assert [len(kind) for kind in strokes(RelayLab(distance=7))] == [8, 1, 8, 2, 6, 1, 8]


def test_the_bars_fall_below_one_and_rise_above_one():
    def heights(gain):
        return [float(bar.split("v-")[1]) for bar in strokes(RelayLab(distance=10, gain=gain))[0]]

    assert heights(0.9) == sorted(heights(0.9), reverse=True) and heights(0.9)[0] == relay.BAR
    assert heights(1.1) == sorted(heights(1.1)) and heights(1.1)[-1] == relay.BAR


def test_a_measured_curve_is_drawn_named_and_cut_where_it_leaves_the_axis():
    lab = RelayLab(measured={"tanh": [10.0**-d for d in range(65)], "none": [0.0] * 3},
                   measured_names={"tanh": ["tanh cell", "tanh 单元"]})
    plot = drawn(lab)[1]
    curves = [p.get("d") for p in plot.iter("path") if p.get("fill") == "none"]
    assert len(curves) == 3 and curves[2].count("L") == 11  # 1 to 1e-11; nothing of "none" can be drawn
    assert {"tanh cell", "tanh 单元", "none"} <= set(plot.itertext())
    assert all(0 <= float(y) <= relay.PLOT["bottom"] for d in curves for y in re.findall(r" ([\d.]+)", d))
