"""What must hold for the exercises of every chapter, written once.

A chapter's test file imports these tests and gives them its lists: EXERCISES, the package with the checks; MODULES,
exercise -> module; RIGHT and WRONG, exercise -> label -> variant (a wrong one with a part of its message); SOLUTIONS and
STARTERS, exercise -> source; DRAWS, how often a check draws anew.
"""

import itertools
import math
import re

import pytest
import torch
from test_harness import RAISES, RETURNS
from torch import nn

from attnbook.exercises import _report
from attnbook.exercises._exercise import fresh_generator


def pytest_generate_tests(metafunc):
    """One test for each exercise or variant in the lists of the file that imports the test."""
    lists = vars(metafunc.module)
    for argument in ("right", "wrong"):
        if argument in metafunc.fixturenames:
            variants = [(name, label) for name, ways in lists[argument.upper()].items() for label in ways]
            metafunc.parametrize(argument, variants, ids=[f"{name}-{label}" for name, label in variants])
    if "exercise" in metafunc.fixturenames:
        metafunc.parametrize("exercise", list(lists["MODULES"]))


@pytest.fixture
def chapter(request):
    """The file that imports the test."""
    return request.module


def check_of(chapter, name):
    """The check that readers call."""
    return getattr(chapter.EXERCISES, f"check_{name}")


def written(source, name):
    """The function that a source defines."""
    space = {"torch": torch, "nn": nn, "math": math}
    exec(source, space)
    return space[name]


def test_right_variants_pass(said, chapter, right):
    name, label = right
    texts = {said(check_of(chapter, name), chapter.RIGHT[name][label]) for _ in range(chapter.DRAWS)}
    assert len(texts) == 1 and texts.pop().startswith(f"{name}: passed")


def test_wrong_solutions_are_named(said, chapter, wrong):
    name, label = wrong
    fn, fragment = chapter.WRONG[name][label]
    for _ in range(chapter.DRAWS):
        text = said(check_of(chapter, name), fn)
        assert fragment in text and text.startswith(f"{name}: not right yet. Input: ")


def test_lists_are_long_enough_and_every_mistake_is_made(chapter, exercise):
    assert len(chapter.RIGHT[exercise]) >= 4 and len(chapter.WRONG[exercise]) >= 5
    assert set(chapter.MODULES) == set(chapter.RIGHT) == set(chapter.WRONG)
    assert set(chapter.EXERCISES.__all__) == {f"check_{name}" for name in chapter.MODULES}
    module = chapter.MODULES[exercise]
    told = " | ".join(_report.message(module.EXERCISE, fn) for fn, _ in chapter.WRONG[exercise].values())
    assert not [mistake.name for mistake in module.MISTAKES if mistake.name not in told]


def test_every_exercise_has_a_solution_and_a_starter(chapter):
    assert set(chapter.MODULES) == set(chapter.SOLUTIONS) == set(chapter.STARTERS)


def test_messages_give_neither_numbers_nor_solution(monkeypatch, chapter, wrong):
    name, label = wrong
    module, (fn, _) = chapter.MODULES[name].EXERCISE, chapter.WRONG[name][label]
    seed = fresh_generator().initial_seed() % 2 ** 31
    monkeypatch.setattr(_report, "fresh_generator", lambda: torch.Generator().manual_seed(seed))
    text = _report.message(module, fn)
    assert not [line for line in chapter.SOLUTIONS[name].splitlines() if len(line.strip()) > 12 and line.strip() in text]
    for case in module.cases(torch.Generator().manual_seed(seed)):
        text = text.replace(case.what, "").replace(module.convention, "")
    assert not re.findall(r"\d+\.\d+", text)


def test_starters_say_the_same_in_every_run_and_do_not_pass(said, chapter, exercise):
    start = written(chapter.STARTERS[exercise], exercise)
    texts = {said(check_of(chapter, exercise), start) for _ in range(chapter.DRAWS)}
    assert len(texts) == 1 and texts.pop().startswith(f"{exercise}: not ")


def test_replayed_answers_fail(said, chapter, exercise):
    """The answers that passed one run of the check do not pass the next."""
    solve, answers = next(iter(chapter.RIGHT[exercise].values())), []

    def recorded(*args):
        answers.append(solve(*args))
        return answers[-1]

    assert "passed" in said(check_of(chapter, exercise), recorded)
    replayed = itertools.chain(answers, itertools.repeat(answers[-1]))
    assert "not right yet" in said(check_of(chapter, exercise), lambda *args: next(replayed))


@pytest.mark.parametrize("value", RETURNS, ids=str)
def test_any_return_value_gets_one_message(said, chapter, exercise, value):
    text = said(check_of(chapter, exercise), lambda *args: RETURNS[value]())
    assert text.startswith(f"{exercise}: not ") and "could not finish" not in text and "passed" not in text


@pytest.mark.parametrize("kind", RAISES, ids=str)
def test_any_exception_gets_one_message(said, chapter, exercise, kind):
    text = said(check_of(chapter, exercise), RAISES[kind])
    assert text.startswith(f"{exercise}: not ") and "could not finish" not in text and len(text) < 700
