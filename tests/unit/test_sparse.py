"""Patterns: who sees whom, how far and at what cost; and kernels that skip what is hidden."""

import pytest
import torch
from torch.autograd import gradcheck

from attnbook.attention import attention, causal_mask, local_mask
from attnbook.meter import count_products, peak_numbers
from attnbook.sparse import (
    block_mask,
    block_sparse_attention,
    hops,
    reach,
    sink_mask,
    sliding_window_attention,
    strided_mask,
)


def qkv(L, S, *batch, d_v=3):
    generator = torch.Generator().manual_seed(L + S)
    return tuple(torch.randn(*batch, n, d, dtype=torch.float64, generator=generator)
                 for n, d in ((L, 4), (S, 4), (S, d_v)))


def test_a_window_counts_its_own_token():
    assert local_mask(8, 8, 3).sum(-1).tolist() == [1, 2, 3, 3, 3, 3, 3, 3]
    assert local_mask(8, 8, 3)[-1].nonzero().flatten().tolist() == [5, 6, 7]
    assert local_mask(1, 8, 3)[0].nonzero().flatten().tolist() == [5, 6, 7]
    assert torch.equal(local_mask(8, 8, 20), causal_mask(8))
    q, k, v = qkv(1, 8)
    assert torch.allclose(sliding_window_attention(q, k, v, 3), attention(q, k[5:], v[5:])[0], atol=1e-12)


@pytest.mark.parametrize("L, S", [(9, 9), (4, 9), (9, 4), (1, 1), (0, 5), (5, 0)])
@pytest.mark.parametrize("window, sinks, block", [(3, 0, 2), (1, 2, 4), (20, 0, 3), (4, 20, 64), (2, 1, 1)])
def test_the_window_kernel_equals_the_mask(L, S, window, sinks, block):
    q, k, v = qkv(L, S, 2)
    ours = sliding_window_attention(q, k, v, window, sinks=sinks, block=block)
    assert torch.allclose(ours, attention(q, k, v, mask=sink_mask(L, S, window, sinks))[0], atol=1e-12)


@pytest.mark.parametrize("L, S", [(7, 7), (3, 8), (8, 3), (0, 4), (4, 0)])
@pytest.mark.parametrize("causal", [False, True])
def test_the_block_kernel_equals_the_mask(L, S, causal):
    q, k, v = qkv(L, S, 2)
    blocks = torch.rand(-(-L // 3), -(-S // 3), generator=torch.Generator().manual_seed(1)) < 0.5
    mask = block_mask(blocks, 3, L, S)
    mask = mask & causal_mask(L, S) if causal else mask
    assert torch.allclose(block_sparse_attention(q, k, v, blocks, 3, causal), attention(q, k, v, mask=mask)[0], atol=1e-12)


def test_kernels_have_right_gradients():
    q, k, v = (x.requires_grad_() for x in qkv(5, 5))
    blocks = torch.tensor([[True, False, False], [False, False, False], [True, True, True]])  # rows 2, 3 see nothing
    assert gradcheck(lambda *x: sliding_window_attention(*x, 2, sinks=1, block=2), (q, k, v))
    assert gradcheck(lambda *x: block_sparse_attention(*x, blocks, 2, True), (q, k, v))


def test_a_window_costs_in_proportion_to_the_length():
    def cost(n):
        q, k, v = qkv(n, n)
        return [f(lambda: sliding_window_attention(q, k, v, 16, sinks=2, block=16)) for f in (count_products, peak_numbers)]

    small, large = cost(256), cost(1024)
    assert large[0] / small[0] < 4.2 and large[1] < 4 * small[1] < 4 * 256 * 64


def test_strides_and_sinks():
    assert strided_mask(9, 9, 2, 3)[8].nonzero().flatten().tolist() == [2, 5, 7, 8]
    assert sink_mask(9, 9, 2, 1)[8].nonzero().flatten().tolist() == [0, 7, 8]
    assert torch.equal(strided_mask(3, 9, 2, 3), strided_mask(9, 9, 2, 3)[-3:])
    assert torch.equal(sink_mask(3, 9, 2, 1), sink_mask(9, 9, 2, 1)[-3:])
    for mask in (strided_mask(9, 9, 2, 3), sink_mask(9, 9, 2, 3), sink_mask(2, 2, 1, 5)):
        assert not (mask & ~causal_mask(len(mask))).any()


def test_how_far_patterns_reach():
    window = local_mask(12, 12, 4)
    for layers, seen in ((1, 4), (2, 7), (3, 10)):
        assert reach(window, layers)[-1].sum() == seen
    assert hops(causal_mask(12)) == 1 and hops(window) == 4 and hops(strided_mask(64, 64, 8, 8)) == 2
    assert hops(sink_mask(12, 12, 4, 1)) == 4  # a sink sees only itself: it passes nothing on
    everyone_and_the_first = torch.eye(12, dtype=torch.bool)
    everyone_and_the_first[0], everyone_and_the_first[:, 0] = True, True
    assert hops(everyone_and_the_first) == 2  # without a causal order one global token joins all pairs
    with pytest.raises(ValueError, match="never reach"):
        hops(torch.eye(4, dtype=torch.bool))


@pytest.mark.parametrize("call, words", [
    (lambda: sink_mask(3, 3, 0, 1), "window is 0"), (lambda: sink_mask(3, 3, 1, -1), "sinks is -1"),
    (lambda: strided_mask(3, 3, 1, 0), "stride is 0"), (lambda: block_mask(torch.ones(2, 2), 2, 3, 3), "blocks is"),
    (lambda: block_mask(torch.ones(2, 2) > 0, 2, 6, 3), "blocks has shape"),
    (lambda: sliding_window_attention(*qkv(3, 3), 0), "window is 0"),
    (lambda: sliding_window_attention(*(x.long() for x in qkv(3, 3)), 2), "q is a int64"),
    (lambda: block_sparse_attention(*qkv(3, 3), torch.ones(1, 1) > 0, 0), "block is 0"),
])
def test_what_does_not_fit_is_named(call, words):
    with pytest.raises((TypeError, ValueError), match=words):
        call()
