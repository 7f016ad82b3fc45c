"""The checks of chapter 5 can fail: a wrong part, or another outcome of training, makes them."""

from dataclasses import replace

import pytest
import torch

from attnbook import depth
from attnbook.attention import attention
from attnbook.claims import residual, residual_stacks, residual_training
from attnbook.residual import layer_norm
from attnbook.stacks import Stack, transformer_stack


def always_post(x, f, norm, order="pre"):
    return norm(x + f(x))


def unnormed(x, f, norm, order="pre"):
    return x + f(x)


def shallow(n_blocks, *args, **options):
    return transformer_stack(min(n_blocks, 2), *args, **options)


def post_is_pre(n_blocks, d, h=1, kind="pre", **options):
    return transformer_stack(n_blocks, d, h, "pre", **options)


def one_kind(sublayers, d, kind, **options):
    return Stack(sublayers, d, "pre")


@pytest.mark.parametrize("module, name, wrong, checks", [
    (residual, "residual_block", always_post, ["block_forms"]),
    (residual, "residual_block", unnormed, ["block_forms"]),
    (residual, "transformer_stack", shallow, ["two_additions"]),
    (residual, "LAYERS", 3, ["gain_of_96"]),
    (residual, "Stack", one_kind, ["scaled_start", "dense_width"]),
    (residual, "_entropy", lambda counts: 9.0, ["bits"]),
    (residual_stacks, "attention", lambda q, k, v, causal=False: (v, None), ["merging"]),
    (residual_stacks, "gradient_norms", lambda states: torch.ones(2), ["plain_gradients"]),
    (residual_stacks, "transformer_stack", post_is_pre, ["norm_gradients", "stream_growth"]),
    (residual_stacks, "word_accuracy", lambda *args: 1.0, ["word_kept"]),
])
def test_a_wrong_part_makes_the_check_fail(module, name, wrong, checks, monkeypatch):
    if checks == ["word_kept"]:
        monkeypatch.setattr(residual_stacks, "LAYERS", 96)
        monkeypatch.setattr(residual_stacks, "_kept", lambda kind, d, n, seed: [(0.1, 1.0)] * 4)
    monkeypatch.setattr(module, name, wrong)
    for check in checks:
        assert not getattr(module, check)().holds, check


def test_a_skip_that_is_left_out_merges_the_tokens(monkeypatch):
    monkeypatch.setattr(residual_stacks, "attention", lambda q, k, v, causal=False: attention(q, k, v))  # blind to causal
    found = residual_stacks.merging()
    assert not found.holds and found.values["apart_causal"] < 0.02


def test_paths_need_all_terms(monkeypatch):
    monkeypatch.setattr(residual.itertools, "product", lambda *args, repeat: [(True,) * repeat, (False,) * repeat])
    assert not residual.paths().holds


def test_other_depths_make_the_rule_hold(monkeypatch):
    obedient = tuple(replace(m, layers=depth.advised(m.billions)[0]) for m in depth.PUBLISHED)
    monkeypatch.setattr(depth, "PUBLISHED", obedient)
    assert not residual.layer_rule().holds


ENDS = {"pre": [0.02] * 5, "post": [2.6] * 4 + [0.3], "warm": [0.1] * 5, "small": [0.03] * 5}


@pytest.mark.parametrize("name, ends, holds", [
    ("pre", [0.02] * 5, True), ("pre", [0.02] * 4 + [2.0], False), ("post", [0.1] * 5, False),
    ("warm", [2.6] * 5, False), ("small", [0.02] * 4 + [2.0], False),
])
def test_another_outcome_of_training_makes_the_check_fail(name, ends, holds, monkeypatch):
    monkeypatch.setattr(residual_training, "_runs", lambda: {**ENDS, name: ends})
    assert residual_training.norm_placement().holds == holds


@pytest.mark.parametrize("name, accuracy, holds", [
    ("skip", [0.99] * 5, True), ("skip", [0.9] * 5, False), ("plain", [0.9] * 5, False), ("straight", [0.5] * 5, False),
])
def test_another_outcome_of_the_moons_makes_the_check_fail(name, accuracy, holds, monkeypatch):
    runs = {"plain": [0.5] * 5, "straight": [0.8] * 5, "skip": [1.0] * 5}
    monkeypatch.setattr(residual_training, "_moons", lambda: {**runs, name: accuracy})
    assert residual_training.narrow_network().holds == holds


def test_norms_differ_from_none():
    x = torch.ones(2, 4).cumsum(1)
    assert not torch.allclose(layer_norm(x), x)
