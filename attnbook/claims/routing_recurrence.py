"""Checks of chapter 1 on recurrence: what the state keeps, and what becomes of the gradient."""

import math

import torch

from attnbook.claims._draws import EXACT, SEEDS, normal
from attnbook.claims.measurement import Measurement
from attnbook.recurrent import linear_recurrence, linear_scan, rnn, rnn_step, spectral_radius, step_jacobians
from attnbook.tasks.recall import recall_accuracy


# -- the recurrence -----------------------------------------------------------------------

def recurrence_formula() -> Measurement:
    """h_t = tanh(W [h_{t-1}, x_t] + b) is torch's RNN, and the past enters through the previous state only."""
    steps, middle, worst, restart = 9, 4, 0.0, 0.0
    for seed in SEEDS:
        torch.manual_seed(seed)
        theirs, x, h0 = torch.nn.RNN(5, 7).double(), normal(seed, steps, 5), torch.zeros(7, dtype=torch.float64)
        weights = (theirs.weight_ih_l0, theirs.weight_hh_l0, theirs.bias_ih_l0 + theirs.bias_hh_l0)
        ours, _ = rnn(x, h0, *weights)
        resumed, _ = rnn(x[middle:], ours[middle - 1], *weights)
        worst = max(worst, (ours - theirs(x)[0]).abs().max().item())
        restart = max(restart, (resumed - ours[middle:]).abs().max().item())
    values = {"steps": steps, "difference": worst, "restart": restart, "tolerance": EXACT}
    return Measurement(values, holds=worst < EXACT and restart < EXACT)


def scan_in_rounds() -> Measurement:
    """A linear recurrence h_t = a_t h_{t-1} + b_t is computed exactly in log2(T) parallel rounds."""
    steps = 64
    a, b = 0.5 + 0.5 * torch.sigmoid(normal(0, steps, 4)), normal(1, steps, 4)
    states, rounds = linear_scan(a, b)
    difference = (states - linear_recurrence(a, b)).abs().max().item()
    values = {"steps": steps, "rounds": rounds, "difference": difference, "tolerance": EXACT}
    return Measurement(values, holds=difference < EXACT and rounds == math.ceil(math.log2(steps)))


# -- what the state keeps -----------------------------------------------------------------

def first_bit_recall() -> Measurement:
    """Default tanh RNNs lose the first bit between 20 and 50 steps; orthogonal starts and LSTMs keep it for 100."""
    seeds, values = range(3), {}
    for kind, steps in (("tanh", 10), ("tanh", 20), ("tanh", 50), ("orthogonal", 100), ("lstm", 100)):
        accuracies = recall_accuracy(kind, steps, seeds)
        values[f"{kind}_{steps}"] = sum(accuracies) / len(accuracies)
    near = values["tanh_10"] > 0.95 and values["tanh_50"] < 0.8
    far = min(values["orthogonal_100"], values["lstm_100"]) > 0.95
    return Measurement(values | {"seeds": len(seeds)}, holds=near and far)


def state_probe() -> Measurement:
    """A linear probe reads early words from the last state of an untrained orthogonal RNN, if the state is wide."""
    words, seeds, values = 30, range(3), {}
    for width in (64, 128, 256):
        found = torch.tensor([_probe(seed, width, words, places=(1, 5)) for seed in seeds]).mean(0).tolist()
        values[f"width_{width}"], values[f"late_{width}"] = found
    narrow = values["width_64"] < 0.6
    wide = values["width_256"] > 0.95 and values["late_256"] > 0.95
    return Measurement(values | {"chance": 1 / words, "seeds": len(seeds)}, holds=narrow and wide)


