"""Tiled attention: the numbers of plain attention, forward and backward, from scores that are never all there."""

import itertools

import pytest
import torch
from torch.autograd import gradcheck
from torch.nn.functional import scaled_dot_product_attention as fused

from attnbook.attention import attention, causal_mask, padding_mask
from attnbook.meter import count_products, peak_numbers, saved_numbers
from attnbook.tiled import merge_partials, partial_attention, tiled_attention


def drawn(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def qkv(L, S, batch=(2,), d_k=4, d_v=3, dtype=torch.float64):
    return (drawn(*batch, L, d_k, dtype=dtype), drawn(*batch, S, d_k, seed=1, dtype=dtype),
            drawn(*batch, S, d_v, seed=2, dtype=dtype))


def same(q, k, v, tiles, mask=None, causal=False, tolerance=1e-12):
    """Output and gradients of both ways agree."""
    mine, theirs = ([x.clone().requires_grad_() for x in (q, k, v)] for _ in range(2))
    a = tiled_attention(*mine, *tiles, mask, causal)
    b = attention(*theirs, mask=mask, causal=causal)[0]
    direction = drawn(*a.shape, seed=3, dtype=a.dtype)
    grads = zip(torch.autograd.grad(a, mine, direction), torch.autograd.grad(b, theirs, direction))
    assert torch.allclose(a, b, atol=tolerance)
    for x, y in grads:
        assert x.isfinite().all() and torch.allclose(x, y, atol=tolerance)


MASKS = {
    "none": lambda L, S: None, "bool": lambda L, S: drawn(L, S, seed=4) > -0.3, "row": lambda L, S: drawn(1, S) > 0,
    "column": lambda L, S: drawn(L, 1, seed=5) > 0, "keys": lambda L, S: drawn(S, seed=6) > 0,
    "float": lambda L, S: drawn(L, S, seed=7), "hidden": lambda L, S: torch.zeros(L, S, dtype=torch.bool),
    "batch": lambda L, S: drawn(2, L, S, seed=8) > 0, "number": lambda L, S: torch.tensor(0.5, dtype=torch.float64),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("L, S", [(7, 7), (3, 8), (8, 3), (1, 5)])
def test_equal_to_attention_for_any_tiles_and_masks(mask, L, S):
    q, k, v = qkv(L, S)
    for tiles, causal in itertools.product([(1, 1), (2, 3), (3, 2), (64, 64), (64, 2)], (False, True)):
        same(q, k, v, tiles, MASKS[mask](L, S), causal)


@pytest.mark.parametrize("L, S, batch", [(0, 3, (2,)), (3, 0, (2, 3)), (0, 0, (2,)), (3, 4, (0,))])
@pytest.mark.parametrize("causal", [False, True])
def test_empty_inputs_give_zeros_of_the_right_shape(L, S, batch, causal):
    q, k, v = (x.requires_grad_() for x in qkv(L, S, batch))
    out, lse = tiled_attention(q, k, v, 2, 2, None, causal, return_lse=True)
    assert out.shape == (*batch, L, 3) and lse.shape == (*batch, L) and not out.any()
    assert all(not g.any() for g in torch.autograd.grad(out.sum(), (q, k, v)))


@pytest.mark.parametrize("minus_infinity", [False, True])
def test_a_row_that_may_attend_to_nothing_is_zero_with_gradient_zero(minus_infinity):
    q, k, v = (drawn(1, 2, 4, 8, seed=s, dtype=torch.float32).requires_grad_() for s in range(3))
    mask = torch.ones(4, 4, dtype=torch.bool)
    mask[1] = False
    given = torch.zeros(4, 4).masked_fill(~mask, -torch.inf) if minus_infinity else mask
    out, lse = tiled_attention(q, k, v, 2, 3, given, return_lse=True)
    grads = torch.autograd.grad(out.square().sum() + lse[:, :, [0, 2, 3]].sum(), (q, k, v))
    assert not out[:, :, 1].any() and (lse[:, :, 1] == -torch.inf).all()
    assert torch.allclose(out[:, :, [0, 2, 3]], fused(q, k, v)[:, :, [0, 2, 3]], atol=1e-5)
    assert all(g.isfinite().all() for g in grads) and not grads[0][:, :, 1].any()


@pytest.mark.parametrize("dtype, tolerance", [(torch.float16, 3e-3), (torch.bfloat16, 2.5e-2)])
def test_half_precision(dtype, tolerance):
    q, k, v = (drawn(2, 5, 8, seed=s).to(dtype).requires_grad_() for s in range(3))
    mask = causal_mask(5)
    mask[2] = False
    out, lse = tiled_attention(q, k, v, 2, 2, mask, return_lse=True)
    exact = attention(*(x.detach().double() for x in (q, k, v)), mask=mask)[0]
    assert out.dtype == dtype and lse.dtype == torch.float32
    assert torch.allclose(out.double(), exact, atol=tolerance) and not out[:, 2].any()
    assert all(g.dtype == dtype and g.isfinite().all() for g in torch.autograd.grad(out.float().sum(), (q, k, v)))


def test_large_scores_neither_overflow_nor_underflow():
    q = torch.tensor([[1e3], [-1e3]])
    k, v = torch.tensor([[30.0], [29.999], [-30.0]]), torch.eye(3)
    assert torch.allclose(tiled_attention(q, k, v, 1, 1, scale=1.0), attention(q, k, v, scale=1.0)[0], atol=1e-3)


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_are_right(causal):
    q, k, v = (x.requires_grad_() for x in qkv(5, 7))
    hidden = drawn(2, 5, 7, seed=9) > -0.5
    hidden[0], hidden[1, 3], hidden[1, :, 2:4] = False, False, False  # a batch item, a row, a tile
    for mask in (None, hidden):
        assert gradcheck(lambda *x: tiled_attention(*x, 2, 2, mask, causal), (q, k, v))
    assert gradcheck(lambda *x: tiled_attention(*x, 2, 3, return_lse=True), (q, k, v))


def test_both_entries_of_autograd_agree():
    q, k, v = (x.requires_grad_() for x in qkv(6, 6))
    by_grad = torch.autograd.grad(tiled_attention(q, k, v, 4, 4, causal=True).sum(), (q, k, v))
    tiled_attention(q, k, v, 4, 4, causal=True).sum().backward()
    assert all(torch.equal(x.grad, g) for x, g in zip((q, k, v), by_grad))
    one = torch.autograd.grad(tiled_attention(q, k.detach(), v.detach(), 4, 4, causal=True).sum(), q)[0]
    assert torch.equal(one, by_grad[0])


def test_batch_axes_broadcast_and_strided_inputs_work():
    q, k, v = drawn(3, 1, 5, 8)[..., ::2], drawn(2, 6, 4).mT.contiguous().mT, drawn(1, 6, 3).expand(2, 6, 3)
    same(q, k, v, (2, 4))
    before = [x.clone() for x in (q, k, v)]
    tiled_attention(q, k, v)
    assert all(map(torch.equal, (q, k, v), before))


def test_padding_is_hidden_for_each_item():
    q, k, v = qkv(3, 3, (3, 3))
    mask = padding_mask([1, 2, 3], 3)
    same(q, k, v, (2, 2), mask)
    loud = [x.masked_fill(~mask.mT, 1e4) for x in (k, v)]
    assert torch.equal(tiled_attention(q, *loud, 2, 2, mask), tiled_attention(q, k, v, 2, 2, mask))


def test_saved_numbers_are_linear_and_scores_are_not_saved():
    saved = {n: saved_numbers(lambda n=n: tiled_attention(*drawn(3, n, 16).requires_grad_(), 32, 32)) for n in (256, 512)}
    assert saved[256] <= 5 * 256 * 16 + 256 and abs(saved[512] / saved[256] - 2) < 0.1
    dense = saved_numbers(lambda: attention(*drawn(3, 256, 16).requires_grad_()))
    assert dense > 8 * saved[256]


def test_the_same_products_and_far_fewer_numbers_at_once():
    q, k, v = drawn(3, 512, 16)
    tiled, dense = (lambda: tiled_attention(q, k, v)), (lambda: attention(q, k, v))
    assert count_products(tiled) == count_products(dense) == 2 * 512 * 512 * 16
    assert 20 * peak_numbers(tiled) < peak_numbers(dense)
    assert count_products(lambda: tiled_attention(q, k, v, causal=True)) < 0.6 * 2 * 512 * 512 * 16


@pytest.mark.parametrize("change, error, words", [
    ({"q": torch.zeros(2, 3).long()}, TypeError, "q is a int64"), ({"k": torch.zeros(2, 3).double()}, TypeError, "mixed"),
    ({"k": torch.zeros(2, 4)}, ValueError, "k has shape"), ({"v": torch.zeros(3, 3)}, ValueError, "v has shape"),
    ({"block_q": 0}, ValueError, "block_q is 0"), ({"block_k": 2.0}, TypeError, "block_k is float"),
    ({"mask": torch.ones(3, 3)}, ValueError, "mask has shape"), ({"mask": [1]}, TypeError, "mask is"),
    ({"mask": torch.zeros(2, 2).requires_grad_()}, ValueError, "mask requires a gradient"),
])
def test_what_does_not_fit_is_named(change, error, words):
    with pytest.raises(error, match=words):
        tiled_attention(**{"q": torch.zeros(2, 3), "k": torch.zeros(2, 3), "v": torch.zeros(2, 3)} | change)


# -- merging ------------------------------------------------------------------------------

def test_two_disjoint_sets_of_keys_merge_into_all_of_them():
    q, k, v = qkv(3, 8)
    whole = partial_attention(q, k, v)
    for cut in range(9):
        for a, b in ((slice(None, cut), slice(cut, None)), (slice(cut, None), slice(None, cut))):
            merged = merge_partials(*partial_attention(q, k[:, a], v[:, a]), *partial_attention(q, k[:, b], v[:, b]))
            assert all(torch.allclose(x, y, atol=1e-12) for x, y in zip(merged, whole))
    assert torch.allclose(whole[0], attention(q, k, v, scale=1.0)[0], atol=1e-12)
    assert torch.allclose(whole[1], (q @ k.mT).logsumexp(-1), atol=1e-12)


def test_nothing_is_the_neutral_element():
    out, lse = drawn(2, 3, 4), drawn(2, 3)
    empty, never = torch.zeros_like(out), torch.full_like(lse, -torch.inf)
    for merged in (merge_partials(out, lse, empty, never), merge_partials(empty, never, out, lse)):
        assert torch.equal(merged[0], out) and torch.allclose(merged[1], lse, atol=1e-12)
    both = merge_partials(empty, never, empty, never)
    assert not both[0].any() and (both[1] == -torch.inf).all()


def test_merging_has_right_gradients_and_survives_large_sums():
    parts = [x.requires_grad_() for x in (drawn(3, 2), drawn(3, seed=1), drawn(3, 2, seed=2), drawn(3, seed=3))]
    assert gradcheck(merge_partials, parts)
    out, lse = merge_partials(torch.ones(1, 2), torch.tensor([1e4]), torch.zeros(1, 2), torch.tensor([1e4]))
    assert torch.allclose(out, torch.full((1, 2), 0.5)) and torch.allclose(lse, torch.tensor([1e4 + 0.6931]))
    empty = [x.clone().requires_grad_() for x in (torch.zeros(1, 2), torch.tensor([-torch.inf]))]
    merged = merge_partials(*empty, torch.zeros(1, 2), torch.tensor([-torch.inf]))
    assert torch.autograd.grad(merged[0].sum(), empty[0])[0].isfinite().all()


def test_parts_that_do_not_fit_are_refused():
    out, lse = torch.zeros(3, 2), torch.zeros(3)
    with pytest.raises(ValueError, match="lse_b has shape"):
        merge_partials(out, lse, out, torch.zeros(2))
    with pytest.raises(ValueError, match="out_b has shape"):
        merge_partials(out, lse, torch.zeros(4, 2), torch.zeros(4))
    with pytest.raises(TypeError, match="out_a float32, out_b float64"):
        merge_partials(out, lse, out.double(), lse)
    half = merge_partials(out.half(), lse, out.half(), lse)
    assert half[0].dtype == torch.float16 and half[1].dtype == torch.float32
