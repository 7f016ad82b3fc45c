"""The training loop: seeded, quiet, with its options, and a loss that padding cannot touch."""

import io
import sys

import pytest
import torch
from torch import nn

from attnbook.training import fit, masked_loss


def line(w=0.0):
    """One number to learn: the loss is its squared distance to 3."""
    p = nn.Parameter(torch.tensor([float(w)]))
    return p, lambda _: (p - 3).square().sum()


def test_the_loss_falls_and_is_recorded_before_each_step():
    p, loss = line()
    history = fit([p], loss, steps=200, lr=0.1)
    assert history.steps == 200 and history.loss[0] == 9.0 and history.loss[-1] < 1e-2 and not history.stopped_early


def test_the_seed_decides_the_batches_and_nothing_global_moves():
    def run(seed):
        p = nn.Parameter(torch.zeros(3))
        return fit([p], lambda g: (p - torch.rand(3, generator=g)).square().sum(), steps=5, seed=seed).loss

    state = torch.get_rng_state()
    assert run(0) == run(0) != run(1)
    assert torch.equal(state, torch.get_rng_state())


def test_a_module_can_be_given_instead_of_its_parameters():
    layer = nn.Linear(2, 1)
    before = layer.weight.detach().clone()
    fit(layer, lambda g: layer(torch.randn(8, 2, generator=g)).square().mean(), steps=3)
    assert not torch.equal(before, layer.weight)


def test_a_warm_up_starts_with_small_steps():
    p, loss = line()
    fit([p], loss, steps=1, lr=0.1, warm_up=10)
    assert p.item() == pytest.approx(0.01, rel=1e-3)  # Adam's first step has the length of the learning rate
    q, loss = line()
    fit([q], loss, steps=1, lr=0.1)
    assert q.item() == pytest.approx(0.1, rel=1e-3)


def test_weight_decay_shrinks_what_the_loss_does_not_hold():
    p = nn.Parameter(torch.tensor([2.0]))
    fit([p], lambda _: (p * 0).sum(), steps=1, lr=0.1, weight_decay=0.5)
    assert p.item() == pytest.approx(2.0 * (1 - 0.1 * 0.5))


def test_gradients_are_clipped_by_norm_or_by_a_function():
    seen = []
    p, loss = line(w=-100)
    fit([p], loss, steps=1, clip=1.0, stop=lambda _: seen.append(p.grad.norm().item()))
    fit([p], loss, steps=1, clip=lambda ps: [q.grad.mul_(0.5) for q in ps], stop=lambda _: seen.append(p.grad.item()))
    assert seen[0] == pytest.approx(1.0, rel=1e-4)
    assert seen[1] == pytest.approx((p.item() - 3), rel=1e-2)  # half of 2 (p - 3)


def test_it_can_stop_early():
    p, loss = line()
    history = fit([p], loss, steps=500, lr=0.1, stop=lambda history: history.loss[-1] < 1.0)
    assert history.stopped_early and history.steps < 500 and history.loss[-1] < 1.0 <= history.loss[-2]


def test_a_loss_that_is_no_longer_finite_is_an_error_that_names_the_step():
    p, _ = line()
    values = iter([1.0, float("nan")])
    with pytest.raises(FloatingPointError, match="the loss is nan at step 2"):
        fit([p], lambda _: (p * 0).sum() + next(values), steps=5)


@pytest.mark.parametrize("options, error, words", [
    ({"steps": -1}, ValueError, "steps is -1"), ({"steps": 1.5}, TypeError, "steps is float 1.5"),
    ({"steps": 1, "lr": 0}, ValueError, "lr is 0; expected a positive number"),
    ({"steps": 1, "warm_up": -1}, ValueError, "warm_up is -1"),
])
def test_options_out_of_range_are_named(options, error, words):
    p, loss = line()
    with pytest.raises(error, match=words):
        fit([p], loss, **options)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream, progress, shows", [
    (io.StringIO, None, False), (Terminal, None, True), (Terminal, False, False), (io.StringIO, True, True),
])
def test_progress_shows_only_in_a_terminal_or_when_asked_for(monkeypatch, capsys, stream, progress, shows):
    monkeypatch.setattr(sys, "stderr", stream())
    p, loss = line()
    fit([p], loss, steps=40, progress=progress)
    assert bool(sys.stderr.getvalue()) == shows
    assert capsys.readouterr().out == ""


# -- loss over padding --------------------------------------------------------------------

def padded(fill):
    logits = torch.randn(2, 4, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    targets = torch.tensor([[1, 2, 3, fill], [4, fill, fill, fill]])
    return logits, targets, torch.tensor([[True, True, True, False], [True, False, False, False]])


def test_what_stands_on_padding_does_not_change_the_loss():
    losses = {masked_loss(*padded(fill)).item() for fill in (0, 4, -100, 999)}
    assert len(losses) == 1
    logits, targets, real = padded(0)
    assert losses.pop() == pytest.approx(nn.functional.cross_entropy(logits[real], targets[real]).item(), abs=1e-12)


def test_padding_has_no_gradient_even_if_its_logits_are_nan():
    logits, targets, real = padded(0)
    logits[~real] = torch.nan
    logits.requires_grad_()
    loss = masked_loss(logits, targets, real)
    loss.backward()
    assert loss.isfinite() and (logits.grad[~real] == 0).all() and (logits.grad[real] != 0).any()


def test_a_batch_of_padding_only_has_loss_zero():
    logits, targets, real = padded(0)
    logits.requires_grad_()
    loss = masked_loss(logits, targets, torch.zeros_like(real))
    loss.backward()
    assert loss == 0 and (logits.grad == 0).all()


@pytest.mark.parametrize("change, error, words", [
    (lambda logits, targets, real: (logits, targets[:, :3], real), ValueError, r"targets has shape \(2, 3\)"),
    (lambda logits, targets, real: (logits, targets, real[:1]), ValueError, r"real has shape \(1, 4\)"),
    (lambda logits, targets, real: (logits, targets, real.long()), TypeError, "real is a int64 tensor"),
    (lambda logits, targets, real: (logits.long(), targets, real), TypeError, "logits is a int64 tensor"),
])
def test_arguments_of_the_masked_loss_that_do_not_fit_are_named(change, error, words):
    with pytest.raises(error, match=words):
        masked_loss(*change(*padded(0)))


def test_the_fused_update_differs_by_rounding_only():
    def run(fused):
        p, loss = line()
        fit([p], loss, steps=20, lr=0.1, fused=fused)
        return p.item()

    assert run(True) == pytest.approx(run(False), rel=1e-4)