def _probe(seed, width, words, places, steps=9, sentences=6000, train=4500):
    """Held-out accuracy of ridge regression from the last state to the word at each place."""
    tokens = torch.randint(words, (sentences, steps), generator=torch.Generator().manual_seed(seed))
    table = 2 * normal(seed, words, width) / width ** 0.5
    turn = 0.95 * torch.linalg.qr(normal(seed + 100, width, width))[0]
    eye, zero = torch.eye(width, dtype=torch.float64), torch.zeros(width, dtype=torch.float64)
    _, last = rnn(table[tokens], zero, eye, turn, zero)
    last = torch.cat([last, torch.ones(sentences, 1, dtype=last.dtype)], -1)
    gram = last[:train].T @ last[:train] + 0.01 * torch.eye(width + 1, dtype=last.dtype)
    accuracies = []
    for place in places:
        target = torch.nn.functional.one_hot(tokens[:train, place], words).to(last.dtype)
        guess = (last[train:] @ torch.linalg.solve(gram, last[:train].T @ target)).argmax(-1)
        accuracies.append((guess == tokens[train:, place]).double().mean().item())
    return accuracies


# -- gradients through time ---------------------------------------------------------------

def chain_rule() -> Measurement:
    """A product of step Jacobians is the gradient of a loss on the last state; with a loss at each step it is a sum."""
    d, factors = 6, 7
    x, read = normal(0, factors, d), normal(1, factors, d)  # the loss is linear: read[t] is its gradient at state t
    cell = (torch.eye(d, dtype=x.dtype), normal(2, d, d) / d ** 0.5, torch.zeros(d, dtype=x.dtype))
    first = normal(3, d).requires_grad_()
    states, last = rnn(x, first, *cell)
    at_last, = torch.autograd.grad((last * read[-1]).sum(), first, retain_graph=True)
    at_each, = torch.autograd.grad((states * read).sum(), first)
    jacobians = step_jacobians(lambda h, x_t: rnn_step(h, x_t, *cell), first.detach(), x)
    products = [_row_times(read[t], jacobians[:t + 1]) for t in range(factors)]
    single, summed = (at_last - products[-1]).abs().max().item(), (at_each - sum(products)).abs().max().item()
    missing = ((at_each - products[-1]).norm() / at_each.norm()).item()
    values = {"factors": factors, "product": single, "sum": summed, "missing": missing, "tolerance": EXACT}
    return Measurement(values, holds=single < EXACT and summed < EXACT and missing > 0.1)


def _row_times(row, jacobians):
    """row J_t ... J_1: from the last step back to the first, in this order."""
    for jacobian in jacobians.flip(0):
        row = row @ jacobian
    return row


def jacobian_growth() -> Measurement:
    """Fifty equal factors: a small gain makes the product vanish, a large one explode, an orthogonal matrix neither."""
    width, steps = 64, 50
    norms = {gain: [_power_norm(gain * normal(seed, width, width) / width ** 0.5, steps) for seed in SEEDS]
             for gain in (0.5, 1.5)}
    turns = [_power_norm(torch.linalg.qr(normal(seed, width, width))[0], steps) for seed in SEEDS]
    values = {"vanishing": max(norms[0.5]), "vanishing_bound": 1e-10, "exploding": min(norms[1.5]),
              "exploding_bound": 1e6, "orthogonal": max(turns), "seeds": len(SEEDS)}
    level = max(abs(turn - 1) for turn in turns) < 1e-9
    return Measurement(values, holds=values["vanishing"] < 1e-10 and values["exploding"] > 1e6 and level)


def changing_factors() -> Measurement:
    """With factors that change, neither the radius nor "each below 1" decides: one product explodes, one stays."""
    w = 10 * torch.tensor([[1.0, -1.0], [1.0, -1.0]], dtype=torch.float64)  # w @ w = 0
    slopes = torch.diag(torch.tensor([1.0, 0.5], dtype=torch.float64))  # of tanh: anything in (0, 1]
    t = torch.arange(2, 100_001, dtype=torch.float64)
    values = {"radius": spectral_radius(w), "changing": _power_norm(slopes @ w, 20), "changing_bound": 1e10,
              "slow_product": (1 - 1 / t ** 2).prod().item()}
    explodes = values["radius"] < 1e-6 and values["changing"] > 1e10
    return Measurement(values, holds=explodes and values["slow_product"] > 0.49)


def _power_norm(matrix, power):
    """Largest singular value of the matrix to that power."""
    return torch.linalg.matrix_norm(torch.linalg.matrix_power(matrix, power), 2).item()
