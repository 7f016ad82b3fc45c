"""StreamLab: its arithmetic against torch, its traits and its static picture."""

import re
import xml.etree.ElementTree as ET

import pytest
import torch
import traitlets

from attnbook.residual import layer_norm
from attnbook.widgets import StreamLab, stream


def by_torch(seed, kind, depth, scale):
    """The same curves by automatic differentiation."""
    matrices, _, start, probe = stream.sample(seed)
    x, probe = (torch.tensor(t, dtype=torch.float64) for t in (start, probe))
    states = [x.requires_grad_()]
    for w in matrices[:depth]:
        w = torch.tensor(w, dtype=torch.float64)

        def f(z, w=w):
            return scale * torch.relu(z) @ w.T

        x = states[-1]
        states.append({"none": lambda: f(x), "pre": lambda: x + f(layer_norm(x)),
                       "post": lambda: layer_norm(x + f(x))}[kind]())
    gradients = torch.autograd.grad((states[-1] * probe).sum(), states)
    norms = torch.stack([g.norm() for g in gradients])
    cosines = [torch.cosine_similarity(s, states[0], dim=-1).mean().item() for s in states]
    return (norms / norms[-1]).tolist(), cosines


@pytest.mark.parametrize("kind", stream.NAMES)
@pytest.mark.parametrize("depth, scale", [(1, 1.0), (7, 0.3), (24, 1.4)])
def test_curves_are_those_of_automatic_differentiation(kind, depth, scale):
    ours, theirs = stream.curves(3, kind, depth, scale), by_torch(3, kind, depth, scale)
    assert ours[0] == pytest.approx(theirs[0], rel=1e-8) and ours[1] == pytest.approx(theirs[1], abs=1e-8)


def test_the_surprises_hold():
    gradients, cosines = stream.curves(1, "pre", 96, 1.0)
    assert cosines[0] == pytest.approx(1) and abs(cosines[-1]) < 0.2 and gradients[0] > 1
    assert stream.curves(1, "none", 96, 0.5)[0][0] < 1e-20 < 1e10 < stream.curves(1, "none", 96, 1.5)[0][0]
    assert stream.curves(1, "post", 96, 0.5)[0][0] > 1e-2  # post-norm does not vanish before training


def test_a_smaller_scale_keeps_more_of_the_direction():
    ends = [stream.curves(1, "pre", 48, scale)[1][-1] for scale in (0.1, 0.3, 1.0)]
    assert ends == sorted(ends, reverse=True)


@pytest.mark.parametrize("wrong", [{"depth": 0}, {"depth": 97}, {"scale": 0.0}, {"scale": 2.1}, {"kind": "bare"}, {"seed": 0}])
def test_states_out_of_range_are_refused(wrong):
    with pytest.raises(traitlets.TraitError):
        StreamLab(**wrong)


def test_the_static_picture_and_its_caption_show_the_state():
    lab = StreamLab(depth=12, kind="post", scale=0.5)
    one, two = (ET.fromstring(text) for text in re.findall(r"<svg.*?</svg>", lab.picture("x"), re.DOTALL))
    for panel in (one, two):
        lines = [p for p in panel.iter("{http://www.w3.org/2000/svg}path") if p.get("fill") == "none" and "L" in p.get("d")]
        assert len(lines) == 3 and [p.get("stroke-width") for p in lines].count("3") == 1
        assert {"pre-norm", "post-norm", "no residual", "前置归一化"} <= set(panel.itertext())
    en, zh = lab.caption()
    assert "12 layers, post-norm, branch scale 0.50" in en and "12 层，后置归一化" in zh


def test_values_outside_the_axes_have_no_place():
    assert stream.place(0, 1e7) is None and stream.place(0, 0.0) is None and stream.place(0, 1e-13) is None
    assert stream.place(0, 1e6) == 0 and stream.place(0, 1e-12) == 1
    assert stream.place(1, 1.0) == 0 and stream.place(1, -0.39) < 1 and stream.place(1, -0.5) is None


def test_a_vector_of_zeros_has_no_direction():
    assert stream.cosine([0.0, 0.0], [1.0, 0.0]) == 0
