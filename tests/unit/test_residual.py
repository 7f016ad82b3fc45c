"""Norms equal to torch's, and the block that adds to the stream."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from attnbook.attention import SelfAttention
from attnbook.residual import LayerNorm, RMSNorm, layer_norm, residual_block, rms_norm

WIDTHS = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 1e-5, torch.float64: 1e-12}


def normal(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


# -- norms -----------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype, tolerance", WIDTHS.items())
def test_norms_equal_torch_in_every_dtype(dtype, tolerance):
    x, w, b = normal(2, 5, 4, dtype=dtype), normal(4, seed=1, dtype=dtype), normal(4, seed=2, dtype=dtype)
    ours, theirs = layer_norm(x, w, b), functional.layer_norm(x, (4,), w, b)
    assert ours.dtype == dtype and torch.allclose(ours, theirs, atol=tolerance, rtol=tolerance)
    ours, theirs = rms_norm(x, w, 1e-6), functional.rms_norm(x, (4,), w, 1e-6)
    assert ours.dtype == dtype and torch.allclose(ours, theirs, atol=tolerance, rtol=tolerance)


def test_modules_equal_torch_with_gradients():
    for ours, theirs in ((LayerNorm(6), nn.LayerNorm(6)), (RMSNorm(6), nn.RMSNorm(6, eps=1e-6))):
        ours.load_state_dict(theirs.state_dict())
        x = normal(3, 6, dtype=torch.float32)
        a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
        ours(a).square().sum().backward(), theirs(b).square().sum().backward()
        assert torch.allclose(a.grad, b.grad, atol=1e-5)
        for p, q in zip(ours.parameters(), theirs.parameters(), strict=True):
            assert torch.allclose(p.grad, q.grad, atol=1e-4)


def test_epsilon_stands_inside_the_root():
    x = torch.tensor([1e-3, -1e-3], dtype=torch.float64)
    assert layer_norm(x).tolist() == pytest.approx([0.30151, -0.30151], abs=1e-5)


def test_a_constant_row_gives_the_bias_and_a_finite_gradient():
    x = torch.full((3, 4), 7.0, requires_grad=True)
    out = layer_norm(x, torch.ones(4), torch.arange(4.0))
    assert torch.equal(out, torch.arange(4.0).expand(3, 4))
    out.sum().backward()
    assert torch.isfinite(x.grad).all()
    assert (rms_norm(torch.zeros(2, 4)) == 0).all()


def test_a_large_offset_costs_no_digits():
    x = torch.arange(10000.0, 10004.0)
    assert torch.allclose(layer_norm(x), layer_norm(torch.arange(4.0)), atol=1e-3)


def test_what_each_norm_ignores():
    x = normal(3, 8)
    assert torch.allclose(layer_norm(3 * x + 5), layer_norm(x), atol=1e-5)
    assert torch.allclose(rms_norm(3 * x), rms_norm(x), atol=1e-5)
    assert not torch.allclose(rms_norm(x + 5), rms_norm(x), atol=0.1)


def test_the_length_after_a_norm_is_the_root_of_the_width():
    for norm in (layer_norm, rms_norm):
        assert torch.allclose(norm(normal(5, 64)).norm(dim=-1), torch.full((5,), 8.0).double(), atol=1e-3)
    one_hot = layer_norm(torch.eye(8)[0])
    assert one_hot.tolist() == pytest.approx([2.6457] + 7 * [-0.37796], abs=1e-3)


def test_a_token_is_normed_alone():
    x = normal(4, 6)
    other = torch.cat([x[:1], normal(3, 6, seed=1)])
    assert torch.equal(layer_norm(x)[0], layer_norm(other)[0])


def test_norms_leave_their_input_and_take_empty_and_strided_ones():
    x = normal(4, 6)
    kept = x.clone()
    layer_norm(x), rms_norm(x)
    assert torch.equal(x, kept)
    assert layer_norm(torch.zeros(0, 6)).shape == (0, 6) == rms_norm(torch.zeros(0, 6)).shape
    assert torch.equal(layer_norm(x.T), layer_norm(x.T.contiguous()))


def test_gradients_of_the_norms_are_right():
    x, w, b = (normal(*s, seed=i).requires_grad_() for i, s in enumerate([(3, 5), (5,), (5,)]))
    assert torch.autograd.gradcheck(layer_norm, (x, w, b))
    assert torch.autograd.gradcheck(rms_norm, (x, w))


@pytest.mark.parametrize("call, error, words", [
    (lambda: layer_norm(torch.arange(4)), TypeError, "x is a int64 tensor"),
    (lambda: layer_norm(torch.ones(2, 4), torch.ones(2)), ValueError, r"weight has shape \(2,\); expected \(4,\)"),
    (lambda: layer_norm(torch.ones(2, 4), None, torch.ones(3)), ValueError, r"bias has shape \(3,\)"),
    (lambda: rms_norm(torch.ones(2, 4), eps=-1), ValueError, "eps is -1"),
    (lambda: rms_norm(torch.tensor(1.0)), ValueError, "at least 1 axes"),
    (lambda: LayerNorm(0), ValueError, "d_model is 0"),
    (lambda: RMSNorm(1.5), TypeError, "d_model is float"),
])
def test_wrong_arguments_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


# -- the block -------------------------------------------------------------------------------

def test_a_sublayer_of_zero_leaves_pre_norm_alone_and_norms_the_stream_of_post_norm():
    x = normal(2, 3, 6)
    assert torch.equal(residual_block(x, torch.zeros_like, layer_norm, "pre"), x)
    assert torch.equal(residual_block(x, torch.zeros_like, layer_norm, "post"), layer_norm(x))


def test_a_sublayer_that_doubles():
    x = normal(2, 3, 6)
    assert torch.allclose(residual_block(x, lambda t: 2 * t, layer_norm), x + 2 * layer_norm(x), atol=1e-12)
    assert torch.allclose(residual_block(x, lambda t: 2 * t, layer_norm, "post"), layer_norm(3 * x), atol=1e-12)


def test_what_the_sublayer_sees():
    x, seen = normal(2, 6), []

    def spy(t):
        seen.append(t)
        return torch.zeros_like(t)

    residual_block(x, spy, layer_norm, "pre"), residual_block(x, spy, layer_norm, "post")
    assert torch.equal(seen[0], layer_norm(x)) and seen[1] is x


def test_attention_is_a_sublayer_and_its_weights_are_left_aside():
    attend, x = SelfAttention(6).double(), normal(2, 4, 6)
    expected = x + attend(layer_norm(x))[0]
    assert torch.equal(residual_block(x, attend, layer_norm), expected)


def test_the_stream_that_came_in_is_not_changed():
    x = normal(2, 6)
    kept = x.clone()
    residual_block(x, lambda t: t * 2, layer_norm)
    assert torch.equal(x, kept)


@pytest.mark.parametrize("call, error, words", [
    (lambda x: residual_block(x, torch.zeros_like, layer_norm, "sandwich"), ValueError, "order is 'sandwich'; expected 'pre' or 'post'"),
    (lambda x: residual_block(x, lambda t: t[:1], layer_norm), ValueError, r"output of sublayer has shape \(1, 6\); expected \(2, 6\)"),
    (lambda x: residual_block(x, lambda t: None, layer_norm), TypeError, "output of sublayer is NoneType"),
    (lambda x: residual_block(x.long(), torch.zeros_like, torch.zeros_like), TypeError, "x is a int64"),
])
def test_a_block_names_what_does_not_fit(call, error, words):
    with pytest.raises(error, match=words):
        call(normal(2, 6))
