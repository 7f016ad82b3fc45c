"""The atom against torch's own kernel, in float64, and at the edges where attention code usually breaks."""

import math

import pytest
import torch
from torch.nn import functional as F

from attnbook.attention import (
    SelfAttention,
    additive_mask,
    attention,
    causal_mask,
    local_mask,
    merge_heads,
    padding_mask,
    split_heads,
)

DOUBLE = torch.float64


def draw(*shape, seed=0, dtype=DOUBLE):
    return torch.randn(*shape, dtype=DOUBLE, generator=torch.Generator().manual_seed(seed)).to(dtype)


def qkv(batch=(2, 3), L=5, S=7, d_k=4, d_v=6, dtype=DOUBLE):
    return draw(*batch, L, d_k, seed=1, dtype=dtype), draw(*batch, S, d_k, seed=2, dtype=dtype), \
        draw(*batch, S, d_v, seed=3, dtype=dtype)


def close(a, b, tolerance=1e-12):
    return a.shape == b.shape and (a - b).abs().max().item() <= tolerance


def some_mask(L, S, seed=5):
    """A random boolean mask in which every query may see at least one key."""
    mask = torch.rand(L, S, generator=torch.Generator().manual_seed(seed)) < 0.6
    mask[:, 0] = True
    return mask


# -- equal to torch's kernel --------------------------------------------------------------

@pytest.mark.parametrize("batch", [(), (2,), (2, 3), (2, 1, 3)])
def test_equals_torch_in_float64(batch):
    q, k, v = qkv(batch)
    assert close(attention(q, k, v)[0], F.scaled_dot_product_attention(q, k, v))


def test_equals_torch_with_a_boolean_mask():
    q, k, v = qkv()
    mask = some_mask(5, 7)
    assert close(attention(q, k, v, mask=mask)[0], F.scaled_dot_product_attention(q, k, v, attn_mask=mask))


def test_equals_torch_with_a_mask_that_is_added_and_a_bias():
    q, k, v = qkv()
    added = draw(5, 7, seed=6)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=added)
    assert close(attention(q, k, v, mask=added)[0], expected)
    assert close(attention(q, k, v, bias=added)[0], expected)
    mask = some_mask(5, 7)
    both = F.scaled_dot_product_attention(q, k, v, attn_mask=added + additive_mask(mask, DOUBLE))
    assert close(attention(q, k, v, mask=mask, bias=added)[0], both)


def test_equals_torch_when_causal_and_square():
    q, k, v = qkv(L=7)
    assert close(attention(q, k, v, causal=True)[0], F.scaled_dot_product_attention(q, k, v, is_causal=True))


def test_scale_can_be_a_number_or_a_tensor():
    q, k, v = qkv()
    expected = F.scaled_dot_product_attention(q, k, v, scale=0.3)
    assert close(attention(q, k, v, scale=0.3)[0], expected)
    assert close(attention(q, k, v, scale=torch.tensor(0.3, dtype=DOUBLE))[0], expected)
    per_head = torch.tensor([0.1, 0.5, 1.0], dtype=DOUBLE).view(3, 1, 1)
    assert attention(q.float(), k.float(), v.float(), scale=per_head)[0].dtype == torch.float32
    one = F.scaled_dot_product_attention(q[:, 1], k[:, 1], v[:, 1], scale=0.5)
    assert close(attention(q, k, v, scale=per_head)[0][:, 1], one)


def test_gradients_equal_those_of_torch():
    inputs = [x.requires_grad_() for x in qkv()]
    mask, direction = some_mask(5, 7), draw(2, 3, 5, 6, seed=9)
    ours = torch.autograd.grad(attention(*inputs, mask=mask)[0], inputs, direction)
    theirs = torch.autograd.grad(F.scaled_dot_product_attention(*inputs, attn_mask=mask), inputs, direction)
    assert all(close(a, b) for a, b in zip(ours, theirs, strict=True))


def test_one_set_of_keys_serves_a_whole_batch_of_queries():
    q, k, v = qkv()
    shared = attention(q, k[:1, :1], v[:1, :1])[0]
    assert close(shared, attention(q, k[:1, :1].expand(2, 3, -1, -1), v[:1, :1].expand(2, 3, -1, -1))[0])
    assert close(attention(q, k[0, 0], v[0, 0])[0], shared)


