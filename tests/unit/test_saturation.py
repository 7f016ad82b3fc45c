"""Jacobian norms, dead rows and the statistics of scores, against plain definitions."""

import pytest
import torch

from attnbook.saturation import dead_rows, jacobian_norm, score_statistics
from attnbook.softmax import softmax, softmax_jacobian

DOUBLE = torch.float64


def scores(*shape, std=1.0, seed=0):
    return std * torch.randn(*shape, dtype=DOUBLE, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("std", [0.01, 1.0, 5.0, 20.0])
def test_the_norm_is_that_of_the_jacobian_written_out(std):
    p = softmax(scores(2, 5, 7, std=std))
    whole = torch.diag_embed(p) - p[..., :, None] * p[..., None, :]
    assert torch.allclose(jacobian_norm(p), torch.linalg.matrix_norm(whole), atol=1e-12)
    assert torch.allclose(softmax_jacobian(scores(7)), whole_jacobian(scores(7)), atol=1e-15)


def whole_jacobian(x):
    return torch.autograd.functional.jacobian(lambda z: torch.softmax(z, -1), x)


def test_the_jacobian_divides_by_the_temperature():
    x = scores(4, seed=1)
    expected = torch.autograd.functional.jacobian(lambda z: torch.softmax(z / 0.3, -1), x)
    assert torch.allclose(softmax_jacobian(x, temperature=0.3), expected, atol=1e-12)


def test_tiny_norms_keep_their_digits():
    lead = torch.tensor([40.0, 0.0, 0.0], dtype=DOUBLE)  # 1 - p is about 8.5e-18, below the rounding of 1
    e = torch.exp(torch.tensor(-40.0, dtype=DOUBLE))  # entries of the Jacobian: 2e, e, e, and four times e beside them
    assert (jacobian_norm(softmax(lead)) / e).item() == pytest.approx(10**0.5, rel=1e-6)


def test_known_norms():
    equal = torch.full((5,), 0.2, dtype=DOUBLE)
    assert jacobian_norm(equal).item() == pytest.approx(2 / 5)  # sqrt(n - 1) / n
    assert jacobian_norm(torch.tensor([0.5, 0.5])).item() == pytest.approx(0.5)
    assert jacobian_norm(torch.tensor([1.0, 0.0, 0.0])) == 0


def test_dead_rows_are_counted():
    rows = torch.tensor([[20.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 30.0, 0.0], [1.0, 2.0, 3.0]])
    assert dead_rows(rows) == 0.5


def test_statistics_of_known_rows():
    s = score_statistics(torch.tensor([[1.0, -1.0], [3.0, 5.0]]))
    assert (s.std, s.largest, s.rows, s.dead) == (1.0, 1.0, 2, 0.0)
    weights = torch.tensor([2.0, 0.0]).softmax(-1)
    assert s.top_weight == pytest.approx(weights[0].item(), abs=1e-6)


def test_a_constant_added_to_a_row_changes_no_statistic():
    x = scores(6, 9)
    one, two = score_statistics(x), score_statistics(x + torch.arange(6.0)[:, None])
    assert one.std == pytest.approx(two.std) and one.jacobian == pytest.approx(two.jacobian)


def test_hidden_keys_do_not_count():
    x = scores(6, 9)
    hidden = torch.cat([x, torch.full((6, 4), -torch.inf)], -1)
    one, two = score_statistics(x), score_statistics(hidden)
    assert one.std == pytest.approx(two.std) and one.entropy_share == pytest.approx(two.entropy_share)


def test_rows_with_one_key_or_none_are_left_out():
    x = scores(5, 5).masked_fill(~torch.ones(5, 5, dtype=torch.bool).tril(), -torch.inf)
    assert score_statistics(x).rows == 4
    with pytest.raises(ValueError, match=r"scores has shape \(1, 1\) and no row with two visible keys"):
        score_statistics(torch.zeros(1, 1))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_scores_that_are_not_finite_are_refused(value):
    with pytest.raises(ValueError, match="NaN or infinity"):
        score_statistics(torch.tensor([[0.0, value]]))
    with pytest.raises(TypeError, match="int64"):
        score_statistics(torch.zeros(2, 2, dtype=torch.int64))


def test_half_precision_is_welcome():
    assert score_statistics(scores(8, 8).half()).std == pytest.approx(score_statistics(scores(8, 8)).std, rel=1e-2)
