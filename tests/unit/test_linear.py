"""Linear attention: one function, three ways; a positive feature map and a normaliser that survive extremes."""

import pytest
import torch
from torch.autograd import gradcheck

from attnbook.linear import linear_attention, linear_attention_quadratic, positive_features, step


def qkv(L, S, *batch, dtype=torch.float64, scale=1.0):
    generator = torch.Generator().manual_seed(L * S)
    return tuple((scale * torch.randn(*batch, n, d, dtype=torch.float64, generator=generator)).to(dtype)
                 for n, d in ((L, 4), (S, 4), (S, 3)))


@pytest.mark.parametrize("L, S", [(7, 7), (2, 7), (7, 2), (1, 1), (0, 3), (3, 0)])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_the_recurrence_equals_the_quadratic_form(L, S, causal, scale):
    q, k, v = qkv(L, S, 2, scale=scale)
    out, weights = linear_attention_quadratic(q, k, v, causal)
    assert torch.allclose(linear_attention(q, k, v, causal), out, atol=1e-10)
    rows = weights.sum(-1)
    assert torch.allclose(rows[rows > 0], torch.ones_like(rows[rows > 0])) and out.shape == (2, L, 3)


def test_a_causal_run_in_parts_equals_the_whole():
    q, k, v = qkv(7, 7)
    whole = linear_attention(q, k, v, True)
    for t in range(1, 8):
        assert torch.allclose(linear_attention(q[-t:], k, v, True), whole[-t:], atol=1e-12)


def test_it_is_the_formula_of_the_source():
    q, k, v = qkv(5, 5)
    mass = ((torch.nn.functional.elu(q) + 1) @ (torch.nn.functional.elu(k) + 1).mT).tril()
    assert torch.allclose(linear_attention(q, k, v, True), (mass / mass.sum(-1, keepdim=True)) @ v, atol=1e-12)


def test_features_that_underflow_and_sums_that_overflow():
    q, k, v = qkv(6, 6)
    for causal in (False, True):
        out = linear_attention(q, torch.full_like(k, -200.0), torch.ones_like(v), causal)
        assert torch.allclose(out, torch.ones_like(out))
        assert linear_attention(torch.full_like(q, -2000.0), k, v, causal).isfinite().all()
    many = torch.full((4096, 4), 8.0, dtype=torch.float16)
    for causal in (False, True):
        out = linear_attention(many, many, torch.ones_like(many), causal)
        assert out.dtype == torch.float16 and (out - 1).abs().max() < 2e-3


def test_an_early_row_is_not_hidden_by_a_later_giant_key():
    q, k, v = qkv(4, 4)
    k = torch.cat([k[:3] - 1000.0, k[3:]])
    out, _ = linear_attention_quadratic(q, k, v, True)
    assert torch.allclose(out, linear_attention(q, k, v, True), atol=1e-10) and torch.allclose(out[0], v[0])


def test_outputs_stay_in_the_range_of_the_values_and_the_state_does_not_grow():
    q, k, v = qkv(40, 40)
    out = linear_attention(q, k, v)
    assert (out >= v.min(0).values).all() and (out <= v.max(0).values).all()
    state = None
    for key, value in zip(positive_features(k), v):
        state = step(state, key, value)
    assert state.values.shape == (4, 3) and state.total.shape == (4,)


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_are_right(causal):
    q, k, v = (x.requires_grad_() for x in qkv(4, 4))
    assert gradcheck(lambda *x: linear_attention(*x, causal), (q, k, v))
    assert gradcheck(lambda *x: linear_attention_quadratic(*x, causal)[0], (q, k, v))


@pytest.mark.parametrize("change, words", [({"q": torch.zeros(2, 3).long()}, "q is a int64"),
                                           ({"k": torch.zeros(2, 3).double()}, "mixed dtypes"),
                                           ({"v": torch.zeros(3, 3)}, "v has shape")])
def test_what_does_not_fit_is_named(change, words):
    given = {"q": torch.zeros(2, 3), "k": torch.zeros(2, 3), "v": torch.zeros(2, 3)} | change
    for way in (linear_attention, linear_attention_quadratic):
        with pytest.raises((TypeError, ValueError), match=words):
            way(**given)
