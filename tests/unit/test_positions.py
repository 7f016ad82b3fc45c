"""Vectors added for positions, positions counted under padding, and ALiBi's bias."""

import math

import pytest
import torch

from attnbook.attention import attention, causal_mask
from attnbook.positions import LearnedPositions, alibi_bias, alibi_slopes, positions_from_mask, sinusoidal


def draws(seed, *shape):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


# -- sinusoids ----------------------------------------------------------------------------

@pytest.mark.parametrize("n, d", [(4, 2), (512, 6), (100, 64), (5, 1), (9, 7)])
def test_sinusoids_are_those_of_the_paper_at_any_width(n, d):
    table = sinusoidal(n, d)
    assert table.shape == (n, d) and table.dtype == torch.float32
    for position in range(0, n, max(1, n // 7)):
        for column in range(d):
            angle = position / 10000 ** (2 * (column // 2) / d)
            expected = math.cos(angle) if column % 2 else math.sin(angle)
            assert table[position, column].item() == pytest.approx(expected, abs=1e-4)


def test_position_zero_alternates_and_an_odd_width_ends_with_a_sine():
    assert sinusoidal(1, 4).tolist() == [[0, 1, 0, 1]]
    odd = sinusoidal(6, 7, dtype=torch.float64)
    assert torch.allclose(odd[:, 6], (torch.arange(6).double() / 10000 ** (6 / 7)).sin())


def test_a_later_start_is_a_later_slice():
    assert torch.equal(sinusoidal(5, 8, start=30), sinusoidal(35, 8)[30:])
    far = sinusoidal(2, 8, start=10**6, dtype=torch.float64)
    assert far[0, 0].item() == pytest.approx(math.sin(1e6), abs=1e-9)


def test_lengths_are_constant_and_products_see_the_difference_only():
    table = sinusoidal(60, 64, dtype=torch.float64)
    products = table @ table.T
    assert torch.allclose(products.diagonal(), torch.full((60,), 32.0).double())
    for k in (1, 9):
        assert products.diagonal(k).std() < 1e-12


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_sinusoids_come_in_the_dtype_asked_for(dtype):
    assert sinusoidal(3, 4, dtype=dtype).dtype == dtype
    assert sinusoidal(0, 4, dtype=dtype).shape == (0, 4)


@pytest.mark.parametrize("arguments, error, words", [
    ((-1, 4), ValueError, "n_positions is -1"), ((4, 0), ValueError, "d_model is 0"),
    ((4, 2.5), TypeError, "d_model is float 2.5"), ((4.0, 2), TypeError, "n_positions is float 4.0")])
def test_wrong_sizes_are_named(arguments, error, words):
    with pytest.raises(error, match=words):
        sinusoidal(*arguments)
    with pytest.raises(ValueError, match="base is -1"):
        sinusoidal(4, 4, base=-1)


# -- a learned table ----------------------------------------------------------------------

@pytest.mark.parametrize("batch", [3, 5])  # 5: batch and length are equal, the axes could be mixed up
def test_all_sequences_get_the_same_positions_and_all_steps_different_ones(batch):
    x = torch.zeros(batch, 5, 8)
    out = LearnedPositions(12, 8)(x)
    assert torch.equal(out, out[:1].expand_as(out))
    assert torch.cdist(out[0], out[0]).fill_diagonal_(1).min() > 0
    assert (x == 0).all()


def test_an_input_longer_than_the_table_names_both_numbers():
    table = LearnedPositions(4, 8)
    with pytest.raises(ValueError, match="x has 5 tokens; the table of LearnedPositions has 4 rows"):
        table(torch.zeros(5, 8))
    with pytest.raises(ValueError, match="positions holds 9; the table .* positions 0 to 3"):
        table(torch.zeros(2, 8), torch.tensor([0, 9]))
    with pytest.raises(ValueError, match="positions holds -1"):
        table(torch.zeros(2, 8), torch.tensor([0, -1]))
    assert table(torch.zeros(4, 8)).shape == (4, 8) and table(torch.zeros(0, 8)).shape == (0, 8)


def test_given_positions_pick_their_rows():
    table = LearnedPositions(6, 4)
    x = torch.randn(2, 3, 4)
    positions = torch.tensor([[0, 0, 1], [0, 1, 2]])
    assert torch.equal(table(x, positions), x + table.table[positions])
    assert torch.equal(table(x, torch.tensor([2, 3, 4])), x + table.table[2:5])
    table(x, positions).sum().backward()
    assert table.table.grad[3:].abs().max() == 0  # a row that was not used is not trained


@pytest.mark.parametrize("positions, error, words", [
    (torch.tensor([0.0, 1.0, 2.0]), TypeError, "expected a tensor of whole numbers"),
    ([0, 1, 2], TypeError, "positions is list"), (torch.tensor([0, 1]), ValueError, r"positions has shape \(2,\)"),
    (torch.zeros(2, 1, dtype=torch.long), ValueError, r"positions has shape \(2, 1\)")])
def test_positions_that_do_not_fit_are_refused(positions, error, words):
    with pytest.raises(error, match=words):
        LearnedPositions(6, 4)(torch.zeros(2, 3, 4), positions)


def test_other_dtypes_and_widths_are_refused():
    with pytest.raises(TypeError, match="x float64, table float32"):
        LearnedPositions(6, 4)(torch.zeros(3, 4).double())
    with pytest.raises(ValueError, match=r"expected \(..., L, 4\)"):
        LearnedPositions(6, 4)(torch.zeros(3, 5))
    assert LearnedPositions(6, 4).bfloat16()(torch.zeros(3, 4).bfloat16()).dtype == torch.bfloat16


# -- padding ------------------------------------------------------------------------------

def test_positions_are_counted_over_real_tokens():
    mask = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]]).bool()
    expected = [[0, 0, 0, 1, 2], [0, 1, 2, 3, 4], [0, 1, 1, 1, 1], [0, 0, 0, 0, 0]]
    assert positions_from_mask(mask).tolist() == expected
    assert positions_from_mask(mask).dtype == torch.long
    assert positions_from_mask(torch.zeros(2, 0, dtype=torch.bool)).shape == (2, 0)


@pytest.mark.parametrize("mask", [torch.ones(3), torch.ones(3, dtype=torch.long), [True]])
def test_a_padding_mask_must_be_boolean(mask):
    with pytest.raises(TypeError, match="expected a boolean tensor, True = real token"):
        positions_from_mask(mask)


def test_left_padding_moves_learned_positions_unless_they_are_counted():
    torch.manual_seed(0)
    table, w = LearnedPositions(9, 8).double(), draws(1, 3, 8, 8) / 3
    words = draws(2, 5, 8)
    padded = torch.cat((draws(3, 2, 8), words))
    real = torch.tensor([False, False] + 5 * [True])

    def last(x, mask, positions=None):
        x = table(x, positions)
        for _ in range(2):
            q, k, v = x @ w
            x = x + attention(q, k, v, causal=True, mask=mask)[0]
        return x[-1]

    plain = last(words, None)
    assert (last(padded, real[None]) - plain).abs().max() > 1e-3
    assert torch.allclose(last(padded, real[None], positions_from_mask(real)), plain, atol=1e-12)


# -- ALiBi --------------------------------------------------------------------------------

@pytest.mark.parametrize("n, exponents", [
    (1, [8]), (2, [4, 8]), (4, [2, 4, 6, 8]), (8, [1, 2, 3, 4, 5, 6, 7, 8]), (3, [4, 8, 2]),
    (6, [2, 4, 6, 8, 1, 3]), (12, [1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5])])
def test_slopes_are_the_published_ones(n, exponents):
    assert alibi_slopes(n).tolist() == pytest.approx([2.0 ** -e for e in exponents], abs=1e-7)


def test_forty_heads_have_forty_slopes_between_zero_and_one():
    slopes = alibi_slopes(40)
    assert len(set(slopes.tolist())) == 40 and 0 < slopes.min() and slopes.max() < 1


@pytest.mark.parametrize("n, error", [(0, ValueError), (-2, ValueError), (2.0, TypeError), (True, TypeError)])
def test_heads_are_counted(n, error):
    with pytest.raises(error, match="n_heads"):
        alibi_slopes(n)


def test_the_bias_is_slope_times_distance():
    bias = alibi_bias(2, 3)
    distance = torch.tensor([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert torch.equal(bias, -torch.tensor([1 / 16, 1 / 256])[:, None, None] * distance)
    assert alibi_bias(4, 0, 5).shape == (4, 0, 5)
    assert torch.equal(alibi_bias(1, 2, slopes=torch.tensor([3.0])), torch.tensor([[[-0.0, -3.0], [-3.0, -0.0]]]))


def test_cached_queries_see_the_same_bias():
    full = alibi_bias(3, 7)
    for t in range(1, 8):
        assert torch.equal(alibi_bias(3, t, 7), full[:, -t:])


def test_the_bias_hides_nothing_and_attention_takes_it():
    q, k, v = draws(4, 3, 2, 6, 8)
    out, weights = attention(q, k, v, causal=True, bias=alibi_bias(2, 6).double())
    assert (weights[0] > 0).equal(causal_mask(6)) and out.shape == (2, 6, 8)
    assert alibi_bias(2, 6).isfinite().all()


def test_slopes_must_fit_the_heads():
    with pytest.raises(ValueError, match=r"slopes has shape \(3,\); expected \(2,\)"):
        alibi_bias(2, 4, slopes=torch.ones(3))
    with pytest.raises(ValueError, match="L is -1"):
        alibi_bias(2, -1)
