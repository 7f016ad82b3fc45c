"""The factor on the scores: as a number, as a layer, and with queries and keys of length 1."""

import math

import pytest
import torch

from attnbook.attention import SelfAttention, attention
from attnbook.scaling import QKNormAttention, ScaledAttention, cosine_bound, qk_norm, scale_factor
from attnbook.softmax import softmax


def layer(kind, **options):
    torch.manual_seed(0)
    return ScaledAttention(24, 3, kind=kind, **options).double()


X = torch.randn(2, 7, 24, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def test_factors_by_name():
    assert [scale_factor(kind, 16) for kind in ("none", "sqrt", "d", "mup")] == [1, 0.25, 0.0625, 0.5]
    assert scale_factor("mup", 64) == scale_factor("sqrt", 64)
    with pytest.raises(ValueError, match="kind is 'root'; expected one of none, sqrt, d, mup"):
        scale_factor("root", 16)
    with pytest.raises(ValueError, match="d_k is 0"):
        scale_factor("d", 0)


@pytest.mark.parametrize("kind", ["none", "sqrt", "d", "mup"])
def test_a_layer_uses_its_factor(kind):
    one = layer(kind)
    q, k, v = SelfAttention.project(one, X)
    expected, weights = attention(q, k, v, scale=scale_factor(kind, 8))
    out, got = one(X)
    assert torch.allclose(got, weights, atol=1e-12)
    assert torch.allclose(out, one.output(expected.transpose(1, 2).flatten(-2)), atol=1e-12)
    assert not one.log_scale.requires_grad


def test_root_is_what_self_attention_does():
    torch.manual_seed(0)
    plain = SelfAttention(24, 3).double()
    assert torch.allclose(plain(X)[0], layer("sqrt")(X)[0], atol=1e-12)


def test_a_learned_factor_starts_at_the_root_and_is_trained():
    one = layer("learned", causal=True)
    assert torch.allclose(one(X)[0], layer("sqrt", causal=True)(X)[0], atol=1e-6)
    one(X)[0].square().sum().backward()
    assert one.log_scale.shape == (3, 1, 1) and one.log_scale.grad.abs().min() > 0


def test_qk_norm_makes_scores_cosines():
    torch.manual_seed(0)
    one = QKNormAttention(24, 3).double()
    q, k, _ = one.project(X)
    scores = q @ k.mT / math.sqrt(8)
    assert scores.abs().max() <= math.sqrt(8) + 1e-6  # the factor starts at sqrt(d_k)
    before = one(X)[1]
    with torch.no_grad():
        one.query.weight.mul_(100)
    assert torch.allclose(one(X)[1], before, atol=1e-12)


def test_vectors_of_length_zero_stay_finite():
    q, k = qk_norm(torch.zeros(2, 4, requires_grad=True), torch.ones(3, 4))
    assert (q == 0).all() and torch.allclose(k.norm(dim=-1), torch.ones(3))


def test_the_bound_is_reached():
    for n in (2, 100, 1000):
        row = torch.full((n,), -1.0, dtype=torch.float64)
        row[0] = 1
        assert cosine_bound(3.0, n) == pytest.approx(softmax(3 * row)[0].item(), rel=1e-9)
    assert cosine_bound(1, 100) == pytest.approx(0.0695, abs=1e-4)
    assert cosine_bound(1, 1000) == pytest.approx(0.00734, abs=1e-5)