def test_strided_and_expanded_inputs_give_the_same_numbers():
    q, k, v = qkv()
    strided = [x.mT.contiguous().mT for x in (q, k, v)]
    assert not strided[0].is_contiguous()
    assert close(attention(*strided)[0], attention(q, k, v)[0], 1e-14)


def test_inputs_are_never_changed():
    q, k, v = qkv()
    mask, bias = some_mask(5, 7), draw(5, 7)
    mask[2] = False
    before = [x.clone() for x in (q, k, v, mask, bias)]
    attention(q, k, v, mask=mask, bias=bias, causal=True)
    assert all(torch.equal(a, b) for a, b in zip((q, k, v, mask, bias), before, strict=True))


# -- weights ------------------------------------------------------------------------------

def test_weights_are_normalised_over_the_keys():
    q, k, v = qkv()
    weights = attention(q, k, v)[1]
    assert weights.shape == (2, 3, 5, 7)
    assert close(weights.sum(-1), torch.ones(2, 3, 5, dtype=DOUBLE))
    assert (weights.sum(-2) - 1).abs().max() > 0.1


def test_axes_of_equal_size_do_not_hide_a_wrong_axis():
    q, k, v = (draw(4, 4, 4, 4, seed=s) for s in (1, 2, 3))
    assert close(attention(q, k, v)[0], F.scaled_dot_product_attention(q, k, v))


def test_order_of_keys_does_not_matter():
    q, k, v = qkv()
    order = torch.randperm(7, generator=torch.Generator().manual_seed(0))
    assert close(attention(q, k[..., order, :], v[..., order, :])[0], attention(q, k, v)[0])


def test_a_single_key_has_weight_exactly_one():
    q, k, v = qkv(S=1)
    out, weights = attention(q, k, v)
    assert (weights == 1).all()
    assert close(out, v.expand_as(out))


def test_heads_keep_their_own_weights():
    layer = SelfAttention(8, 2)
    weights = layer(draw(3, 5, 8).float())[1]
    assert weights.shape == (3, 2, 5, 5)
    assert (weights[:, 0] - weights[:, 1]).abs().max() > 1e-3


# -- rows that may attend to nothing ------------------------------------------------------

def nothing_masks():
    row = torch.ones(4, 4, dtype=torch.bool)
    row[1] = False
    return {
        "one row": row,
        "every row": torch.zeros(4, 4, dtype=torch.bool),
        "one row, added": additive_mask(row, DOUBLE),
        "one batch item": torch.tensor([True, False]).view(2, 1, 1, 1),
    }


@pytest.mark.parametrize("kind", nothing_masks())
def test_a_row_that_may_attend_to_nothing_is_exactly_zero(kind):
    mask = nothing_masks()[kind]
    q, k, v = (draw(2, 2, 4, 8, seed=s).requires_grad_() for s in (1, 2, 3))
    out, weights = attention(q, k, v, mask=mask)
    hidden = additive_mask(mask, DOUBLE).expand(2, 2, 4, 4).eq(-torch.inf).all(-1)
    assert hidden.any()
    assert (out[hidden] == 0).all() and (weights[hidden] == 0).all()
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    assert close(out[~hidden], expected[~hidden]) if (~hidden).any() else True
    gradients = torch.autograd.grad(out.square().sum() + weights.square().sum(), (q, k, v))
    assert all(g.isfinite().all() for g in gradients)
    assert (gradients[0][hidden] == 0).all()


@pytest.mark.parametrize("kind", nothing_masks())
def test_gradients_agree_with_differences_behind_a_mask(kind):
    inputs = [draw(2, 1, 4, 3, seed=s).requires_grad_() for s in (1, 2, 3)]
    assert torch.autograd.gradcheck(lambda q, k, v: attention(q, k, v, mask=nothing_masks()[kind]), inputs)


def test_gradients_agree_with_differences_when_a_bias_hides_a_row():
    q, k, v = (draw(4, 3, seed=s).requires_grad_() for s in (1, 2, 3))
    bias = draw(4, 4, seed=4)
    bias[2] = -torch.inf
    assert torch.autograd.gradcheck(lambda q, k, v: attention(q, k, v, bias=bias, causal=True), (q, k, v))
    learned = draw(4, 4, seed=4).requires_grad_()
    mask = nothing_masks()["one row"]
    assert torch.autograd.gradcheck(lambda q, b: attention(q, k, v, mask=mask, bias=b), (q, learned))


