"""SoftmaxLab: its arithmetic, its traits and its static picture."""

import re
import xml.etree.ElementTree as ET

import pytest
import torch
import traitlets

from attnbook import softmax as part
from attnbook.widgets import SoftmaxLab
from attnbook.widgets import softmax as lab

ROWS = [[2.0, 1.0, 0.1, -0.5, -1.5], [1.0, 0.9, 0.8], [4.0, -4.0], [0.0, 0.0, 0.0, 0.0]]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("temperature", [0.05, 0.7, 1.0, 10.0])
def test_arithmetic_is_that_of_the_package(row, temperature):
    x, p = torch.tensor(row, dtype=torch.float64), lab.shares(row, temperature)
    assert p == pytest.approx(part.softmax(x, temperature=temperature).tolist(), abs=1e-12)
    J = part.softmax_jacobian(x, temperature)
    assert torch.allclose(torch.tensor(lab.jacobian(p, temperature), dtype=torch.float64), J, atol=1e-12)
    assert lab.norm_of(lab.jacobian(p, temperature)) == pytest.approx(J.norm().item(), abs=1e-12)
    assert lab.entropy_of(p) == pytest.approx(part.entropy(part.softmax(x, temperature=temperature)).item(), abs=1e-12)


def test_the_surprise_holds():
    row = ROWS[0]
    plain, plus, double = (lab.shares(lab.changed(row, change), 1.0) for change in ("none", "plus", "double"))
    assert plus == pytest.approx(plain, abs=1e-12) and max(abs(a - b) for a, b in zip(plain, double)) > 0.1


def test_the_rows_of_the_source_are_presets():
    assert lab.changed([1, 2, 3], "ten") == [10, 20, 30] and lab.changed([1, 2, 3], "hundred") == [100, 200, 300]


@pytest.mark.parametrize("wrong", [{"temperature": 0.0}, {"temperature": 11.0}, {"logits": [1.0]}, {"logits": [5.0, 0.0]},
                                   {"logits": [0.0] * 6}, {"change": "square"}])
def test_states_out_of_range_are_refused(wrong):
    with pytest.raises(traitlets.TraitError):
        SoftmaxLab(**wrong)


def test_the_static_picture_shows_the_numbers_of_the_state():
    one = SoftmaxLab(logits=[2.0, 1.0, 0.1])
    pictures = [ET.fromstring(text) for text in re.findall(r"<svg.*?</svg>", one.picture("x"), re.DOTALL)]
    left, right = ("|".join(picture.itertext()) for picture in pictures)
    assert all(number in left for number in ("2.00", "0.659", "0.242", "0.099", "argmax")) and "0.22" in right
    en, zh = one.caption()
    assert "0.659 (score 1)" in en and "0.85 nats" in en and "0.659（分数 1）" in zh


def test_no_state_prints_nan():
    for temperature in (0.05, 10.0):
        one = SoftmaxLab(logits=[4.0, -4.0, 4.0], temperature=temperature, change="hundred")
        assert not re.search("nan|inf|–", one.picture("x") + "".join(one.caption()))
