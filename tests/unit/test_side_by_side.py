"""Models side by side compute and train exactly as each alone."""

import pytest
import torch
from torch import nn

from attnbook.stacks import CONNECTIONS, Stack
from attnbook.tasks.left_neighbour import CopyModel, at_the_end, train_copying
from attnbook.tasks.moons import train_moons
from attnbook.tasks.side_by_side import side_by_side, train_together


def models(make, n=3):
    made = []
    for seed in range(n):
        torch.manual_seed(seed)
        one = make().double()
        for p in one.parameters():  # norms and scales must differ, too
            nn.init.normal_(p, std=0.5)
        made.append(one)
    return made


@pytest.mark.parametrize("kind", CONNECTIONS)
def test_outputs_are_those_of_each_alone(kind):
    alone = models(lambda: Stack([nn.Linear(6, 6) for _ in range(2)], 6, kind))
    x = torch.randn(3, 4, 6, dtype=torch.float64)
    out = side_by_side(alone)(x)
    for one, entry, got in zip(alone, x, out, strict=True):
        assert torch.allclose(one(entry), got, atol=1e-12)


def test_a_whole_model_with_attention_and_embeddings():
    alone = models(lambda: CopyModel(2, "post"))
    tokens = torch.randint(16, (3, 5, 8))
    together = side_by_side(alone)
    for one, entry, got in zip(alone, tokens, together(tokens), strict=True):
        assert torch.allclose(one(entry), got, atol=1e-10)
    assert all(p.shape[0] == 3 for p in together.parameters())


def test_gradients_are_those_of_each_alone_and_the_models_stay():
    alone = models(lambda: Stack([nn.Linear(6, 6)], 6, "rezero"))
    together, x = side_by_side(alone), torch.randn(3, 4, 6, dtype=torch.float64)
    together(x).square().sum().backward()
    for one, entry in zip(alone, x, strict=True):
        assert all(p.grad is None for p in one.parameters())
        one(entry).square().sum().backward()
    mine = torch.stack([one.layers[0].scale.value.grad for one in alone])
    assert torch.allclose(together.layers[0].scale.value.grad, mine, atol=1e-9)


def test_a_seed_trains_the_same_whatever_stands_beside_it():
    two, alone = train_copying("pre", 1, seeds=[0, 1], steps=6), train_copying("pre", 1, seeds=[1], steps=6)
    assert two[1] == pytest.approx(alone[0], rel=1e-3) and two[0] != two[1]


def test_training_lowers_the_loss_and_leaves_random_numbers_alone():
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    losses = train_copying("pre", 1, seeds=[0, 1], steps=120)
    assert torch.rand(1) == expected
    assert max(at_the_end(losses)) < 2.5 < losses[0][0]


def test_moons_are_learned_by_a_shallow_network():
    run = train_moons("bare", 2, seeds=[0, 1], steps=150, lr=1e-2)
    assert min(run.accuracy) > 0.9 and len(run.loss) == 2 and len(run.loss[0]) == 150


def test_no_model_at_all_is_refused():
    with pytest.raises(ValueError, match="models is empty"):
        side_by_side([])
    with pytest.raises(ValueError, match="models is empty"):
        train_together([], None, seeds=[], steps=1, lr=1e-3)
