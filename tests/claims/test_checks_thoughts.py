"""The checks of chapter 7 can fail: a wrong part, or another outcome of training, makes them."""

from dataclasses import replace

import pytest
import torch

from attnbook.attention import attention
from attnbook.claims import long_sequences, thoughts
from attnbook.softmax import softmax
from attnbook.tasks.far import far_recall
from attnbook.tiled import tiled_attention


def blind_to_the_mask(q, k, v, *, causal=False, mask=None):
    return attention(q, k, v)


def half_of_the_keys(q, k, v, *tiles, causal=False):
    return tiled_attention(q, k[..., ::2, :], v[..., ::2, :], *tiles)


def dense_in_tiles_clothing(q, k, v, *tiles, causal=False):
    return attention(q, k, v)[0]


@pytest.mark.parametrize("module, name, wrong, checks", [
    (thoughts, "attention", blind_to_the_mask, ["random_heads", "animal_reads_it"]),
    (thoughts, "softmax", lambda x: 1.2 * softmax(x), ["heat_map"]),
    (thoughts, "between", lambda model, data: 1.0, ["same_behaviour"]),
    (thoughts, "between", lambda model, data: 0.5, ["same_behaviour"]),
    (thoughts, "shuffled_answers", lambda model, tokens: 0.5, ["weights_replaced"]),
    (thoughts, "shuffled_answers", lambda model, tokens: 1.0, ["weights_replaced"]),
    (thoughts, "one_hot_answers", lambda model, tokens: torch.zeros(3, 4), ["weights_replaced"]),
    (thoughts, "correlations", lambda: dict.fromkeys(("cut", "gradient", "occlusion"), torch.full((5, 8, 2, 4), 0.65).double()),
     ["weights_and_effects"]),
    (long_sequences, "tiled_attention", half_of_the_keys, ["cost_of_full", "exact_at_a_million"]),
    (long_sequences, "tiled_attention", dense_in_tiles_clothing, ["cost_of_full", "exact_at_a_million"]),
    (long_sequences, "attention", lambda q, k, v, causal=False: (tiled_attention(q, k, v, 64, 64), None), ["cost_of_full"]),
    (long_sequences, "MILLION", 10**5, ["trillion"]),
    (long_sequences, "hops", lambda mask: 2, ["reach_of_windows"]),
])
def test_a_wrong_part_makes_the_check_fail(module, name, wrong, checks, monkeypatch):
    monkeypatch.setattr(module, name, wrong)
    for check in checks:
        assert not getattr(module, check)().holds, check


@pytest.fixture(scope="module")
def trained():
    reports = {}

    def once(kind):
        if kind not in reports:
            reports[kind] = far_recall(kind)
        return reports[kind]

    return once


@pytest.mark.parametrize("kind, right", [("full", 0.5), ("window", 0.9), ("sinks", 0.1), ("linear", 0.97), ("linear", 0.1)])
def test_another_outcome_of_training_makes_the_check_fail(kind, right, trained, monkeypatch):
    def other(name):
        report = trained(name)
        return replace(report, right=torch.full_like(report.right, right)) if name == kind else report

    monkeypatch.setattr(long_sequences, "far_recall", other)
    assert not long_sequences.far_tokens().holds
