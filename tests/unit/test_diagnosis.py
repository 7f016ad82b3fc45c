"""The doctor: each fault is found on scores that have it, healthy scores get no finding, and models are heard."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from attnbook.attention import SelfAttention, attention, padding_mask
from attnbook.diagnosis import diagnose
from attnbook.scaling import ScaledAttention

D = 64


def qk(d=D, rows=32, keys=24, seed=0, size=()):
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(*size, n, d, generator=generator) for n in (rows, keys))


def said(diagnosis):
    """The text on one line."""
    return " ".join(str(diagnosis).split())


def scores(factor, d=D, **options):
    q, k = qk(d, **options)
    return q @ k.mT * factor


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("d", [16, 64, 256])
def test_healthy_scores_get_no_finding(seed, d):
    assert diagnose(scores(d**-0.5, d, seed=seed), d_k=d).findings == ()
    assert diagnose(scores(d**-0.5, d, seed=seed)).findings == ()


@pytest.mark.parametrize("d", [64, 256, 512])
def test_a_forgotten_factor_is_named(d):
    for found in (diagnose(scores(1.0, d), d_k=d), diagnose(scores(1.0, d))):
        assert found.names[0] == "too wide" and "not scaled" in said(found)
    assert "dead rows" in diagnose(scores(1.0, 512), d_k=512).names
    assert "standard deviation 22" in said(diagnose(scores(1.0, 512, rows=200, keys=200), d_k=512))


def test_a_divisor_of_d_k_is_named():
    found = diagnose(scores(1 / D), d_k=D)
    assert found.names == ("too narrow", "uniform rows") and "d_k in place of its root" in said(found)


def test_a_divisor_of_another_width_is_too_narrow():
    found = diagnose(scores(1 / 24), d_k=D)  # sqrt(576), the width of a model of nine heads
    assert found.names == ()  # a third of the spread: too little to accuse anyone
    assert "too narrow" in diagnose(scores(1 / 48), d_k=D).names


def test_rows_that_see_nothing():
    s = scores(D**-0.5)
    s[3] = -torch.inf
    assert diagnose(s, d_k=D).names == ("empty rows",)
    filled = scores(D**-0.5)
    filled[3] = -1e9
    assert diagnose(filled, d_k=D).names == ("hidden rows",)
    only = diagnose(torch.full((2, 3), -torch.inf))
    assert only.statistics is None and only.names == ("empty rows",)


def test_weight_on_hidden_keys():
    mask = padding_mask([5], 24)[0, 0]
    s = scores(D**-0.5)
    assert diagnose(s, d_k=D, mask=mask).names == ("hidden keys",)
    assert diagnose(s.masked_fill(~mask, -torch.inf), d_k=D, mask=mask).names == ()
    inverted = diagnose(s.masked_fill(mask, -torch.inf), d_k=D, mask=mask)
    assert "hidden keys" in inverted.names and "inverted" in said(inverted)
    with pytest.raises(ValueError, match=r"mask has shape \(3, 3\); expected a boolean mask"):
        diagnose(s, mask=torch.ones(3, 3, dtype=torch.bool))


def test_numbers_that_are_not_finite():
    s = scores(1.0)
    s[0, 0] = torch.nan
    assert diagnose(s).names == ("not finite",)


# -- models ---------------------------------------------------------------------------------

class TwoLayers(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layers = nn.ModuleList(ScaledAttention(256, 2, kind=kind) for _ in range(2))
        for one in self.layers:
            for matrix in (one.query, one.key):
                nn.init.normal_(matrix.weight, std=256**-0.5)

    def forward(self, x):
        for one in self.layers:
            x = functional.layer_norm(x + one(x)[0], (256,))
        return x


@pytest.mark.parametrize("kind, names", [("sqrt", set()), ("none", {"too wide", "dead rows"}),
                                         ("d", {"too narrow", "uniform rows"})])
def test_each_attention_of_a_model_is_examined(kind, names):
    torch.manual_seed(0)
    found = diagnose(TwoLayers(kind), torch.randn(2, 10, 256), d_k=128)
    assert [set(one.names) for one in found] == [names, names] and found[1].call == "softmax 2"


@pytest.mark.parametrize("way", [
    lambda s: torch.softmax(s, -1), lambda s: torch.softmax(s, dim=-1), lambda s: s.softmax(-1),
    lambda s: functional.softmax(s, dim=-1), lambda s: functional.softmax(s, -1, dtype=torch.float64),
])
def test_every_way_to_write_softmax_is_heard(way):
    q, k = qk()
    found = diagnose(lambda: way(q @ k.mT))
    assert len(found) == 1 and found[0].names[0] == "too wide"


def test_fused_attention_is_heard_with_its_mask_and_width():
    q, k = qk(size=(2, 3), rows=8, keys=8)
    fused = functional.scaled_dot_product_attention
    (causal,) = diagnose(lambda: fused(q, k, k, is_causal=True))
    assert causal.names == () and causal.statistics.rows == 2 * 3 * 7
    (wide,) = diagnose(lambda: fused(q, k, k, scale=1.0))
    assert wide.names[0] == "too wide" and "d_k = 64" in said(wide)
    (hidden,) = diagnose(lambda: fused(q, k, k, attn_mask=torch.full((8, 8), -1e9)))
    assert hidden.names == ("hidden rows",)
    (grouped,) = diagnose(lambda: fused(q, k[:, :1], k[:, :1], enable_gqa=True))
    assert grouped.names == ()


def test_listening_changes_nothing():
    torch.manual_seed(0)
    model, x = SelfAttention(32, 2), torch.randn(5, 32)
    before = model(x)[0]
    diagnose(model, x)
    assert torch.equal(model(x)[0], before)
    assert all(p.grad is None for p in model.parameters())


def test_softmax_over_classes_or_queries_is_not_taken_for_attention():
    with pytest.raises(ValueError, match="called no softmax that can be seen"):
        diagnose(lambda: torch.zeros(5).softmax(-1) + torch.zeros(5, 5).softmax(-2).sum())
    with pytest.raises(TypeError, match="source is str 'x'; expected a tensor of scores"):
        diagnose("x")


def test_the_book_s_own_attention_is_heard_once_a_call():
    q, k = qk()
    found = diagnose(lambda: attention(q, k, k, scale=1 / D), d_k=D)
    assert len(found) == 1 and found[0].names == ("too narrow", "uniform rows")


def test_a_diagnosis_reads_as_a_sentence():
    text = str(diagnose(scores(D**-0.5), d_k=D))
    assert text.startswith("scores: standard deviation") and text.endswith("- nothing looks wrong")
