"""Quiz: a question that answers in the page, each wrong answer with its own explanation.

Nothing is stored or sent. A question is a plain dictionary, as written in `attnbook/exercises/questions/*.yaml`
(a list of questions a file). Words are {en: ..., zh: ...}; `backticks` in them make code. Common to all kinds:

    id: ch1-path-length          # unique in the book: letters, digits, hyphens
    kind: choice                 # choice, number or order
    text: {en: ..., zh: ...}     # the question

choice: one option is right, or several (then the reader ticks all of them).

    options:
      - text: {en: ..., zh: ...}
        right: true
        why: {en: ..., zh: ...}  # shown when the reader has chosen this option: why it is right or wrong

number: anything within the tolerance (absolute, may be 0) is right. The reader may write 0.25, 0,25, 1/4 or 25 %.

    answer: 1
    tolerance: 0.001
    right: {en: ..., zh: ...}    # shown for a right answer
    wrong:                       # the mistakes with a name; the first that fits is shown
      - value: 5                 # this number, within the tolerance (or its own `tolerance:`)
        why: {en: ..., zh: ...}
      - above: 100               # or a range: above, below or both, ends not included
        why: {en: ..., zh: ...}
    otherwise: {en: ..., zh: ...}  # shown for any other number

order: the steps as they should stand; the page shows them in another order.

    steps:
      - text: {en: ..., zh: ...}
      - text: {en: ..., zh: ...}
        why: {en: ..., zh: ...}  # why it cannot come earlier; shown when it stands too early (not for the first step)
    right: {en: ..., zh: ...}
"""

import html
import math
import re
from numbers import Real

import traitlets

from attnbook.widgets._lab import Lab, bilingual, both

_TITLES = {
    "one": ("Question: choose one", "问题：选一项"),
    "several": ("Question: choose all that are right", "问题：选出所有正确的选项"),
    "number": ("Question: give a number", "问题：填一个数"),
    "order": ("Question: put the steps in order", "问题：给步骤排序"),
}


class Quiz(Lab):
    """One question with feedback. question: a dictionary as described at the top of this module.

    Raises TypeError or ValueError that names the question, the entry, what came and what was expected.
    """

    module = "quiz"
    title = bilingual("Question", "问题")
    question = traitlets.Dict().tag(sync=True)

    def __init__(self, question: dict, **traits):
        check_question(question)
        kind = question["kind"]
        if kind == "choice":
            kind = "several" if sum(option["right"] for option in question["options"]) > 1 else "one"
        super().__init__(question=question, title=list(_TITLES[kind]), **traits)

    def __repr__(self):
        return f"Quiz({self.question['id']!r})"

    def static(self) -> str:
        """The question, its options as a list, and the answers folded away."""
        offered, answers = _STATIC[self.question["kind"]](self.question)
        return (f"<p><strong>{_rich(self.question['text'])}</strong></p>{offered}"
                f"<details><summary>{_rich({'en': 'Answer', 'zh': '答案'})}</summary>{answers}</details>")


# -- without JavaScript -------------------------------------------------------------------

def _rich(words):
    """Words in both languages as HTML, with `code`."""
    return both(*(re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(words[language])) for language in ("en", "zh")))


def _items(tag, items):
    return f"<{tag}>{''.join(f'<li>{item}</li>' for item in items)}</{tag}>"


def _static_choice(question):
    options = question["options"]
    answers = [f"{'✓' if one['right'] else '✗'} {_rich(one['text'])} — {_rich(one['why'])}" for one in options]
    return _items("ul", (_rich(one["text"]) for one in options)), _items("ul", answers)


def _static_number(question):
    return "", f"<p>{question['answer']:g} — {_rich(question['right'])}</p>"


def _static_order(question):
    steps = [_rich(step["text"]) for step in question["steps"]]
    offered = _items("ul", (steps[i] for i in shuffled(len(steps))))
    return offered, f"{_items('ol', steps)}<p>{_rich(question['right'])}</p>"


_STATIC = {"choice": _static_choice, "number": _static_number, "order": _static_order}


