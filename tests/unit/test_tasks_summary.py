"""The tasks of chapter 8: repeated patterns for a whole transformer, and two places for one head or two."""

import pytest
import torch

from attnbook.tasks.heads import train_heads
from attnbook.tasks.repeats import LENGTH, PERIODS, SYMBOLS, VARIANTS, sequences, train_repeats


def test_a_sequence_repeats_and_says_what_can_be_known():
    ids, known = sequences(200, torch.Generator().manual_seed(0))
    assert ids.shape == known.shape == (200, LENGTH) and 0 <= ids.min() and ids.max() < SYMBOLS
    for row, told in zip(ids, known):
        period = int(told.int().argmax()) - 1
        assert PERIODS[0] <= period <= PERIODS[1]
        assert torch.equal(row[period:], row[:LENGTH - period]) and told[period + 1:].all() and not told[:period + 1].any()


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_variant_trains_and_is_the_same_for_the_same_seed(variant):
    first, second = (train_repeats(variant, seed=1, steps=3) for _ in range(2))
    assert first.history.loss == second.history.loss and first.accuracy == second.accuracy
    assert 0 <= first.accuracy <= 1


def test_a_variant_differs_in_one_part_only():
    shapes = {name: {key: weight.shape for key, weight in train_repeats(name, steps=0).model.named_parameters()}
              for name in VARIANTS}
    same = ("shared keys", "no scale", "no positions", "no residual")
    assert all(shapes[name] == shapes["whole"] for name in same)
    assert len(shapes["one layer"]) < len(shapes["whole"]) and len(shapes["no feed-forward"]) < len(shapes["whole"])


def test_training_leaves_the_global_random_state_alone():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    train_repeats(steps=1)
    train_heads("naming", 1, seeds=(0,), steps=1)
    assert torch.rand(1) == expected


def test_an_unknown_variant_task_or_reader_is_named():
    with pytest.raises(ValueError, match="variant is 'half'; expected one of whole"):
        train_repeats("half")
    with pytest.raises(ValueError, match="task is 'reading'; expected one of copying, naming"):
        train_heads("reading", 1)
    with pytest.raises(ValueError, match="reader is 'person'; expected one of linear, network"):
        train_heads("copying", 1, "person")


@pytest.mark.parametrize("task", ["copying", "naming"])
@pytest.mark.parametrize("reader", ["linear", "network"])
def test_one_head_and_two_have_as_many_weights_and_seeds_do_not_mix(task, reader):
    alone, both = train_heads(task, 2, reader, seeds=(1,), steps=20), train_heads(task, 2, reader, seeds=(0, 1), steps=20)
    assert alone.curve.shape == (20, 1) and both.curve.shape == (20, 2)
    assert torch.allclose(alone.curve[:, 0], both.curve[:, 1], atol=1e-4)
    assert (alone.accuracy is None) == (task == "copying") and len(both.loss) == 2
