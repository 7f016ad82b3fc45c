"""Projections: tied, grouped and latent attention, and the two matrices that make a head."""

import copy
import math

import pytest
import torch

from attnbook.attention import SelfAttention, attention, causal_mask, merge_heads
from attnbook.projections import (
    GroupedAttention, LatentAttention, TiedAttention, grouped_query_attention, head_from_circuits, ov_circuit,
    qk_circuit, repeat_heads)

DOUBLE = torch.float64


def randn(*shape, seed=0, dtype=DOUBLE):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def error(a, b):
    assert a.shape == b.shape
    return (a - b).abs().max().item()


# -- grouped ------------------------------------------------------------------------------

def test_neighbouring_query_heads_share_a_key_head():
    v = torch.stack([torch.zeros(5, 3), torch.ones(5, 3)])  # KV head 0 holds zeros, head 1 ones
    out, _ = grouped_query_attention(randn(4, 2, 6).float(), randn(2, 5, 6).float(), v)
    assert [round(head.mean().item()) for head in out] == [0, 0, 1, 1]


@pytest.mark.parametrize("kv_heads", [1, 2, 3, 6])
def test_grouped_equals_torchs_own(kv_heads):
    q, k, v = randn(2, 6, 4, 8), randn(2, kv_heads, 7, 8, seed=1), randn(2, kv_heads, 7, 8, seed=2)
    theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    out, weights = grouped_query_attention(q, k, v)
    assert error(out, theirs) < 1e-12 and weights.shape == (2, 6, 4, 7)


def test_as_many_key_heads_as_query_heads_is_multi_head_attention():
    q, k, v = randn(3, 2, 4, 5, 8)
    assert error(grouped_query_attention(q, k, v, causal=True)[0], attention(q, k, v, causal=True)[0]) == 0


def test_stages_reach_attention():
    q, k, v = randn(4, 5, 6), randn(2, 5, 6, seed=1), randn(2, 5, 6, seed=2)
    _, weights = grouped_query_attention(q, k, v, mask=causal_mask(5), scale=3.0)
    assert weights.triu(1).abs().max() == 0


@pytest.mark.parametrize("call, words", [
    (lambda: grouped_query_attention(randn(4, 5, 6), randn(3, 5, 6), randn(3, 5, 6)), "4 query heads on 3 key heads"),
    (lambda: grouped_query_attention(randn(4, 5, 6), randn(2, 5, 6), randn(4, 5, 6)), r"v has shape \(4, 5, 6\)"),
    (lambda: grouped_query_attention(randn(5, 6), randn(5, 6), randn(5, 6)), "q has shape .* at least 3 axes"),
    (lambda: repeat_heads(randn(2, 5, 6), 0), "n_heads is 0"),
    (lambda: repeat_heads(randn(0, 5, 6), 4), "4 query heads on 0 key heads"),
    (lambda: GroupedAttention(12, 4, 3), "n_kv_heads is 3; expected a divisor of n_heads = 4"),
])
def test_heads_that_do_not_fit_are_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_the_grouped_module_has_fewer_parameters_and_the_same_interface():
    torch.manual_seed(0)
    many, few = SelfAttention(12, 4), GroupedAttention(12, 4, 2)
    count = {name: sum(p.numel() for p in m.parameters()) for name, m in (("many", many), ("few", few))}
    assert count == {"many": 4 * 144, "few": 2 * 144 + 2 * 72}
    out, weights = few(torch.randn(3, 5, 12))
    assert out.shape == (3, 5, 12) and weights.shape == (3, 4, 5, 5)


def test_a_grouped_module_with_copied_heads_is_multi_head_attention():
    torch.manual_seed(0)
    few, many = GroupedAttention(12, 4, 2).double(), SelfAttention(12, 4).double()
    with torch.no_grad():
        many.query.weight.copy_(few.query.weight)
        many.output.weight.copy_(few.output.weight)
        for name in ("key", "value"):
            blocks = getattr(few, name).weight.view(2, 3, 12).repeat_interleave(2, 0)
            getattr(many, name).weight.copy_(blocks.reshape(12, 12))
    x = randn(2, 5, 12)
    assert error(few(x)[0], many(x)[0]) < 1e-12


# -- tied ---------------------------------------------------------------------------------

def test_tied_heads_have_symmetric_scores_one_matrix_less_and_train_as_one():
    torch.manual_seed(0)
    tied = TiedAttention(8, 2).double()
    q, k, _ = tied.project(randn(5, 8))
    scores = q @ k.mT
    assert error(scores, scores.mT) < 1e-15
    assert sum(p.numel() for p in tied.parameters()) == 3 * 64
    copied = copy.deepcopy(tied)
    assert copied.key is copied.query


