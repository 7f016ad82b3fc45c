"""Questions are checked with errors that name the entry; each has a form that needs no JavaScript."""

import copy
import pathlib

import pytest
import yaml

import attnbook
from attnbook.widgets import Quiz
from attnbook.widgets.quiz import check_question, shuffled

W = {"en": "words", "zh": "文字"}
CHOICE = {"id": "a-1", "kind": "choice", "text": {"en": "Which `x`?", "zh": "哪个 `x`？"}, "options": [
    {"text": {"en": "this & that", "zh": "这个"}, "right": True, "why": {"en": "Because.", "zh": "因为。"}},
    {"text": {"en": "other", "zh": "那个"}, "right": False, "why": {"en": "No.", "zh": "不。"}}]}
NUMBER = {"id": "a-2", "kind": "number", "text": W, "answer": 0.5, "tolerance": 0.01, "right": W,
          "wrong": [{"value": 2, "why": W}, {"above": 10, "why": W}], "otherwise": W}
ORDER = {"id": "a-3", "kind": "order", "text": W, "right": W,
         "steps": [{"text": {"en": f"step {i}", "zh": f"步骤 {i}"}, "why": W} for i in range(4)]}


def broken(question, *path, value=None, drop=False):
    """A copy with one entry changed or dropped."""
    changed = copy.deepcopy(question)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    if drop:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return changed


@pytest.mark.parametrize("question", [CHOICE, NUMBER, ORDER])
def test_good_questions_pass_and_stay_as_they_were(question):
    before = copy.deepcopy(question)
    assert repr(Quiz(question)) == f"Quiz('{question['id']}')"
    assert question == before


@pytest.mark.parametrize("question, message", [
    (broken(CHOICE, "id", value="a b"), "id 'a b'; expected letters"),
    (broken(CHOICE, "kind", value="essay"), "kind 'essay'; expected one of choice, number, order"),
    (broken(CHOICE, "text", value={"en": "only"}), "'a-1': text is .*both languages"),
    (broken(CHOICE, "text", "zh", value=" "), "'a-1': text is .*both languages"),
    (broken(CHOICE, "options", 1, "why", drop=True), r"options\[1\].why is None; expected words"),
    (broken(CHOICE, "options", 1, "right", value="no"), r"options\[1\].right is 'no'; expected true or false"),
    (broken(CHOICE, "options", 1, "right", value=True), "number of right options is 2; expected between 1 and 1"),
    (broken(CHOICE, "options", 0, "right", value=False), "number of right options is 0"),
    (broken(CHOICE, "options", value=[]), "options is .*at least 2"),
    (broken(CHOICE, "answer", value=1), "'answer'; expected one of id, kind, text, options"),
    (broken(NUMBER, "answer", value="half"), "answer is 'half'; expected a number"),
    (broken(NUMBER, "answer", value=float("nan")), "answer is nan; expected a number"),
    (broken(NUMBER, "tolerance", value=-1), "tolerance is -1; expected a number of at least 0"),
    (broken(NUMBER, "wrong", 0, "value", value=0.505), r"wrong\[0\].value is 0.505; expected a wrong number"),
    (broken(NUMBER, "wrong", 1, "value", value=3), r"wrong\[1\] is .*either value, or above"),
    (broken(NUMBER, "wrong", value=[]), "wrong is .*at least 1"),
    (broken(NUMBER, "otherwise", drop=True), "otherwise is None"),
    (broken(ORDER, "steps", 2, "why", drop=True), r"steps\[2\].why is None"),
    (broken(ORDER, "steps", value=ORDER["steps"][:2]), "steps is .*at least 3"),
])
def test_errors_name_question_entry_and_expectation(question, message):
    with pytest.raises(ValueError, match=message):
        Quiz(question)


def test_a_question_that_is_no_dictionary():
    with pytest.raises(TypeError, match="question is str; expected a dictionary"):
        Quiz("a-1")


def test_the_first_step_needs_no_reason():
    check_question(broken(ORDER, "steps", 0, "why", drop=True))


def test_without_javascript_options_are_a_list_and_answers_are_folded():
    html = Quiz(CHOICE)._repr_mimebundle_()[0]["text/html"]
    listed, folded = html.split("<details>")
    assert "<li>" in listed and "this &amp; that" in listed and "Because." not in listed
    assert "✓" in folded and "Because." in folded and "因为。" in folded and "No." in folded
    assert "Which <code>x</code>?" in html


def test_without_javascript_numbers_and_orders_have_folded_answers():
    number, order = (Quiz(q)._repr_mimebundle_()[0]["text/html"] for q in (NUMBER, ORDER))
    assert "0.5" in number.split("<details>")[1] and "0.5" not in number.split("<details>")[0]
    shown, answer = order.split("<details>")
    assert shown.index("step 1") < shown.index("step 0") and answer.index("step 0") < answer.index("step 1")


@pytest.mark.parametrize("n", range(3, 9))
def test_steps_are_never_offered_in_the_right_order(n):
    assert sorted(shuffled(n)) == list(range(n)) != shuffled(n)


def test_all_questions_of_the_book_are_well_made_and_have_their_own_names():
    files = sorted((pathlib.Path(attnbook.__file__).parent / "exercises" / "questions").glob("*.yaml"))
    questions = [question for file in files for question in yaml.safe_load(file.read_text(encoding="utf-8"))]
    assert questions
    for question in questions:
        check_question(question)
    names = [question["id"] for question in questions]
    assert len(set(names)) == len(names)
