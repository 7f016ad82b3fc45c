"""The checks of chapter 8 can fail: a wrong part makes them."""

from dataclasses import replace

import pytest
import torch

from attnbook.attention import attention
from attnbook.claims import summary, summary_heads
from attnbook.tasks.heads import train_heads


def always(accuracy):
    return lambda variant, seed, **options: type("Trained", (), {"accuracy": accuracy})


@pytest.mark.parametrize("module, name, wrong, checks", [
    (summary, "score", lambda q, k: (q @ k.mT) @ k, ["cost_of_length"]),
    (summary, "rnn", lambda x, h0, w_ih, w_hh, b: x @ w_ih, ["cost_of_length"]),
    (summary, "train_repeats", always(1.0), ["without_a_part"]),
    (summary, "train_repeats", always(0.3), ["without_a_part"]),
    (summary_heads, "attention", lambda q, k, v, **options: (v.cumsum(-2)[..., -1:, :] * 0.5 + v[..., :1, :] * 0.1, None),
     ["one_mixture"]),
    (summary_heads, "attention", lambda q, k, v, mask: attention(q, k, v), ["one_mixture"]),
])
def test_a_wrong_part_makes_the_check_fail(module, name, wrong, checks, monkeypatch):
    monkeypatch.setattr(module, name, wrong)
    for check in checks:
        try:
            assert not getattr(module, check)().holds, check
        except (StopIteration, ZeroDivisionError):
            pass  # a counter that no longer counts


@pytest.fixture(scope="module")
def trained():
    """One short run of each kind, its numbers made up below."""
    return train_heads("copying", 1, seeds=(0,), steps=2)


@pytest.mark.parametrize("run, change", [
    (("copying", 1, "linear"), {"loss": [0.3]}), (("copying", 2, "linear"), {"loss": [0.1]}),
    (("naming", 1, "linear"), {"accuracy": [0.9]}), (("naming", 1, "network"), {"accuracy": [0.5]}),
    (("naming", 2, "linear"), {"accuracy": [0.5]}), (None, {}),
])
def test_another_outcome_of_training_makes_the_check_fail(run, change, trained, monkeypatch):
    expected = {"copying": {1: [0.44], 2: [1e-4]}, "naming": {1: [0.3], 2: [1.0]}}

    def made_up(task, n_heads, reader):
        numbers = [1.0] if (task, reader) == ("naming", "network") else expected[task][n_heads]
        found = replace(trained, loss=numbers, accuracy=None if task == "copying" else numbers)
        return replace(found, **change) if (task, n_heads, reader) == run else found

    monkeypatch.setattr(summary_heads, "train_heads", made_up)
    assert summary_heads.two_places().holds is (run is None)


def test_no_two_weights_of_a_row_exceed_one_half():
    rows = torch.randn(1000, 6, generator=torch.Generator().manual_seed(0)).mul(5).softmax(-1)
    assert ((rows > 0.5).sum(-1) <= 1).all()
