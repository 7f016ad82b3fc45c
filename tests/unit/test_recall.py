"""First-bit recall: its data, its cells, and short trainings of each kind."""

import pytest
import torch

from attnbook.recurrent import rnn
from attnbook.tasks import recall
from attnbook.tasks.recall import batch, recall_accuracy


def generators(*seeds):
    return [torch.Generator().manual_seed(seed) for seed in seeds]


def test_the_first_symbol_is_the_answer_and_the_rest_is_noise():
    x, bit = batch(6, 500, torch.Generator().manual_seed(0))
    assert x.shape == (6, 500, 2) and bit.shape == (500,)
    assert torch.equal(x[0, :, 0], 2.0 * bit - 1) and (x[1:, :, 0] == 0).all()
    assert (x[0, :, 1] == 0).all() and (x[1:, :, 1].abs() == 1).all()
    assert abs(bit.float().mean() - 0.5) < 0.1 and abs(x[1:, :, 1].mean()) < 0.1
    noise = (x[1:, :, 1] * x[0, :, 0]).mean(1)
    assert noise.abs().max() < 0.2  # the noise says nothing about the bit


def test_batches_are_drawn_from_the_generator():
    one, same, other = (batch(4, 8, torch.Generator().manual_seed(seed))[0] for seed in (0, 0, 1))
    assert torch.equal(one, same) and not torch.equal(one, other)


def test_a_sequence_of_one_step_has_no_noise():
    x, _ = batch(1, 3, torch.Generator().manual_seed(0))
    assert x.shape == (1, 3, 2)
    with pytest.raises(ValueError, match="T is 0; expected at least 1"):
        batch(0, 3, torch.Generator())


def test_nets_side_by_side_are_plain_recurrences():
    gens = generators(0, 1, 2)
    net = recall._Tanhs(gens, orthogonal=False).double()
    x = torch.stack([batch(7, 5, g)[0] for g in gens]).double()  # (S, T, B, 2)
    scores = net(x)
    for s in range(3):
        _, h = rnn(x[s].transpose(0, 1), torch.zeros(32).double(), net.w_x[s].mT, net.w_h[s].mT, net.b[s, 0])
        assert torch.allclose(scores[s], h @ net.w_out[s] + net.b_out[s], atol=1e-12)


def test_an_orthogonal_start_keeps_every_length():
    net = recall._Tanhs(generators(0, 1), orthogonal=True)
    assert torch.allclose(net.w_h @ net.w_h.mT, torch.eye(32).expand(2, 32, 32), atol=1e-5)
    assert (net.b == 0).all() and not torch.equal(net.w_h[0], net.w_h[1])


def test_forget_gates_start_open():
    cell = recall._LSTMs(generators(0)).cells[0]
    assert ((cell.bias_ih_l0 + cell.bias_hh_l0)[32:64] == 3).all()
    assert (cell.bias_ih_l0[:32].abs() <= 32 ** -0.5).all()


def test_gradients_are_clipped_for_each_seed_alone():
    gradients = [torch.ones(2, 3, 4), torch.ones(2, 1, 4)]
    gradients[0][0] *= 100
    gradients[1][1] *= 1e-3
    gradients[0][1] *= 1e-3
    small = [g[1].clone() for g in gradients]
    recall._clip(gradients, 1.0)
    assert sum(g[0].square().sum() for g in gradients).sqrt() == pytest.approx(1.0, rel=1e-5)
    assert all(torch.equal(g[1], s) for g, s in zip(gradients, small, strict=True))


@pytest.mark.parametrize("kind", recall.KINDS)
def test_every_kind_learns_five_steps(kind):
    assert min(recall_accuracy(kind, 5, (0, 1))) >= 0.99


def test_an_orthogonal_start_reaches_fifty_steps_where_the_default_has_learned_nothing_yet():
    assert min(recall_accuracy("orthogonal", 50, (0,), steps=150)) >= 0.99
    assert max(recall_accuracy("tanh", 50, (0,), steps=150)) <= 0.6


def test_accuracies_are_plain_numbers_one_a_seed_and_repeatable():
    state = torch.get_rng_state()
    first = recall_accuracy("tanh", 4, (3, 4), steps=5)
    assert first == recall_accuracy("tanh", 4, (3, 4), steps=5)
    assert len(first) == 2 and all(isinstance(a, float) for a in first)
    assert torch.equal(state, torch.get_rng_state())


@pytest.mark.parametrize("kind, T, error, words", [
    ("gru", 5, ValueError, "kind is 'gru'; expected one of tanh, orthogonal, lstm"),
    ("tanh", 0, ValueError, "T is 0"), ("lstm", 2.5, TypeError, "T is float 2.5"),
])
def test_arguments_out_of_range_are_named(kind, T, error, words):
    with pytest.raises(error, match=words):
        recall_accuracy(kind, T)
