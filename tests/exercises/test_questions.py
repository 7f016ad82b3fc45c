"""The questions: complete in both languages, feedback for each answer, and right."""

import re

import pytest
import torch

from attnbook.attention import SelfAttention
from attnbook.exercises import questions, quiz
from attnbook.widgets.quiz import Quiz, check_question

ALL = questions()
CHAPTER = {name: question for name, question in ALL.items() if name.startswith("ch1-")}


def words(node):
    """All {en, zh} pairs of a question."""
    if isinstance(node, dict):
        if set(node) == {"en", "zh"}:
            yield node
        else:
            for value in node.values():
                yield from words(value)
    elif isinstance(node, list):
        for value in node:
            yield from words(value)


@pytest.mark.parametrize("name", ALL)
def test_question_follows_the_schema(name):
    check_question(ALL[name])
    assert isinstance(quiz(name), Quiz)


@pytest.mark.parametrize("name", ALL)
def test_both_languages_say_something(name):
    pairs = list(words(ALL[name]))
    assert pairs
    for pair in pairs:
        assert not re.search(r"[\u4e00-\u9fff]", pair["en"])
        if re.search(r"[a-z]{4,}", pair["en"]):
            assert re.search(r"[\u4e00-\u9fff]", pair["zh"]), pair


def test_the_chapter_has_enough_of_each_kind():
    kinds = [question["kind"] for question in CHAPTER.values()]
    assert len(kinds) >= 6 and set(kinds) == {"choice", "number", "order"}


@pytest.mark.parametrize("name", [name for name, question in CHAPTER.items() if question["kind"] == "choice"])
def test_each_answer_has_its_own_feedback(name):
    for language in ("en", "zh"):
        feedback = [option["why"][language] for option in CHAPTER[name]["options"]]
        assert len(set(feedback)) == len(feedback)


@pytest.mark.parametrize("name, answer", [
    ("ch1-path-rnn", 40 - 3),
    ("ch1-path-attention", 1),
    ("ch1-what-is-left", 0.95 ** 45),
    ("ch1-waves", 6 + 3 - 1),
])
def test_numbers_are_right(name, answer):
    question = CHAPTER[name]
    assert abs(question["answer"] - answer) <= question["tolerance"] / 50 + 1e-12


def test_the_count_of_the_arithmetic_question():
    n, d = 128, 512
    assert (8 * d * d * n + 4 * n * n * d) / (4 * d * d * n) == 2.25
    right = next(option for option in CHAPTER["ch1-arithmetic"]["options"] if option["right"])
    assert "2.25" in right["why"]["en"] and "2.25" in right["why"]["zh"]


def test_only_the_last_row_changes_under_a_causal_mask():
    """ch1-changed-rows: three layers, the last of 12 words replaced."""
    torch.manual_seed(0)
    layers = [SelfAttention(8, causal=True).double() for _ in range(3)]
    x = torch.randn(12, 8, dtype=torch.float64)
    other = torch.cat([x[:-1], torch.randn(1, 8, dtype=torch.float64)])
    for layer in layers:
        (out, weights), (other_out, other_weights) = layer(x), layer(other)
        changed = (weights != other_weights).any(-1).any(0)
        assert changed.tolist() == [False] * 11 + [True]
        x, other = x + out, other + other_out


def test_one_layer_keeps_the_ratio_of_two_weights():
    """ch1-one-layer: the ratio holds in the first layer, and not in the second."""
    torch.manual_seed(0)
    layers = [SelfAttention(8).double() for _ in range(2)]
    x = torch.randn(12, 8, dtype=torch.float64)
    other = torch.cat([x[:-1], torch.randn(1, 8, dtype=torch.float64)])
    moved = []
    for layer in layers:
        (out, weights), (other_out, other_weights) = layer(x), layer(other)
        ratios = [w[0, 7, 1] / w[0, 7, 5] for w in (weights, other_weights)]
        moved.append(abs(ratios[0] - ratios[1]).item())
        x, other = x + out, other + other_out
    assert moved[0] < 1e-12 and moved[1] > 1e-6


def test_an_unknown_question_is_named():
    with pytest.raises(ValueError, match="'ch1-nothing'"):
        quiz("ch1-nothing")


def test_ids_are_unique(tmp_path, monkeypatch):
    import attnbook.exercises as exercises

    folder = tmp_path / "questions"
    folder.mkdir()
    for file in ("a.yaml", "b.yaml"):
        (folder / file).write_text("- id: same\n", encoding="utf-8")
    monkeypatch.setattr(exercises.resources, "files", lambda name: tmp_path)
    with pytest.raises(ValueError, match="second question 'same'"):
        exercises.questions()