def test_more_queries_than_keys_leaves_the_first_causal_rows_empty():
    q, k, v = qkv((), L=5, S=3)
    out, weights = attention(q, k, v, causal=True)
    assert (weights[:2] == 0).all() and (out[:2] == 0).all()
    assert close(weights[2:].sum(-1), torch.ones(3, dtype=DOUBLE))


def test_a_normaliser_of_the_readers_own_cannot_revive_hidden_rows():
    q, k, v = qkv((), L=4, S=4)
    out, weights = attention(q, k, v, mask=nothing_masks()["one row"], normalise=lambda s: torch.softmax(s, -1))
    assert (weights[1] == 0).all() and (out[1] == 0).all()


# -- masks --------------------------------------------------------------------------------

def test_true_in_a_mask_means_may_attend():
    q, k, v = qkv((2,), L=4, S=4, d_v=4)
    mask = causal_mask(4)  # True = may attend
    out, weights = attention(q, k, v, mask=mask)
    assert weights[0, 0, 0] == 1
    assert close(out, F.scaled_dot_product_attention(q, k, v, attn_mask=mask))
    judge = torch.nn.MultiheadAttention(4, 1, bias=False, batch_first=True, dtype=DOUBLE)
    with torch.no_grad():
        judge.in_proj_weight.copy_(torch.eye(4, dtype=DOUBLE).repeat(3, 1))
        judge.out_proj.weight.copy_(torch.eye(4, dtype=DOUBLE))
        assert close(out, judge(q, k, v, attn_mask=~mask)[0])  # there True = may NOT attend


def test_a_mask_of_zeros_and_ones_in_floating_point_is_added():
    q, k, v = qkv()
    mask = some_mask(5, 7).double()
    assert close(attention(q, k, v, mask=mask)[0], F.scaled_dot_product_attention(q, k, v, attn_mask=mask))
    assert (attention(q, k, v, mask=mask)[1] > 0).all()


def test_hidden_weights_are_zero_and_the_rest_is_normalised_again():
    q, k, v = torch.zeros(1, 3, dtype=DOUBLE), torch.zeros(4, 3, dtype=DOUBLE), draw(4, 2)
    weights = attention(q, k, v, mask=torch.tensor([[True, True, False, False]]))[1]
    assert torch.equal(weights, torch.tensor([[0.5, 0.5, 0, 0]], dtype=DOUBLE))


def test_a_sentence_of_length_zero_gets_zero_weights():
    q, k, v = torch.zeros(2, 1, 3), torch.zeros(2, 4, 3), torch.ones(2, 4, 5)
    weights = attention(q, k, v, mask=padding_mask([0, 2], 4))[1]
    assert torch.equal(weights, torch.tensor([[[0, 0, 0, 0]], [[0.5, 0.5, 0, 0]]]))


def test_the_last_queries_alone_equal_the_full_causal_run():
    q, k, v = qkv((2,), L=7)
    full = attention(q, k, v, causal=True)[0]
    for t in range(1, 8):
        out, weights = attention(q[:, -t:], k, v, causal=True)
        assert close(out, full[:, -t:])
        assert (weights[:, -1] > 0).all()


def test_padding_of_each_item_is_as_if_it_were_not_there():
    q, k, v = (draw(3, 3, 3, 4, seed=s) for s in (1, 2, 3))
    mask = padding_mask([1, 2, 3], 3)
    out, weights = attention(q, k, v, mask=mask)
    for item, length in enumerate([1, 2, 3]):
        assert close(out[item], attention(q[item], k[item, :, :length], v[item, :, :length])[0])
        assert (weights[item, ..., length:] == 0).all()
    hidden = ~mask.expand(3, 3, 1, 3).mT  # (B, H, S, 1)
    changed = attention(q, k.masked_fill(hidden, 1e4), v.masked_fill(hidden, 1e4), mask=mask)[0]
    assert torch.equal(changed, out)


def test_a_padding_mask_fits_scores_with_and_without_heads():
    q, k, v = (draw(3, 4, 5, seed=s) for s in (1, 2, 3))
    mask = padding_mask(torch.tensor([1, 2, 4]), 4)
    assert mask.shape == (3, 1, 1, 4)
    without = attention(q, k, v, mask=mask)[1]
    with_heads = attention(q[:, None], k[:, None], v[:, None], mask=mask)[1][:, 0]
    assert torch.equal(without, with_heads)
    assert [(without[i] > 0).sum(-1).unique().tolist() for i in range(3)] == [[1], [2], [4]]