# -- latent -------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-4), (DOUBLE, 1e-9)])
@pytest.mark.parametrize("causal", [False, True])
def test_expanded_and_absorbed_forms_agree(dtype, tolerance, causal):
    torch.manual_seed(0)
    layer = LatentAttention(24, 4, 5, causal=causal).to(dtype)
    x = 3 * randn(2, 7, 24, dtype=dtype)
    for one, two in zip(layer(x), layer.absorbed(x), strict=True):
        assert error(one, two) < tolerance


def test_the_two_forms_agree_under_a_mask_and_in_their_gradients():
    torch.manual_seed(0)
    layer, x = LatentAttention(12, 3, 4, d_k=6).double(), randn(5, 12)
    mask = torch.tensor([True, True, False, True, False])
    gradients = []
    for run in (layer, layer.absorbed):
        layer.zero_grad()
        run(x, mask)[0].square().sum().backward()
        gradients.append([p.grad.clone() for p in layer.parameters()])
    assert max(error(a, b) for a, b in zip(*gradients, strict=True)) < 1e-9


def test_the_latent_is_all_that_the_past_leaves_behind():
    torch.manual_seed(0)
    layer, x = LatentAttention(12, 3, 4, causal=True).double(), randn(6, 12)
    cache = layer.latent(x)
    assert cache.shape == (6, 4)
    up_k, up_v = layer.key_up.weight.view(3, 4, 4), layer.value_up.weight.view(3, 4, 4)
    q = layer.query(x[-1:]).view(1, 3, 4).transpose(0, 1) @ up_k
    out, _ = attention(q, cache[None], cache[None], scale=0.5)
    last = layer.output(merge_heads(out @ up_v.mT))
    assert error(last, layer(x)[0][-1:]) < 1e-12


def test_keys_and_values_of_all_heads_have_the_rank_of_the_latent():
    torch.manual_seed(0)
    layer, x = LatentAttention(24, 4, 5).double(), randn(20, 24)
    c = layer.latent(x)
    assert torch.linalg.matrix_rank(torch.cat([layer.key_up(c), layer.value_up(c)], -1)) == 5


@pytest.mark.parametrize("sizes, words", [
    ((12, 5, 4), "d_model is 12; expected a multiple of n_heads = 5"), ((12, 3, 0), "d_latent is 0"),
    ((12, 3, 4, 0), "d_k is 0")])
def test_latent_sizes_that_do_not_fit_are_named(sizes, words):
    with pytest.raises(ValueError, match=words):
        LatentAttention(*sizes)


def test_a_wrong_input_is_named():
    layer = LatentAttention(12, 3, 4)
    for run in (layer, layer.absorbed):
        with pytest.raises(ValueError, match=r"x has shape \(5, 8\); expected \(..., L, 12\)"):
            run(torch.randn(5, 8))
        with pytest.raises(TypeError, match="mixed dtypes"):
            run(randn(5, 12))


# -- circuits -----------------------------------------------------------------------------

@pytest.mark.parametrize("causal", [False, True])
def test_two_matrices_rebuild_a_head(causal):
    x, (w_q, w_k, w_v), w_o = randn(2, 7, 12), randn(3, 12, 4, seed=1), randn(4, 12, seed=2)
    head = attention(x @ w_q, x @ w_k, x @ w_v, causal=causal)[0] @ w_o
    rebuilt = head_from_circuits(x, qk_circuit(w_q, w_k), ov_circuit(w_v, w_o), 4, causal=causal)
    assert error(rebuilt, head) / head.abs().max().item() < 1e-12


def test_circuits_have_the_rank_of_the_head():
    w_q, w_k = randn(2, 12, 4)
    assert torch.linalg.matrix_rank(qk_circuit(w_q, w_k)) == 4


@pytest.mark.parametrize("call, words", [
    (lambda: qk_circuit(randn(12, 4), randn(12, 3)), r"w_k has shape \(12, 3\); expected \(12, 4\)"),
    (lambda: ov_circuit(randn(12, 4), randn(12, 4)), r"w_o has shape \(12, 4\); expected \(4, d_model\)"),
    (lambda: qk_circuit(randn(2, 12, 4), randn(12, 4)), r"w_q has shape \(2, 12, 4\); expected a matrix"),
    (lambda: head_from_circuits(randn(5, 12), randn(12, 12), randn(12, 12), 0), "d_k is 0"),
])
def test_matrices_that_do_not_fit_are_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_inputs_are_not_changed():
    q, k, v = randn(4, 5, 6), randn(2, 5, 6), randn(2, 5, 6)
    before = [t.clone() for t in (q, k, v)]
    grouped_query_attention(q, k, v)
    assert all(torch.equal(a, b) for a, b in zip(before, (q, k, v), strict=True))
    assert math.isclose(q.std().item(), before[0].std().item())
