"""Recurrence against torch.nn in float64, padding, gradients through time by two routes, and the scan."""

import pytest
import torch
from torch import nn

from attnbook.recurrent import (
    gradient_through_time,
    gru,
    last_real_state,
    linear_recurrence,
    linear_scan,
    lstm,
    lstm_step,
    product_through_time,
    rnn,
    rnn_step,
    spectral_radius,
    step_jacobians,
)

DOUBLE = torch.float64


def draw(*shape, seed=0):
    return torch.randn(*shape, dtype=DOUBLE, generator=torch.Generator().manual_seed(seed))


def close(a, b, tolerance=1e-12):
    return a.shape == b.shape and (a - b).abs().max().item() <= tolerance


def cell(kind, d_in=3, d=5):
    """A torch cell with drawn weights, and its four parameters."""
    judge = kind(d_in, d, batch_first=True, dtype=DOUBLE)
    with torch.no_grad():
        for i, p in enumerate(judge.parameters()):
            p.copy_(0.5 * draw(*p.shape, seed=i))
    return judge, [p.detach() for p in judge.parameters()]


# -- equal to torch -----------------------------------------------------------------------

def test_rnn_equals_torch():
    judge, (w_ih, w_hh, b_ih, b_hh) = cell(nn.RNN)
    x, h0 = draw(2, 7, 3, seed=8), draw(2, 5, seed=9)
    expected, last = judge(x, h0[None])
    states, h = rnn(x, h0, w_ih, w_hh, b_ih + b_hh)
    assert close(states, expected) and close(h, last[0])


def test_lstm_equals_torch_in_outputs_state_and_cell():
    judge, parameters = cell(nn.LSTM)
    x, h0, c0 = draw(2, 7, 3, seed=8), draw(2, 5, seed=9), draw(2, 5, seed=10)
    expected, (last_h, last_c) = judge(x, (h0[None], c0[None]))
    outputs, (h, c) = lstm(x, h0, c0, *parameters)
    assert close(outputs, expected) and close(h, last_h[0]) and close(c, last_c[0])


def test_gru_equals_torch():
    judge, parameters = cell(nn.GRU)
    x, h0 = draw(2, 7, 3, seed=8), draw(2, 5, seed=9)
    expected, last = judge(x, h0[None])
    states, h = gru(x, h0, *parameters)
    assert close(states, expected) and close(h, last[0])


def test_gradients_of_the_weights_equal_those_of_torch():
    judge, parameters = cell(nn.LSTM)
    ours = [p.requires_grad_() for p in parameters]
    x, zero = draw(2, 7, 3, seed=8), torch.zeros(2, 5, dtype=DOUBLE)
    judge(x)[0].square().sum().backward()
    gradients = torch.autograd.grad(lstm(x, zero, zero, *ours)[0].square().sum(), ours)
    assert all(close(a, b.grad) for a, b in zip(gradients, judge.parameters(), strict=True))


@pytest.mark.parametrize("batch", [(), (4,), (2, 3)])
def test_any_number_of_batch_axes(batch):
    _, parameters = cell(nn.LSTM)
    x, zero = draw(*batch, 6, 3), torch.zeros(5, dtype=DOUBLE)
    outputs, (h, c) = lstm(x, zero, zero, *parameters)
    assert outputs.shape == (*batch, 6, 5) and h.shape == c.shape == (*batch, 5)
    one = lstm(x.reshape(-1, 6, 3)[-1], zero, zero, *parameters)[0]
    assert close(outputs.reshape(-1, 6, 5)[-1], one)


def test_no_step_returns_the_first_state():
    _, (w_ih, w_hh, b, _) = cell(nn.RNN)
    h0 = draw(5)
    states, h = rnn(draw(2, 0, 3), h0, w_ih, w_hh, b)
    assert states.shape == (2, 0, 5) and torch.equal(h, h0.expand(2, 5))


def test_an_empty_batch_of_sequences():
    _, parameters = cell(nn.GRU)
    states, h = gru(draw(0, 4, 3), draw(5), *parameters)
    assert states.shape == (0, 4, 5) and h.shape == (0, 5)


def test_the_dtype_stays():
    _, parameters = cell(nn.LSTM)
    narrow = [p.float() for p in parameters]
    outputs, (h, c) = lstm(torch.ones(4, 3), torch.zeros(5), torch.zeros(5), *narrow)
    assert outputs.dtype == h.dtype == c.dtype == torch.float32


