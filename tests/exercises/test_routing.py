"""Chapter 1: each check names the mistakes of its wrong solutions and accepts every right variant, in 20 draws."""

import math
import re

import numpy as np
import pytest
import torch
import variants_gradient
import variants_memory
import variants_paths
import variants_recurrence
import variants_visibility
import variants_weights
from solutions_routing import SOLUTIONS, STARTERS, solution

from attnbook.exercises import _report, routing
from attnbook.exercises._exercise import fresh_generator

DRAWS = 20
VARIANTS = {
    routing.weights: variants_weights,
    routing.recurrence: variants_recurrence,
    routing.gradient: variants_gradient,
    routing.paths: variants_paths,
    routing.visibility: variants_visibility,
    routing.memory: variants_memory,
}
MODULES = {module.EXERCISE.name: module for module in VARIANTS}
RIGHT = {module.EXERCISE.name: variants.RIGHT for module, variants in VARIANTS.items()}
WRONG = {module.EXERCISE.name: variants.WRONG for module, variants in VARIANTS.items()}


def pairs(table):
    return [pytest.param(name, label, id=f"{name}-{label}") for name in table for label in table[name]]


def check_of(name):
    return getattr(routing, f"check_{name}")


@pytest.mark.parametrize("name, label", pairs(RIGHT))
def test_right_variants_pass(said, name, label):
    for _ in range(DRAWS):
        assert said(check_of(name), RIGHT[name][label]).startswith(f"{name}: passed")


@pytest.mark.parametrize("name, label", pairs(WRONG))
def test_wrong_solutions_are_named(said, name, label):
    fn, fragment = WRONG[name][label]
    for _ in range(DRAWS):
        text = said(check_of(name), fn)
        assert fragment in text
        assert text.startswith(f"{name}: not right yet. Input: ")


def test_a_wrong_solution_in_numpy_is_named_too(said):
    def over_the_queries(scores, mask=None):
        e = np.exp(scores - scores.max(0, keepdims=True))  # torch's max returns a pair: only arrays will do
        return e / e.sum(0, keepdims=True)

    assert "softmax over the queries" in said(routing.check_attention_weights, over_the_queries)


@pytest.mark.parametrize("name", MODULES)
def test_lists_are_long_enough(name):
    assert len(RIGHT[name]) >= 4 and len(WRONG[name]) >= 5
    assert set(MODULES) == set(RIGHT) == set(WRONG) == set(SOLUTIONS) == set(STARTERS)
    assert set(routing.__all__) == {f"check_{name}" for name in MODULES}


@pytest.mark.parametrize("name", MODULES)
def test_every_named_mistake_is_made_by_some_wrong_solution(name):
    """A mistake that no wrong solution gets would be untested data."""
    told = " | ".join(_report.message(MODULES[name].EXERCISE, fn) for fn, _ in WRONG[name].values())
    unused = [mistake.name for mistake in MODULES[name].MISTAKES if mistake.name not in told]
    assert not unused


@pytest.mark.parametrize("name, label", pairs(WRONG))
def test_messages_give_neither_numbers_nor_solution(monkeypatch, name, label):
    exercise = MODULES[name].EXERCISE
    fn, _ = WRONG[name][label]
    seed = fresh_generator().initial_seed() % 2 ** 31
    monkeypatch.setattr(_report, "fresh_generator", lambda: torch.Generator().manual_seed(seed))
    cases = exercise.cases(torch.Generator().manual_seed(seed))
    text = _report.message(exercise, fn)
    for line in SOLUTIONS[name].splitlines():
        assert len(line.strip()) < 12 or line.strip() not in text
    for case in cases:
        text = text.replace(case.what, "").replace(exercise.convention, "")
    told = {float(number) for number in re.findall(r"\d+\.\d+", text)}
    if name == "path_length":
        told = {float(number) for number in re.findall(r"\d+", text)} - {0.0, 1.0}
    for case in cases:
        for number in case.answer(exercise.right, exercise.read).flatten().tolist():
            assert math.isinf(number) or all(abs(value - number) > 5e-3 * max(abs(number), 1e-3) for value in told)


@pytest.mark.parametrize("name", MODULES)
def test_starters_say_the_same_in_every_run(said, name):
    starter = solution(name, STARTERS)
    texts = {said(check_of(name), starter) for _ in range(DRAWS)}
    assert len(texts) == 1
    assert texts.pop().startswith(f"{name}: not ")


@pytest.mark.parametrize("name", MODULES)
def test_passing_says_the_same_in_every_run(said, name):
    assert len({said(check_of(name), solution(name)) for _ in range(DRAWS)}) == 1


@pytest.mark.parametrize("name", MODULES)
def test_replayed_answers_fail(said, name):
    """The right answers of one run are constants in the next."""
    exercise = MODULES[name].EXERCISE
    answers = iter([case.answer(exercise.right, exercise.read) for case in exercise.cases(fresh_generator())] * 4)
    assert "not right yet" in said(check_of(name), lambda *args: next(answers))


@pytest.mark.parametrize("name", MODULES)
def test_sizes_of_tensor_arguments_differ(name):
    """Equal sizes would hide a swapped axis; the square recurrent matrix and the square mask are square by nature."""
    if name in ("path_length", "rows_that_change"):
        return
    shapes = [case.args[0].shape for case in MODULES[name].EXERCISE.cases(fresh_generator())]
    assert all(len(set(shape)) == len(shape) for shape in shapes)
    assert max(map(len, shapes)) > min(map(len, shapes))  # a batch too


def test_the_oracle_agrees_with_torch():
    """Our own right functions, against torch's kernels and its backward pass."""
    others = {"attention_weights": "torch softmax", "rnn_states": "torch.nn.RNN", "gradient_first_state": "autograd",
              "path_length": "search, infinity", "rows_that_change": "matrix power, numpy",
              "retrieve": "the book's attention"}
    for name, label in others.items():
        other = RIGHT[name][label]
        exercise = MODULES[name].EXERCISE
        for case in exercise.cases(fresh_generator()):
            got, want = exercise.read(other(*case.copies())), exercise.read(exercise.right(*case.copies()))
            assert torch.allclose(got, want, rtol=1e-4, atol=1e-5), (name, case.stage)