def shuffled(n: int) -> list[int]:
    """The order in which n steps are offered: the odd places, then the even ones; never the right one."""
    return [*range(1, n, 2), *range(0, n, 2)]


# -- is the question well made? -----------------------------------------------------------

def check_question(question: dict) -> None:
    """Raise unless question follows the schema at the top of this module."""
    if not isinstance(question, dict):
        raise TypeError(f"question is {type(question).__name__}; expected a dictionary")
    name = question.get("id")
    if not (isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9-]+", name)):
        raise ValueError(f"question has id {name!r}; expected letters, digits and hyphens")
    if question.get("kind") not in _CHECKS:
        raise ValueError(f"question {name!r} has kind {question.get('kind')!r}; expected one of {', '.join(_CHECKS)}")
    check = _Check(name)
    check.words(question, "text")
    _CHECKS[question["kind"]](check, question)


class _Check:
    """The tests of single entries, all raising in the same form."""

    def __init__(self, name):
        self.name = name

    def fail(self, entry, came, expected):
        raise ValueError(f"question {self.name!r}: {entry} is {came!r}; expected {expected}")

    def only(self, where, entry, allowed):
        for key in where:
            if key not in allowed:
                self.fail(entry or "an entry", key, f"one of {', '.join(allowed)}")

    def words(self, where, key, entry=None):
        value, entry = where.get(key), entry or key
        full = isinstance(value, dict) and set(value) == {"en", "zh"}
        if not full or not all(isinstance(text, str) and text.strip() for text in value.values()):
            self.fail(entry, value, "words in both languages, {en: ..., zh: ...}")

    def number(self, where, key, entry=None, minimum=-math.inf):
        value = where.get(key)
        if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value) or value < minimum:
            self.fail(entry or key, value, "a number" if minimum == -math.inf else f"a number of at least {minimum:g}")

    def many(self, where, key, least):
        value = where.get(key)
        if not isinstance(value, list) or len(value) < least or not all(isinstance(item, dict) for item in value):
            self.fail(key, value, f"a list of at least {least} dictionaries")
        return [(f"{key}[{i}]", item) for i, item in enumerate(value)]


def _check_choice(check, question):
    check.only(question, "", ("id", "kind", "text", "options"))
    options = check.many(question, "options", least=2)
    for entry, option in options:
        check.only(option, entry, ("text", "right", "why"))
        check.words(option, "text", f"{entry}.text")
        check.words(option, "why", f"{entry}.why")
        if not isinstance(option.get("right"), bool):
            check.fail(f"{entry}.right", option.get("right"), "true or false")
    rights = sum(option["right"] for _, option in options)
    if rights in (0, len(options)):
        check.fail("the number of right options", rights, f"between 1 and {len(options) - 1}")


def _check_number(check, question):
    check.only(question, "", ("id", "kind", "text", "answer", "tolerance", "right", "wrong", "otherwise"))
    check.number(question, "answer")
    check.number(question, "tolerance", minimum=0)
    check.words(question, "right")
    check.words(question, "otherwise")
    for entry, mistake in check.many(question, "wrong", least=1):
        check.only(mistake, entry, ("value", "tolerance", "above", "below", "why"))
        check.words(mistake, "why", f"{entry}.why")
        if ("value" in mistake) == ("above" in mistake or "below" in mistake):
            check.fail(entry, sorted(mistake), "either value, or above and below (one or both)")
        for key in ("value", "tolerance", "above", "below"):
            if key in mistake:
                check.number(mistake, key, f"{entry}.{key}")
        if "value" in mistake and abs(mistake["value"] - question["answer"]) <= question["tolerance"]:
            check.fail(f"{entry}.value", mistake["value"], f"a wrong number; the answer is {question['answer']}")


def _check_order(check, question):
    check.only(question, "", ("id", "kind", "text", "steps", "right"))
    check.words(question, "right")
    for i, (entry, step) in enumerate(check.many(question, "steps", least=3)):
        check.only(step, entry, ("text", "why"))
        check.words(step, "text", f"{entry}.text")
        if i:
            check.words(step, "why", f"{entry}.why")


_CHECKS = {"choice": _check_choice, "number": _check_number, "order": _check_order}