# -- errors -------------------------------------------------------------------------------

def arguments(**changed):
    w = {"x": torch.ones(2, 7, 3), "h0": torch.zeros(5), "w_ih": torch.ones(5, 3), "w_hh": torch.ones(5, 5),
         "b": torch.ones(5)}
    return w | changed


@pytest.mark.parametrize("changed, error, words", [
    ({"w_ih": torch.ones(3, 5)}, ValueError, r"w_ih has shape \(3, 5\); expected \(5, 3\), the width of x"),
    ({"w_hh": torch.ones(5, 4)}, ValueError, r"w_hh has shape \(5, 4\); expected \(4, 4\)"),
    ({"b": torch.ones(6)}, ValueError, r"b has shape \(6,\); expected \(5,\)"),
    ({"h0": torch.zeros(3, 5)}, ValueError, r"h0 has shape \(3, 5\); expected \(5,\) or \(2, 5\)"),
    ({"x": torch.ones(3)}, ValueError, r"x has shape \(3,\); expected at least 2 axes"),
    ({"x": torch.ones(2, 7, 3, dtype=torch.int64)}, TypeError, "x is a int64 tensor"),
    ({"w_hh": torch.ones(5, 5, dtype=DOUBLE)}, TypeError, "mixed dtypes: .*w_hh float64"),
    ({"h0": None}, TypeError, "h0 is NoneType None; expected a torch tensor"),
])
def test_errors_name_what_came_and_what_was_expected(changed, error, words):
    with pytest.raises(error, match=words):
        rnn(**arguments(**changed))


def test_weights_of_another_cell_are_refused():
    _, parameters = cell(nn.GRU)
    with pytest.raises(ValueError, match=r"w_hh has shape \(15, 5\); expected \(20, 5\): 4 gates of 5 rows"):
        lstm(draw(7, 3), draw(5), draw(5), *parameters)


# -- padding ------------------------------------------------------------------------------

def test_the_last_real_state_is_the_one_before_the_padding():
    judge, (w_ih, w_hh, b_ih, b_hh) = cell(nn.RNN)
    x, lengths = draw(2, 5, 3, seed=8), [5, 3]
    packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor(lengths), batch_first=True)
    expected = judge(packed)[1][0]
    states, last = rnn(x, torch.zeros(5, dtype=DOUBLE), w_ih, w_hh, b_ih + b_hh)
    assert close(last_real_state(states, lengths), expected)
    assert (last[1] - expected[1]).abs().max() > 0.05  # what the padding would have made of it


def test_the_last_real_state_ignores_what_the_padding_holds():
    states = draw(3, 4, 2)
    changed = states.clone()
    changed[1, 2:] = torch.nan
    assert torch.equal(last_real_state(states, [4, 2, 1]), last_real_state(changed, torch.tensor([4, 2, 1])))
    assert last_real_state(states[0], 2).tolist() == states[0, 1].tolist()


@pytest.mark.parametrize("lengths, error, words", [
    ([4, 0, 1], ValueError, r"\[4, 0, 1\]; expected each in 1..4"),
    ([4, 5, 1], ValueError, "expected each in 1..4"),
    ([4, 2], ValueError, r"lengths has shape \(2,\); expected \(3,\), one per batch item"),
    ([4.0, 2.0, 1.0], TypeError, "lengths is a float32 tensor"),
])
def test_lengths_that_do_not_fit_are_refused(lengths, error, words):
    with pytest.raises(error, match=words):
        last_real_state(draw(3, 4, 2), lengths)


# -- gradients through time ---------------------------------------------------------------

def chain(gain, d=16, T=40):
    """A tanh recurrence with an orthogonal matrix times gain, near zero where tanh is nearly linear."""
    w = gain * torch.linalg.qr(draw(d, d))[0]
    inputs = 1e-4 * draw(T, d, seed=1)
    return lambda h, x: rnn_step(h, x, torch.eye(d, dtype=DOUBLE), w, torch.zeros(d, dtype=DOUBLE)), inputs


@pytest.mark.parametrize("gain", [0.5, 0.9, 1.0, 1.1, 1.5])
def test_autograd_and_the_product_of_step_jacobians_agree(gain):
    step, inputs = chain(gain)
    h0 = torch.zeros(16, dtype=DOUBLE)
    by_autograd = gradient_through_time(step, h0, inputs)
    by_product = product_through_time(step_jacobians(step, h0, inputs))
    assert by_autograd.shape == (41,) and by_autograd[-1] == 1
    assert close(by_autograd / by_product, torch.ones(41, dtype=DOUBLE), 1e-10)


