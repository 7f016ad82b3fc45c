"""The checks of chapter 6 can fail: a wrong part, or another outcome of training, makes them."""

import pytest
import torch

from attnbook import positions as parts
from attnbook.attention import attention
from attnbook.claims import positions, positions_adding, positions_training


def recency(q, k, v, *, causal=False, bias=None, **rest):
    """Attention that knows the order by itself."""
    added = parts.alibi_bias(1, q.shape[-2], k.shape[-2])[0].to(q.dtype)
    return attention(q, k, v, causal=causal, bias=added if bias is None else added + bias, **rest)


def without_bias(q, k, v, *, causal=False, bias=None):
    return attention(q, k, v, causal=causal)


def sines_only(n, d, **options):
    table = parts.sinusoidal(n, d, **options)
    return torch.where(torch.arange(d) % 2 == 0, table, 0.0)


def from_the_middle(x, start, layout="half", **rest):
    """Turns by the square of the position: no longer a function of the difference."""
    if not isinstance(start, torch.Tensor):
        start = torch.arange(start, start + x.shape[-2])
    return parts.rope(x, start.double() ** 1.5, layout, **rest)


def stretched(x, start, layout="half", **rest):
    return 1.5 * parts.rope(x, start, layout, **rest)


@pytest.mark.parametrize("name, wrong, checks", [
    ("attention", recency, ["unordered", "two_sentences", "alibi_is_a_signal"]),
    ("attention", without_bias, ["alibi_is_a_signal"]),
    ("sinusoidal", sines_only, ["sinusoid_pair"]),
    ("sinusoidal", lambda n, d, **options: torch.zeros(n, d, dtype=torch.float64),
     ["two_sentences", "absolute_or_relative"]),
    ("rope", from_the_middle, ["rope_relative", "absolute_or_relative", "rope_lines"]),
    ("rope", stretched, ["rope_relative", "rope_lines"]),
    ("rope", lambda x, start, *layout: x, ["rope_lines", "absolute_or_relative", "rope_relative"]),
    ("rope_frequencies", lambda d, base=1e4: 1 / torch.arange(1, d // 2 + 1).double(), ["rope_waves", "sinusoid_pair"]),
    ("alibi_slopes", lambda n: torch.full((n,), 0.1), ["alibi_reach"]),
    ("alibi_bias", lambda n, L, S=None, **rest: torch.zeros(n, L, S or L), ["alibi_is_a_signal",
                                                                           "absolute_or_relative"]),
    ("LearnedPositions", lambda rows, d: torch.nn.Identity(), ["learned_limit"]),
])
def test_a_wrong_part_makes_the_check_fail(name, wrong, checks, monkeypatch):
    monkeypatch.setattr(positions, name, wrong)
    for check in checks:
        assert not getattr(positions, check)().holds, check


@pytest.mark.parametrize("name, wrong, check", [
    ("sinusoidal", lambda n, d, **options: torch.zeros(n, d, dtype=torch.float64), "what_reaches_the_values"),
    ("attention", lambda q, k, v, **rest: (attention(q, k, q, **rest)[0], None), "what_reaches_the_values"),
    ("normal", lambda seed, *shape: torch.ones(*shape, dtype=torch.float64), "tied_blocks"),
    ("largest", lambda a, b: 1.0, "tied_blocks"), ("largest", lambda a, b: 1.0, "four_terms"),
    ("normal", lambda seed, *shape: torch.zeros(*shape, dtype=torch.float64), "four_terms"),
])
def test_a_wrong_part_makes_the_check_on_adding_fail(name, wrong, check, monkeypatch):
    monkeypatch.setattr(positions_adding, name, wrong)
    assert not getattr(positions_adding, check)().holds


CHANCE, RIGHT, HALF = (torch.full((2, 5), x) for x in (1 / 8, 1.0, 0.5))


def outcome(scheme, length, turning):
    """What came out, roughly: accuracy of both tasks, (2, 5)."""
    if scheme in ("alibi", "alibi_gentle"):
        return torch.stack((RIGHT[0] if scheme == "alibi" else HALF[0], 0.25 * RIGHT[0]))
    if scheme == "none":
        return 2 * CHANCE
    if scheme == "rope" and turning == "interpolated":
        return torch.stack((0.6 * RIGHT[0], CHANCE[0]))
    if length == 32:
        return RIGHT
    if scheme == "rope":
        return HALF if length == 128 and turning == "plain" else 0.8 * RIGHT
    return CHANCE if scheme == "learned" else torch.stack((CHANCE[0], 0.4 * RIGHT[0]))


def run(check, monkeypatch, change=lambda *key: None):
    """Run a check with made-up outcomes of training."""
    def accuracy(copiers, length, **turning):
        scheme, further = copiers
        name = next(n for n, t in positions_training.TURNING.items() if t is turning or t == turning)
        changed = change(scheme, length, name, further)
        if changed is not None:
            return changed
        return (0.95 * RIGHT) if further else outcome(scheme, length, name)

    monkeypatch.setattr(positions_training, "TURNING",
                        {name: {"frequencies": name} for name in positions_training.TURNING} | {"plain": {}})
    monkeypatch.setattr(positions_training, "_trained", lambda scheme: (scheme, False))
    monkeypatch.setattr(positions_training, "train_further", lambda copiers, **rest: (copiers[0], True))
    monkeypatch.setattr(positions_training, "_accuracy", accuracy)
    return getattr(positions_training, check)().holds


@pytest.mark.parametrize("check", ["extrapolation", "alibi_copies", "longer_context"])
def test_the_outcome_that_was_found_passes(check, monkeypatch):
    assert run(check, monkeypatch)


@pytest.mark.parametrize("check, scheme, length, turning, further, accuracy", [
    ("extrapolation", "sinusoidal", 64, "plain", False, RIGHT), ("extrapolation", "learned", 32, "plain", False, HALF),
    ("extrapolation", "learned", 128, "plain", False, HALF), ("extrapolation", "rope", 128, "plain", False, RIGHT),
    ("extrapolation", "rope", 64, "plain", False, HALF), ("extrapolation", "none", 32, "plain", False, RIGHT),
    ("alibi_copies", "alibi", 128, "plain", False, HALF), ("alibi_copies", "alibi_gentle", 32, "plain", False, RIGHT),
    ("longer_context", "rope", 128, "ntk", False, HALF), ("longer_context", "rope", 32, "interpolated", False, RIGHT),
    ("longer_context", "rope", 128, "plain", True, HALF), ("longer_context", "rope", 128, "interpolated", True, HALF),
])
def test_another_outcome_of_training_makes_the_check_fail(check, scheme, length, turning, further, accuracy,
                                                          monkeypatch):
    wanted = (scheme, length, turning, further)
    assert not run(check, monkeypatch, lambda *key: accuracy if key == wanted else None)
