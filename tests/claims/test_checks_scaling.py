"""The checks of chapter 3 can fail: a wrong part makes them."""

from dataclasses import replace

import pytest
import torch

from attnbook.attention import attention
from attnbook.claims import scaling, scaling_use
from attnbook.scaling import scale_factor
from attnbook.softmax import softmax, softmax_jacobian


def blind_to_the_factor(q, k, v, *, scale=None):
    return attention(q, k, v)


def over_d(kind, d_k):
    return 1 / d_k if kind == "sqrt" else scale_factor(kind, d_k)


def hot(x, axis=-1, temperature=1.0):
    return softmax(x, axis, temperature=2 * temperature)


@pytest.mark.parametrize("module, name, wrong, checks", [
    (scaling, "_dots", lambda d, seed=0: torch.ones(1000, dtype=torch.float64).cumsum(0),
     ["dot_spread", "scaled_variance"]),
    (scaling, "scale_factor", over_d, ["scaled_variance"]),
    (scaling, "scale_factor", lambda kind, d: d ** -0.5, ["sharpness", "saturated_gradients"]),
    (scaling, "softmax", hot, ["softmax_examples"]),
    (scaling, "softmax", lambda x, axis=-1: x / x.sum(axis, keepdim=True), ["differences_only", "softmax_examples"]),
    (scaling, "softmax_jacobian", lambda x: -softmax_jacobian(x).diagonal(dim1=-2, dim2=-1).diag_embed(),
     ["derivative"]),
    (scaling_use, "attention", blind_to_the_factor, ["factor_absorbed", "two_softmaxes"]),
    (scaling_use, "attention", lambda q, k, v, scale=1.0: attention(q, k, v, scale=1.0),
     ["default_kernel", "same_form"]),
    (scaling_use, "qk_norm", lambda q, k: (q, k), ["bounded_by_qk_norm"]),
])
def test_a_wrong_part_makes_the_check_fail(module, name, wrong, checks, monkeypatch):
    monkeypatch.setattr(module, name, wrong)
    for check in checks:
        assert not getattr(module, check)().holds, check


@pytest.mark.parametrize("kind, change, checks", [
    ("none", {"steps": [50] * 5}, ["lookup_training"]),
    ("sqrt", {"accuracy": [0.5] * 5}, ["lookup_training", "lookup_wide", "score_range"]),
    ("d", {"gradient": [50.0] * 5}, ["lookup_training"]),
    ("d", {"accuracy": [0.1] * 5}, ["lookup_training", "lookup_rates", "lookup_wide"]),
    ("none", {"accuracy": [1.0] * 5}, ["lookup_training", "lookup_rates", "lookup_wide"]),
    ("none", {"accuracy": [0.05] * 5}, ["lookup_rates"]),
])
def test_another_outcome_of_training_makes_the_check_fail(kind, change, checks, trained, monkeypatch):
    def other(d_k, lr, *kinds):
        runs = trained(d_k, lr, *kinds)
        return {**runs, kind: replace(runs[kind], **change)}

    monkeypatch.setattr(scaling_use, "_trained", other)
    for check in checks:
        assert not getattr(scaling_use, check)().holds, check


@pytest.fixture(scope="module")
def trained():
    return scaling_use._trained
