"""Softmax and entropy: known numbers, extreme scores, temperatures, and rows with no candidate."""

import math

import pytest
import torch

from attnbook.softmax import entropy, hard_attention, softmax

DOUBLE = torch.float64


def tensor(*values, dtype=DOUBLE):
    return torch.tensor(values, dtype=dtype)


def close(a, b, tolerance=1e-6):
    return a.shape == b.shape and (a.double() - b.double()).abs().max().item() <= tolerance


def test_equals_torch_on_every_axis():
    x = torch.randn(3, 4, 5, dtype=DOUBLE, generator=torch.Generator().manual_seed(0))
    for axis in (0, 1, 2, -1, -2):
        assert close(softmax(x, axis), torch.softmax(x, axis), 1e-15)
        assert close(softmax(x, axis, temperature=0.7), torch.softmax(x / 0.7, axis), 1e-12)


def test_large_scores_neither_overflow_nor_underflow():
    assert close(softmax(tensor(1e4, 1e4 - 1, -1e4)), tensor(0.73105858, 0.26894142, 0))
    rows = softmax(torch.tensor([[1000.0, 1000.0], [-1000.0, -1001.0]]))
    assert close(rows, torch.tensor([[0.5, 0.5], [0.73105858, 0.26894142]]))
    assert close(softmax(tensor(6e4, 6e4, dtype=torch.float16)), tensor(0.5, 0.5), 1e-3)


def test_the_largest_float32_scores_still_have_a_gradient():
    x = tensor(3e38, 3e38, dtype=torch.float32).requires_grad_()
    softmax(x)[0].backward()
    assert close(x.grad, tensor(0.25, -0.25))


@pytest.mark.parametrize("temperature", [1.0, 0.5, 1e-30, 100.0])
def test_minus_infinity_gets_no_weight(temperature):
    weights = softmax(tensor(1.0, -math.inf, 1.0), temperature=temperature)
    assert weights[1] == 0 and close(weights, tensor(0.5, 0, 0.5))


@pytest.mark.parametrize("temperature, expected", [
    (0.5, (0.01587624, 0.86681333, 0.11731043)),
    (2, (0.18632372, 0.50648039, 0.30719589)),
    (1e-3, (0, 1, 0)), (1e-8, (0, 1, 0)), (1e-30, (0, 1, 0)), (1e30, (1 / 3, 1 / 3, 1 / 3)),
])
@pytest.mark.parametrize("dtype", [torch.float32, DOUBLE])
def test_temperature_sharpens_and_flattens(temperature, expected, dtype):
    weights = softmax(tensor(1, 3, 2, dtype=dtype), temperature=temperature)
    assert weights.dtype == dtype and close(weights, tensor(*expected))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_cold_softmax_in_half_precision_is_finite(dtype):
    weights = softmax(tensor(6e4, -6e4, 6e4, dtype=dtype), temperature=1e-3)
    assert weights.dtype == dtype and torch.equal(weights, tensor(0.5, 0, 0.5, dtype=dtype))


@pytest.mark.parametrize("temperature", [0, 0.0, -1, math.nan, math.inf, "1", None, True])
def test_a_temperature_that_is_no_positive_number_is_refused(temperature):
    with pytest.raises((TypeError, ValueError), match="temperature is .*expected a positive number"):
        softmax(tensor(1.0, 2.0), temperature=temperature)


@pytest.mark.parametrize("temperature", [1.0, 0.3])
def test_a_row_without_candidates_is_zero_and_so_is_its_gradient(temperature):
    x = torch.tensor([[0.0, 1.0], [-math.inf, -math.inf]], dtype=DOUBLE, requires_grad=True)
    weights = softmax(x, temperature=temperature)
    assert torch.equal(weights[1], tensor(0.0, 0.0)) and close(weights[0].sum(), torch.tensor(1.0))
    (weights * tensor(3.0, -2.0)).sum().backward()
    assert torch.equal(x.grad[1], tensor(0.0, 0.0)) and x.grad[0].abs().min() > 0


