"""ScaleLab: its arithmetic against torch, its generator, its traits and its static picture."""

import math
import re
import statistics as plain
import xml.etree.ElementTree as ET

import pytest
import torch
import traitlets

from attnbook import saturation
from attnbook.scaling import scale_factor
from attnbook.widgets import ScaleLab, scale


def drawn(lab):
    pictures = re.findall(r"<svg.*?</svg>", lab.picture("x"), re.DOTALL)
    return [ET.fromstring(text.replace(' xmlns="http://www.w3.org/2000/svg"', "")) for text in pictures]


def test_the_generator_is_mulberry32():
    uniform = scale.mulberry(1)
    assert [round(next(uniform), 12) for _ in range(2)] == [0.627073940588, 0.002735721180]
    many = [next(uniform) for _ in range(4000)]
    assert 0 <= min(many) and max(many) < 1 and abs(plain.mean(many) - 0.5) < 0.02


def test_the_sample_is_standard_normal_and_lengths_are_sums_of_squares():
    squares, keys = scale.sample(3)
    flat = [x for row in keys for x in row]
    assert abs(plain.mean(flat)) < 0.02 and abs(plain.stdev(flat) - 1) < 0.02
    assert abs(plain.mean(s[256] for s in squares) / 256 - 1) < 0.05
    assert all(s[0] == 0 and sorted(s) == s for s in squares)


@pytest.mark.parametrize("d, n, kind", [
    (1, 2, "none"), (64, 32, "sqrt"), (512, 8, "none"), (1024, 512, "d"), (64, 512, "none")])
def test_statistics_are_those_of_the_package(d, n, kind):
    scores = torch.tensor(scale.rows_of(2, d, n, kind), dtype=torch.float64)
    weights = scores.softmax(-1)
    norms = saturation.jacobian_norm(weights)
    found = scale.statistics(2, d, n, kind)
    assert found["norms"] == pytest.approx(norms.tolist(), rel=1e-9, abs=1e-300)
    assert found["dead"] == pytest.approx(saturation.dead_rows(scores).item())
    assert found["weights"] == pytest.approx(sorted(weights[0].tolist(), reverse=True))
    assert found["std"] == pytest.approx(scores.square().mean().sqrt().item())
    assert found["jacobian"] == pytest.approx(norms.square().mean().sqrt().item())
    assert scale.factor(kind, d) == scale_factor(kind, d)


def test_rows_are_distributed_as_dot_products():
    torch.manual_seed(0)
    dots = (torch.randn(4000, 64) * torch.randn(4000, 64)).sum(-1)
    ours = [x for seed in (1, 2) for row in scale.rows_of(seed, 64, 32, "none") for x in row]
    quantiles = torch.tensor([0.05, 0.25, 0.5, 0.75, 0.95])
    assert torch.allclose(torch.tensor(ours).quantile(quantiles), dots.quantile(quantiles), atol=0.8)


def test_the_surprise_holds():
    for seed in (1, 2, 3):
        few, many = (scale.statistics(seed, 512, n, "none") for n in (4, 512))
        roots = [scale.statistics(seed, 512, n, "sqrt")["jacobian"] for n in (4, 512)]
        assert few["jacobian"] < roots[0] and many["jacobian"] > roots[1]
        assert few["dead"] > many["dead"]
        assert scale.statistics(seed, 2, 4, "none")["jacobian"] > 0.7 * scale.statistics(seed, 2, 4, "sqrt")["jacobian"]


def test_the_histogram_keeps_everything():
    counts = scale.histogram([-100.0, -30.2, -0.5, 0.49, 0.5, 29.6, 77.0])
    assert sum(counts) == pytest.approx(1) and len(counts) == 61
    assert [round(7 * c) for c in (counts[0], counts[30], counts[31], counts[60])] == [2, 2, 1, 2]


@pytest.mark.parametrize("wrong", [
    {"d_k": 0}, {"d_k": 1025}, {"n_keys": 1}, {"n_keys": 513}, {"scale": "cube"}, {"seed": 0}])
def test_states_out_of_range_are_refused(wrong):
    with pytest.raises(traitlets.TraitError):
        ScaleLab(**wrong)


def test_the_static_picture_shows_the_state():
    lab = ScaleLab()
    histogram, rows = drawn(lab)
    found = scale.statistics(lab.seed, lab.d_k, lab.n_keys, lab.scale)
    rings = [c for c in rows.iter("circle") if c.get("fill") == "none"]
    assert len(list(rows.iter("circle"))) == 60 and len(rings) == round(60 * found["dead"]) > 20
    bars = [float(r.get("height")) for r in rows.iter("rect")]
    assert len(bars) == 8 and bars == sorted(bars, reverse=True) and max(bars) <= 90
    assert f"{found['weights'][0]:.2f}" in "".join(rows.itertext())
    assert sum(float(r.get("height")) > 0 for r in histogram.iter("rect")) > 30
    en, zh = lab.caption()
    for word in ("512", "8", f"{100 * found['dead']:.0f} %"):
        assert word in en and word in zh
    assert "not scaled" in en and "不缩放" in zh and math.isfinite(found["std"])


def test_the_plain_line_names_the_state():
    assert repr(ScaleLab(d_k=64, n_keys=4, scale="d")) == "ScaleLab(d_k=64, n_keys=4, scale='d')"
