"""Pointing at a pair: three kinds of weights, one seed each, few steps."""

from functools import partial

import pytest
import torch

from attnbook.softmax import hard_attention, softmax
from attnbook.tasks import pointing


@pytest.fixture(scope="module")
def runs():
    kinds = {"soft": softmax, "hard": hard_attention, "through": partial(hard_attention, straight_through=True)}
    return {name: pointing.train_pointing(kind, seeds=(0, 2), steps=250) for name, kind in kinds.items()}


def test_soft_and_straight_through_learn_and_hard_does_not_point(runs):
    assert min(runs["soft"].answered + runs["through"].answered) > 0.9
    assert max(runs["hard"].pointed) < 0.4 and min(runs["through"].pointed) > 0.9


def test_a_frozen_pointer_is_still_read(runs):
    assert max(runs["hard"].read) > 0.8


def test_each_seed_has_its_own_loss_and_a_seed_alone_is_the_same(runs):
    assert runs["soft"].loss.shape == (250, 2) and not runs["soft"].loss.requires_grad
    alone = pointing.train_pointing(softmax, seeds=(2,), steps=5).loss[:, 0]
    assert torch.allclose(alone, runs["soft"].loss[:5, 1], atol=1e-5)