def test_gradients_agree_with_differences():
    x = torch.randn(3, 4, dtype=DOUBLE, generator=torch.Generator().manual_seed(0)).requires_grad_()
    for options in ({}, {"axis": 0}, {"temperature": 0.4}):
        assert torch.autograd.gradcheck(lambda s: softmax(s, **options), x)


def test_gradients_agree_with_differences_when_one_row_is_hidden():
    hidden = torch.tensor([[False], [True], [False]])
    x = torch.randn(3, 4, dtype=DOUBLE, generator=torch.Generator().manual_seed(0)).requires_grad_()
    for temperature in (1.0, 0.4):
        assert torch.autograd.gradcheck(lambda s: softmax(s.masked_fill(hidden, -math.inf), temperature=temperature), x)


def test_scores_are_not_changed_in_place():
    for x in (tensor(1.0, 2.0), tensor(-math.inf, -math.inf), torch.empty(2, 0, dtype=DOUBLE)):
        before = x.clone()
        weights = softmax(x)
        assert torch.equal(x, before) and (weights is not x)


def test_no_candidates_at_all_give_an_empty_row():
    assert softmax(torch.empty(2, 3, 0)).shape == (2, 3, 0)
    assert softmax(torch.empty(0, 3)).shape == (0, 3)


@pytest.mark.parametrize("x, words", [
    (torch.tensor([1, 2]), "x is a int64 tensor of shape"), ([1.0, 2.0], "x is list"), (1.0, "x is float 1.0"),
])
def test_scores_that_are_not_floating_point_are_refused(x, words):
    with pytest.raises(TypeError, match=words):
        softmax(x)


def test_adding_to_every_score_changes_nothing_and_doubling_does():
    x = tensor(2.0, 1.0, 0.1)
    assert close(softmax(x + 100), softmax(x), 1e-12)
    assert not close(softmax(2 * x), softmax(x), 0.1)


def test_entropy_counts_the_candidates_in_use():
    p = torch.tensor([[1.0, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25] * 4], dtype=DOUBLE)
    assert close(entropy(p).exp(), tensor(1, 2, 4), 1e-12)
    assert close(entropy(p.mT, axis=0), entropy(p), 1e-15)


def test_entropy_refuses_what_is_no_weight():
    with pytest.raises(ValueError, match="p has a negative entry .*-0.5"):
        entropy(tensor(1.5, -0.5))
    with pytest.raises(TypeError, match="p is a int64 tensor"):
        entropy(torch.tensor([1, 0]))


def test_a_weight_of_zero_sends_no_nan_backwards_through_entropy():
    p = torch.tensor([[1.0, 0.0], [0.5, 0.5]], dtype=DOUBLE, requires_grad=True)
    entropy(p).sum().backward()
    assert str(entropy(p)[0].item()) == "0.0"  # not -0.0
    assert close(p.grad, torch.tensor([[-1, 0], [math.log(2) - 1, math.log(2) - 1]], dtype=DOUBLE), 1e-12)


# -- hard attention -----------------------------------------------------------------------

def test_hard_attention_takes_the_first_of_the_largest():
    assert hard_attention(tensor(1.0, 3.0, 3.0)).tolist() == [0, 1, 0]
    x = torch.randn(4, 5, dtype=DOUBLE, generator=torch.Generator().manual_seed(0))
    for axis in (0, 1):
        weights = hard_attention(x, axis)
        assert torch.equal(weights.sum(axis), torch.ones(x.shape[1 - axis], dtype=DOUBLE))
        assert torch.equal(weights.argmax(axis), x.argmax(axis))


def test_hard_attention_passes_a_gradient_only_straight_through():
    x = tensor(1.0, 3.0, 2.0).requires_grad_()
    assert not hard_attention(x).requires_grad
    hard = hard_attention(x, straight_through=True)
    assert close(hard.detach(), tensor(0, 1, 0))
    (gradient,) = torch.autograd.grad(hard[2], x)
    (soft,) = torch.autograd.grad(softmax(x)[2], x)
    assert close(gradient, soft, 1e-15)


def test_hard_attention_with_nothing_to_choose_gives_zeros():
    assert hard_attention(tensor(-math.inf, -math.inf)).tolist() == [0, 0]
    assert hard_attention(torch.zeros(3, 0)).shape == (3, 0)
