"""The ways to join a sublayer to the stream, and stacks of them."""

import math

import pytest
import torch
from torch import nn

from attnbook.residual import RMSNorm, layer_norm
from attnbook.stacks import CONNECTIONS, FeedForward, Stack, begin, transformer_stack

X = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def stack(kind, n=2, **options):
    torch.manual_seed(0)
    return Stack([nn.Linear(8, 8) for _ in range(n)], 8, kind, **options).double()


def one(kind, **options):
    """A single connection and its sublayer."""
    layer = stack(kind, 1, **options).layers[0]
    return layer, layer.sublayer


@pytest.mark.parametrize("kind, formula", [
    ("none", lambda f, m: f(layer_norm(X))),
    ("bare", lambda f, m: X + f(X)),
    ("pre", lambda f, m: X + f(layer_norm(X))),
    ("post", lambda f, m: layer_norm(X + f(X))),
    ("scaled", lambda f, m: X + 0.1 * f(layer_norm(X))),
    ("rezero", lambda f, m: X),
    ("gated", lambda f, m: X + torch.sigmoid(m.gate(layer_norm(X))) * f(layer_norm(X))),
    ("highway", lambda f, m: X + torch.sigmoid(m.gate(layer_norm(X))) * (f(layer_norm(X)) - X)),
    ("dense", lambda f, m: torch.cat([X, f(m.read(layer_norm(X)))], -1)),
])
def test_each_way_is_its_formula(kind, formula):
    module, f = one(kind)
    assert torch.allclose(module(X), formula(f, module), atol=1e-12)


def test_rezero_starts_as_the_identity_and_its_number_is_trained():
    module, _ = one("rezero")
    jacobian = torch.autograd.functional.jacobian(module, X[0, 0])
    assert torch.equal(jacobian, torch.eye(8).double())
    module(X).square().sum().backward()
    assert module.scale.grad.abs() > 0 and module.sublayer.weight.grad.abs().max() == 0


def test_a_fixed_scale_is_an_option_of_scaled_only():
    module, f = one("scaled", scale=0.5)
    assert torch.allclose(module(X), X + 0.5 * f(layer_norm(X)), atol=1e-12)
    with pytest.raises(TypeError, match="scale"):
        stack("pre", scale=0.5)


def test_a_highway_that_opens_forgets_the_stream_and_a_gate_keeps_it():
    for kind, kept in (("highway", 0.0), ("gated", 1.0)):
        module, f = one(kind)
        nn.init.constant_(module.gate.bias, 60.0)
        assert torch.allclose(module(X), kept * X + f(layer_norm(X)), atol=1e-9)


def test_the_dense_stream_keeps_every_state_as_it_was():
    net = stack("dense", 3)
    x = X
    for layer in net.layers:
        wider = layer(x)
        assert torch.equal(wider[..., :x.shape[-1]], x)
        x = wider
    assert x.shape[-1] == net.width == 32 == net(X).shape[-1]


@pytest.mark.parametrize("kind", CONNECTIONS)
def test_every_stack_runs_and_every_weight_gets_a_gradient(kind):
    net = stack(kind, 3)
    if kind == "rezero":
        for layer in net.layers:
            nn.init.constant_(layer.scale, 0.5)
    out = net(X)
    assert out.shape == (2, 5, net.width) and out.dtype == torch.float64
    (out ** 3).sum().backward()
    assert all(p.grad is not None and p.grad.abs().max() > 0 for p in net.parameters())


def test_only_post_norm_needs_no_final_norm():
    for kind in CONNECTIONS:
        assert isinstance(stack(kind).final, nn.Identity) == (kind == "post")


def test_another_norm_and_other_sublayers_fit_in():
    assert isinstance(stack("pre", norm=RMSNorm).layers[0].norm, RMSNorm)
    net = transformer_stack(3, 8, 2, "pre", causal=True).double()
    assert len(net.layers) == 6
    changed = X.clone()
    changed[:, -1] += 1
    assert torch.equal(net(X)[:, :-1], net(changed)[:, :-1])  # causal: earlier tokens do not see the last


@pytest.mark.parametrize("start, variance", [("torch", 1 / (3 * 64)), ("xavier", 2 / 320), (0.02, 4e-4)])
def test_starts_have_their_variance(start, variance):
    torch.manual_seed(0)
    net = transformer_stack(1, 64, start=start)
    assert net.layers[1].sublayer.into.weight.var().item() == pytest.approx(variance, rel=0.05)
    if start != "torch":
        assert net.layers[1].sublayer.into.bias.abs().max() == 0


def test_an_orthogonal_start_keeps_lengths():
    linear = nn.Linear(8, 8)
    begin(linear, "orthogonal")
    assert torch.allclose(linear(X.float()).norm(dim=-1), X.float().norm(dim=-1), atol=1e-5)


def test_the_stream_of_pre_norm_widens_and_that_of_post_norm_does_not():
    """12 blocks, width 64, Xavier: the standard deviation of the stream at the end."""
    torch.manual_seed(0)
    x = torch.randn(4, 16, 64)
    for kind, expected, width in (("pre", 3.3, 1.0), ("post", 1.0, 0.02)):
        net = transformer_stack(12, 64, 4, kind, start="xavier")
        for layer in net.layers:
            x_end = layer(x if layer is net.layers[0] else x_end)
        assert abs(x_end.std().item() - expected) < width


def test_feed_forward_is_its_formula():
    f = FeedForward(8, 16).double()
    hidden = X @ f.into.weight.T + f.into.bias
    assert torch.allclose(f(X), hidden.clamp(min=0) @ f.back.weight.T + f.back.bias, atol=1e-12)
    assert FeedForward(8).into.out_features == 32


@pytest.mark.parametrize("call, error, words", [
    (lambda: stack("sum"), ValueError, "kind is 'sum'; expected one of none, bare, pre"),
    (lambda: transformer_stack(0, 8), ValueError, "n_blocks is 0"),
    (lambda: transformer_stack(1, 8, start="big"), ValueError, "start is 'big'"),
    (lambda: transformer_stack(1, 8, start=math.nan), ValueError, "start is nan"),
    (lambda: stack("pre")(X[..., :7]), ValueError, "weight has shape"),
])
def test_wrong_arguments_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()
