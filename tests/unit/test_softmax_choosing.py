"""Softmax seen as a choice: its Jacobian, one-hot weights, and sampling."""

import math

import pytest
import torch

from attnbook.attention import attention
from attnbook.softmax import hard_attention, keep_top_k, keep_top_p, sample, softmax, softmax_jacobian


def draws(seed, *shape):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


# -- the Jacobian -------------------------------------------------------------------------

@pytest.mark.parametrize("temperature", [0.3, 1.0, 4.0])
def test_the_jacobian_is_that_of_autograd(temperature):
    x = 2 * draws(0, 7)
    theirs = torch.autograd.functional.jacobian(lambda z: softmax(z, temperature=temperature), x)
    assert torch.allclose(softmax_jacobian(x, temperature), theirs, atol=1e-12)


def test_the_jacobian_is_symmetric_sums_to_zero_and_has_a_bound():
    J = softmax_jacobian(draws(1, 3, 50, 6) * 4, temperature=0.5)
    assert J.shape == (3, 50, 6, 6)
    assert torch.allclose(J, J.mT) and J.sum(-1).abs().max() < 1e-12
    assert torch.linalg.matrix_norm(J, 2).max() <= 1 / (2 * 0.5) + 1e-12
    assert torch.linalg.matrix_norm(softmax_jacobian(torch.zeros(2)), 2) == pytest.approx(0.5)


# -- one-hot weights ----------------------------------------------------------------------

def test_the_first_of_equals_wins_and_a_row_without_candidates_gets_nothing():
    x = torch.tensor([[1.0, 3.0, 3.0], [-math.inf, -math.inf, -math.inf], [-math.inf, -5.0, -math.inf]])
    assert hard_attention(x).tolist() == [[0, 1, 0], [0, 0, 0], [0, 1, 0]]
    assert hard_attention(x.T, axis=0).T.tolist() == hard_attention(x).tolist()
    assert hard_attention(torch.zeros(2, 0)).shape == (2, 0)


def test_straight_through_gives_the_hard_numbers_and_the_soft_gradient():
    x, probe = draws(2, 5, 4).requires_grad_(), draws(3, 5, 4)
    through = hard_attention(x, straight_through=True)
    assert torch.equal(through, hard_attention(x))
    mine, = torch.autograd.grad((through * probe).sum(), x)
    soft, = torch.autograd.grad((softmax(x) * probe).sum(), x)
    assert torch.allclose(mine, soft) and not hard_attention(x).requires_grad


def test_straight_through_is_finite_under_a_mask_that_hides_a_whole_row():
    q, k, v = (draws(seed, 3, 4).requires_grad_() for seed in (4, 5, 6))
    mask = torch.tensor([[True, False, True], [False, False, False], [False, True, False]])
    out, weights = attention(q, k, v, mask=mask, normalise=lambda s: hard_attention(s, straight_through=True))
    assert weights.sum(-1).tolist() == [1, 0, 1] and out[1].abs().max() == 0
    assert all(g.isfinite().all() for g in torch.autograd.grad(out.square().sum(), (q, k, v)))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_dtype_in_is_dtype_out_and_inputs_stay(dtype):
    x = draws(7, 4, 5).to(dtype)
    before = x.clone()
    for out in (hard_attention(x), softmax_jacobian(x, 0.5), keep_top_k(x, 2), keep_top_p(x, 0.5)):
        assert out.dtype == dtype
    sample(x, 0.7, top_k=3, top_p=0.9)
    assert torch.equal(x, before)


# -- truncation ---------------------------------------------------------------------------

def kept(logits):
    return (logits > -math.inf).tolist()


@pytest.mark.parametrize("p, n", [(0.05, 1), (0.5, 1), (0.6, 2), (0.79, 2), (0.85, 3), (1.0, 4)])
def test_top_p_keeps_the_token_that_crosses_p(p, n):
    logits = torch.tensor([0.15, 0.5, 0.05, 0.3], dtype=torch.float64).log()
    order = [1, 3, 0, 2]
    assert [i for i, stays in enumerate(kept(keep_top_p(logits, p))) if stays] == sorted(order[:n])


def test_top_k_keeps_k_or_all():
    logits = torch.tensor([[1.0, 4.0, 2.0, 3.0], [9.0, 0.0, 0.0, 8.0]])
    assert kept(keep_top_k(logits, 2)) == [[False, True, False, True], [True, False, False, True]]
    assert torch.equal(keep_top_k(logits, 99), logits)


def test_top_k_is_blind_to_the_temperature_and_top_p_is_not():
    logits = torch.tensor([3.0, 2.0, 1.0, 0.0], dtype=torch.float64)
    assert kept(keep_top_k(logits / 2, 2)) == kept(keep_top_k(logits, 2))
    assert [sum(kept(keep_top_p(logits / T, 0.8))) for T in (1, 2)] == [2, 3]


# -- drawing ------------------------------------------------------------------------------

@pytest.mark.parametrize("options", [{}, {"temperature": 0.5}, {"top_k": 2}, {"top_p": 0.7}, {"temperature": 2.0, "top_p": 0.7}])
def test_frequencies_are_those_of_the_softmax(options):
    logits = torch.tensor([2.0, 1.0, 0.1, -math.inf], dtype=torch.float64)
    n, T = 40_000, options.get("temperature", 1.0)
    drawn = sample(logits.expand(n, 4), generator=torch.Generator().manual_seed(0), **options)
    z = logits / T
    z = keep_top_k(z, options["top_k"]) if "top_k" in options else z
    z = keep_top_p(z, options["top_p"]) if "top_p" in options else z
    share = torch.bincount(drawn, minlength=4) / n
    assert torch.allclose(share, softmax(z).float(), atol=4 * 0.5 / math.sqrt(n))
    assert share[3] == 0


def test_temperature_zero_is_argmax_and_a_tiny_one_is_as_good():
    logits = draws(8, 50, 6).float()
    for T in (0, 0.0, 1e-8, 1e-50, 1e-320):
        assert torch.equal(sample(logits, T), logits.argmax(-1)), T
    assert softmax(torch.tensor([1.0, 3.0, 2.0]), temperature=1e-50).tolist() == [0, 1, 0]


def test_a_generator_decides_alone():
    logits = draws(9, 2, 30, 5)
    one, two = (sample(logits, 1.3, generator=torch.Generator().manual_seed(4)) for _ in range(2))
    assert one.shape == (2, 30) and torch.equal(one, two)


@pytest.mark.parametrize("options, words", [
    ({"temperature": -1.0}, "temperature is -1.0"), ({"temperature": float("nan")}, "temperature is nan"),
    ({"temperature": True}, "temperature is True"), ({"top_k": 0}, "k is 0; expected at least 1"),
    ({"top_p": 0.0}, "p is 0.0"), ({"top_p": 1.5}, "p is 1.5"), ({"top_p": True}, "p is True"),
])
def test_wrong_settings_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        sample(torch.zeros(3), **options)


@pytest.mark.parametrize("row", [[-math.inf, -math.inf], [math.nan, 0.0], [math.inf, 0.0]])
@pytest.mark.parametrize("temperature", [0, 1.0])
def test_a_row_that_cannot_be_drawn_from_is_refused(row, temperature):
    with pytest.raises(ValueError, match="expected a finite one"):
        sample(torch.tensor([[0.0, 1.0], row]), temperature)


def test_integers_and_empty_rows_are_refused():
    with pytest.raises(TypeError, match="logits is a int64 tensor"):
        sample(torch.tensor([1, 2]))
    with pytest.raises(ValueError, match="at least one token"):
        sample(torch.zeros(2, 0))