@pytest.mark.parametrize("shape", [(3, 4), (2, 5, 7), (7, 5), (4, 1, 5, 7), (2, 2, 3, 5, 7)])
def test_a_mask_that_does_not_fit_is_refused_with_both_shapes(shape):
    q, k, v = qkv()
    with pytest.raises(ValueError, match=r"mask has shape .* expected"):
        attention(q, k, v, mask=torch.ones(shape, dtype=torch.bool))


def test_an_ambiguous_number_of_axes_is_refused_even_if_it_would_broadcast():
    q, k, v = (draw(3, 3, 3, 4, seed=s) for s in (1, 2, 3))
    with pytest.raises(ValueError, match="unclear which are batch and which are heads"):
        attention(q, k, v, mask=torch.ones(3, 3, 3, dtype=torch.bool))


def test_a_mask_never_enlarges_the_scores():
    q, k, v = qkv((), L=1)
    with pytest.raises(ValueError, match="mask has shape"):
        attention(q, k, v, mask=torch.ones(4, 7, dtype=torch.bool))


def test_what_hides_behind_a_mask_must_be_finite_as_documented():
    q, k, v = qkv((), S=4)
    v[3] = torch.nan
    mask = torch.tensor([True, True, True, False])
    assert (attention(q, k, v, mask=mask)[1][:, 3] == 0).all()
    assert "must be finite" in attention.__doc__
    assert attention(q, k, v, mask=mask)[0].isnan().all()


def test_a_window_counts_the_query_itself():
    mask = local_mask(8, 8, 3)
    assert mask.sum(-1).tolist() == [1, 2, 3, 3, 3, 3, 3, 3]
    assert mask[-1].nonzero().flatten().tolist() == [5, 6, 7]
    assert local_mask(1, 8, 3)[0].nonzero().flatten().tolist() == [5, 6, 7]
    assert torch.equal(local_mask(8, 8, 9), causal_mask(8))
    assert torch.equal(local_mask(8, 8, 1), torch.eye(8, dtype=torch.bool))


def test_causal_masks_are_aligned_to_the_last_key():
    assert causal_mask(2, 4).tolist() == [[True, True, True, False], [True, True, True, True]]
    assert causal_mask(0, 3).shape == (0, 3) and causal_mask(3, 0).shape == (3, 0)
    assert causal_mask(3, 2)[0].tolist() == [False, False]