@pytest.mark.parametrize("gain", [0.9, 1.0, 1.1])
def test_a_linear_regime_follows_the_gain_to_the_power_of_the_distance(gain):
    step, inputs = chain(gain)
    norms = gradient_through_time(step, torch.zeros(16, dtype=DOUBLE), inputs)
    expected = gain ** torch.arange(40, -1, -1, dtype=DOUBLE)
    assert close(norms / expected, torch.ones(41, dtype=DOUBLE), 1e-2)


def test_the_same_gradients_come_out_of_an_lstm_whose_state_is_both_h_and_c():
    _, parameters = cell(nn.LSTM, d_in=3, d=4)

    def step(state, x):
        return torch.cat(lstm_step(*state.chunk(2), x, *parameters))

    state, inputs = draw(8), draw(9, 3, seed=1)
    by_product = product_through_time(step_jacobians(step, state, inputs))
    assert close(gradient_through_time(step, state, inputs) / by_product, torch.ones(10, dtype=DOUBLE), 1e-10)


def test_no_step_has_gradient_one():
    step, _ = chain(1.0)
    h0 = torch.zeros(16, dtype=DOUBLE)
    assert gradient_through_time(step, h0, []).tolist() == [1.0]
    assert product_through_time(step_jacobians(step, h0, [])).tolist() == [1.0]


def test_gradients_through_time_leave_the_first_state_alone():
    step, inputs = chain(0.9)
    h0 = torch.zeros(16, dtype=DOUBLE)
    gradient_through_time(step, h0, inputs)
    assert not h0.requires_grad and (h0 == 0).all()


def test_a_large_norm_may_hide_a_small_spectral_radius():
    a = torch.tensor([[0.5, 10.0], [0.0, 0.5]], dtype=DOUBLE)
    assert spectral_radius(a) == pytest.approx(0.5)
    norms = product_through_time(a.expand(50, 2, 2))
    assert norms[-2] > 10 and norms[0] < 1e-11


def test_changing_factors_explode_though_each_has_a_small_spectral_radius():
    a = torch.tensor([[0.5, 10.0], [0.0, 0.5]], dtype=DOUBLE)
    assert product_through_time(torch.stack([a, a.T] * 10))[0] > 1e19


def test_the_spectral_radius_counts_complex_eigenvalues():
    turn = torch.tensor([[0.0, -2.0], [2.0, 0.0]], dtype=DOUBLE)
    assert spectral_radius(turn) == pytest.approx(2.0)
    with pytest.raises(ValueError, match=r"w has shape \(2, 3\); expected a square matrix"):
        spectral_radius(torch.ones(2, 3))


# -- linear recurrences -------------------------------------------------------------------

@pytest.mark.parametrize("T, rounds", [(0, 0), (1, 0), (2, 1), (3, 2), (5, 3), (63, 6), (64, 6), (65, 7)])
def test_the_scan_equals_the_loop_in_log2_rounds(T, rounds):
    a, b = 0.5 + 0.5 * draw(2, T, 3).sigmoid(), draw(2, T, 3, seed=1)
    states, taken = linear_scan(a, b)
    assert taken == rounds
    assert states.shape == (2, T, 3)
    assert T == 0 or close(states, linear_recurrence(a, b))


def test_the_scan_changes_nothing_in_place_and_has_the_gradients_of_the_loop():
    a, b = draw(6, 2).requires_grad_(), draw(6, 2, seed=1).requires_grad_()
    before = a.detach().clone(), b.detach().clone()
    ours = torch.autograd.grad(linear_scan(a, b)[0].square().sum(), (a, b))
    loop = torch.autograd.grad(linear_recurrence(a, b).square().sum(), (a, b))
    assert all(close(x, y, 1e-9) for x, y in zip(ours, loop, strict=True))
    assert torch.equal(a, before[0]) and torch.equal(b, before[1])
    assert linear_scan(a[:1], b[:1])[0].data_ptr() != b.data_ptr()


def test_a_linear_recurrence_refuses_unequal_shapes():
    for run in (linear_recurrence, linear_scan):
        with pytest.raises(ValueError, match=r"a has shape \(4, 2\); expected \(5, 2\), the shape of b"):
            run(torch.ones(4, 2), torch.ones(5, 2))
