"""Exercises: check_*() functions, one module per chapter, and the questions that work in the page without a kernel."""

from importlib import resources

import yaml


def questions() -> dict[str, dict]:
    """All questions of the book by id ("ch1-column-sum"), from the files questions/*.yaml, each a list of questions.

    Raises ValueError if an id occurs twice. Schema: attnbook/widgets/quiz.py.
    """
    found = {}
    folder = resources.files(__name__).joinpath("questions")
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if not file.name.endswith(".yaml"):
            continue
        for question in yaml.safe_load(file.read_text(encoding="utf-8")):
            if question["id"] in found:
                raise ValueError(f"{file.name} has a second question {question['id']!r}; expected unique ids")
            found[question["id"]] = question
    return found


def quiz(name: str):
    """The question with that id as a widget, which answers in the page with no kernel.

    Raises ValueError if there is no such question.
    """
    from attnbook.widgets.quiz import Quiz  # a widget needs anywidget, a check does not

    known = questions()
    if name not in known:
        raise ValueError(f"name is {name!r}; expected one of {', '.join(known)}")
    return Quiz(known[name])