@pytest.mark.parametrize("call, error, words", [
    (lambda: causal_mask(2.5), TypeError, "L is float 2.5"),
    (lambda: causal_mask(3, -1), ValueError, "S is -1; expected at least 0"),
    (lambda: local_mask(3, 3, 0), ValueError, "window is 0; expected at least 1"),
    (lambda: padding_mask([1, 5], 4), ValueError, r"\[1, 5\]; expected each in 0..4"),
    (lambda: padding_mask([-1, 2], 4), ValueError, "expected each in 0..4"),
    (lambda: padding_mask([0.5], 4), TypeError, "lengths is a float32 tensor"),
    (lambda: padding_mask(3, 4), TypeError, "lengths is a int64 tensor of shape"),
    (lambda: padding_mask([[1, 2]], 4), TypeError, "one whole number per batch item"),
    (lambda: padding_mask([True], 4), TypeError, "lengths is a bool tensor"),
])
def test_errors_of_masks_name_what_came_and_what_was_expected(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_an_empty_batch_of_lengths_is_a_batch_of_none():
    assert padding_mask([], 4).shape == (0, 1, 1, 4)


# -- numbers of all kinds -----------------------------------------------------------------

@pytest.mark.parametrize("dtype, tolerance", [(torch.float16, 3e-3), (torch.bfloat16, 2.5e-2), (torch.float32, 1e-5)])
def test_narrow_numbers_stay_narrow_and_masking_stays_exact(dtype, tolerance):
    q, k, v = (draw(2, 5, 8, seed=s, dtype=dtype) for s in (1, 2, 3))
    mask = causal_mask(5)  # True = may attend
    mask[2] = False
    out, weights = attention(q, k, v, mask=mask)
    assert out.dtype == weights.dtype == dtype
    expected = F.scaled_dot_product_attention(q.double(), k.double(), v.double(), attn_mask=mask)
    assert close(out.double(), expected, tolerance)
    assert (weights[:, ~mask] == 0).all() and (out[:, 2] == 0).all()


def test_large_half_precision_scores_do_not_overflow():
    q = torch.full((1, 64), 100.0, dtype=torch.float16)
    k = torch.cat([q, q - 50])
    out, weights = attention(q, k, torch.eye(2, dtype=torch.float16))
    assert torch.equal(weights, torch.tensor([[1.0, 0.0]], dtype=torch.float16)) and out.isfinite().all()


@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_causal_in_half_precision_never_sees_the_future(scale):
    q, k, v = (draw(1, 6, 8, seed=s, dtype=torch.float16) * scale for s in (1, 2, 3))
    weights = attention(q, k, v, causal=True)[1]
    assert (weights.triu(1) == 0).all() and weights.isfinite().all()


@pytest.mark.parametrize("bad, words", [
    ({"q": torch.ones(2, 4, dtype=torch.int64)}, "q is a int64 tensor of shape .*floating-point"),
    ({"v": torch.ones(3, 4, dtype=torch.bool)}, "v is a bool tensor"),
    ({"k": [[1.0] * 4]}, "k is list; expected a torch tensor"),
    ({"k": torch.ones(3, 4, dtype=DOUBLE)}, "mixed dtypes: q float32, k float64, v float32"),
    ({"mask": [[True] * 3] * 2}, "mask is list; expected a boolean or floating-point tensor"),
    ({"mask": torch.ones(2, 3, dtype=torch.int64)}, "mask is a int64 tensor"),
    ({"bias": torch.ones(2, 3, dtype=torch.bool)}, "bias is boolean"),
    ({"scale": "0.5"}, "scale is str '0.5'; expected a number or a tensor"),
])
def test_wrong_kinds_of_numbers_are_named(bad, words):
    arguments = {"q": torch.ones(2, 4), "k": torch.ones(3, 4), "v": torch.ones(3, 4)} | bad
    with pytest.raises(TypeError, match=words):
        attention(**arguments)


@pytest.mark.parametrize("bad, words", [
    ({"q": torch.ones(4)}, r"q has shape \(4,\); expected at least 2 axes"),
    ({"k": torch.ones(3, 5)}, r"k has shape \(3, 5\); expected \(..., S, 4\), the width of q"),
    ({"v": torch.ones(2, 4)}, r"v has shape \(2, 4\); expected \(..., 3, d_v\), one row per key"),
    ({"q": torch.ones(2, 2, 4), "k": torch.ones(3, 3, 4)}, r"batch axes of q \(2,\), k \(3,\)"),
    ({"dropout_p": 1.0}, r"dropout_p is 1.0; expected a number in \[0, 1\)"),
    ({"dropout_p": -0.1}, "dropout_p is -0.1"),
])
def test_shapes_that_do_not_fit_are_named(bad, words):
    arguments = {"q": torch.ones(2, 4), "k": torch.ones(3, 4), "v": torch.ones(3, 4)} | bad
    with pytest.raises(ValueError, match=words):
        attention(**arguments)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("batch, L, S", [((2, 3), 5, 0), ((2, 3), 0, 7), ((0, 3), 5, 7), ((), 0, 0)])
def test_empty_inputs_give_empty_outputs_or_zeros(batch, L, S, causal):
    q, k, v = qkv(batch, L, S)
    out, weights = attention(q, k, v, causal=causal)
    assert out.shape == (*batch, L, 6) and weights.shape == (*batch, L, S)
    assert (out == 0).all() or S > 0


def test_empty_inputs_have_gradients():
    q, k, v = (x.requires_grad_() for x in qkv((2,), 5, 0))
    out = attention(q, k, v, mask=torch.ones(5, 0, dtype=torch.bool))[0]
    assert all((g == 0).all() for g in torch.autograd.grad(out.sum(), (q, k, v)))


# -- dropout ------------------------------------------------------------------------------

def test_dropout_does_nothing_outside_training():
    q, k, v = qkv()
    runs = [attention(q, k, v, dropout_p=0.9) for _ in range(2)]
    assert torch.equal(runs[0][0], runs[1][0]) and torch.equal(runs[0][0], attention(q, k, v)[0])


def test_dropout_keeps_the_mean_and_reports_the_weights_before_it():
    q, k, v = qkv((), L=2, S=3, d_v=2)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        outs, weights = zip(*(attention(q, k, v, dropout_p=0.5, training=True) for _ in range(2000)), strict=True)
    outs = torch.stack(outs)
    error = (outs.mean(0) - attention(q, k, v)[0]).abs() / (outs.std(0) / math.sqrt(2000))
    assert outs.std(0).min() > 0 and error.max() < 6
    assert all(close(w.sum(-1), torch.ones(2, dtype=DOUBLE), 1e-5) for w in weights)


# -- heads --------------------------------------------------------------------------------

def test_each_head_takes_its_own_slice_of_the_features():
    x = torch.arange(120.0).view(2, 5, 12)
    for source in (x, x.mT.contiguous().mT):
        heads = split_heads(source, 3)
        assert heads.shape == (2, 3, 5, 4)
        assert all(torch.equal(heads[:, h], x[..., 4 * h:4 * h + 4]) for h in range(3))
        assert torch.equal(merge_heads(heads), x)
        assert torch.equal(merge_heads(heads.contiguous()), torch.cat(list(heads.unbind(1)), -1))


@pytest.mark.parametrize("call, error, words", [
    (lambda: split_heads(torch.ones(2, 5, 12), 5), ValueError, r"x has shape \(2, 5, 12\).*n_heads = 5"),
    (lambda: split_heads(torch.ones(2, 5, 12), 0), ValueError, "n_heads is 0"),
    (lambda: split_heads(torch.ones(2, 5, 12), 2.0), TypeError, "n_heads is float"),
    (lambda: merge_heads(torch.ones(5, 4)), ValueError, r"x has shape \(5, 4\)"),
    (lambda: SelfAttention(8, 3), ValueError, "d_model is 8; expected a multiple of n_heads = 3"),
    (lambda: SelfAttention(0), ValueError, "d_model is 0"),
    (lambda: SelfAttention(8)(torch.ones(5, 9)), ValueError, r"x has shape \(5, 9\); expected \(..., L, 8\)"),
    (lambda: SelfAttention(8)(torch.ones(5, 8, dtype=torch.int64)), TypeError, "x is a int64 tensor"),
    (lambda: SelfAttention(8)(torch.ones(5, 8).double()), TypeError, "mixed dtypes: x float64, weights float32"),
])
def test_errors_of_heads_name_what_came_and_what_was_expected(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_self_attention_is_the_formula_per_head():
    layer = SelfAttention(8, 2).double()
    x = draw(3, 5, 8)
    out, weights = layer(x)
    heads = [attention(*(w(x)[..., 4 * h:4 * h + 4] for w in (layer.query, layer.key, layer.value))) for h in range(2)]
    assert close(out, layer.output(torch.cat([o for o, _ in heads], -1)))
    assert close(weights, torch.stack([w for _, w in heads], 1))


def test_self_attention_equals_torchs_multihead_attention():
    ours, judge = SelfAttention(8, 2).double(), torch.nn.MultiheadAttention(8, 2, bias=False, batch_first=True).double()
    with torch.no_grad():
        judge.in_proj_weight.copy_(torch.cat([ours.query.weight, ours.key.weight, ours.value.weight]))
        judge.out_proj.weight.copy_(ours.output.weight)
    x = draw(3, 5, 8)
    expected, weights = judge(x, x, x, need_weights=True, average_attn_weights=False)
    assert close(ours(x)[0], expected) and close(ours(x)[1], weights)


def test_self_attention_sees_no_future_when_causal():
    layer, x = SelfAttention(8, 2, causal=True).double(), draw(5, 8)
    changed = x.clone()
    changed[3:] += 1
    assert torch.equal(layer(x)[0][:3], layer(changed)[0][:3])
    assert not torch.equal(layer(x)[0][3:], layer(changed)[0][3:])


def test_self_attention_hides_padding_of_a_batch_of_sequences():
    layer, x = SelfAttention(8, 2).double(), draw(2, 5, 8)
    out = layer(x, mask=padding_mask([3, 5], 5))[0]
    assert close(out[0, :3], layer(x[0, :3])[0]) and close(out[1], layer(x[1])[0])
