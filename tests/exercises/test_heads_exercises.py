"""Finding heads, and luck among them: each check names the mistakes of its wrong solutions and accepts every right one."""

import json
import re

import numpy as np
import pytest
import torch
from environment import ROOT
from test_harness import RAISES, RETURNS

from attnbook.exercises import _report, heads, questions
from attnbook.exercises._exercise import fresh_generator

DRAWS = 8
MODULES = {module.EXERCISE.name: module for module in (heads.induction, heads.previous, heads.luck)}


def pair(scores):
    return divmod(int(scores.argmax()), scores.shape[1])


# -- induction_head --------------------------------------------------------------------------

def induction(weights, n, ahead=1):
    return weights.diagonal(ahead - n, -2, -1)[..., max(0, 1 - ahead):].mean(-1)


def induction_loop(weights, n):
    found = {}
    for layer in range(weights.shape[0]):
        for head in range(weights.shape[1]):
            row = [float(weights[layer, head, i, i - n + 1]) for i in range(n, 2 * n - 1)]
            found[layer, head] = sum(row) / len(row)
    return max(found, key=found.get)


def induction_numpy(weights, n):
    w = np.asarray(weights, dtype=np.float64)
    i = np.arange(n, 2 * n - 1)
    scores = w[:, :, i, i - n + 1].mean(-1)
    return np.unravel_index(scores.argmax(), scores.shape)


SINGLE = "a single large weight decided"
RIGHT = {"induction_head": {"loop": induction_loop, "numpy": induction_numpy,
                            "tensor": lambda w, n: torch.tensor(pair(induction(w, n))),
                            "float64": lambda w, n: list(pair(induction(w.double(), n)))}}
WRONG = {"induction_head": {
    "exchanged": (lambda w, n: induction_loop(w, n)[::-1], "layer and head are exchanged"),
    "from 1": (lambda w, n: tuple(x + 1 for x in induction_loop(w, n)), "heads are counted from 1"),
    "flat": (lambda w, n: int(induction(w, n).argmax()), "one number for a layer and head"),
    "same token": (lambda w, n: pair(w.diagonal(-n, -2, -1).mean(-1)), "looks at the same token in the first copy"),
    "previous": (lambda w, n: pair(w.diagonal(-1, -2, -1).mean(-1)), "looks at the token before was taken"),
    "two after": (lambda w, n: pair(w.diagonal(2 - n, -2, -1)[..., 2:].mean(-1)), "looks two after the copy"),
    "peak": (lambda w, n: pair(w.diagonal(1 - n, -2, -1)[..., 1:].amax(-1)), SINGLE),
    "largest": (lambda w, n: pair(w[..., 1:, :].flatten(2).amax(-1)), SINGLE),
    "sink": (lambda w, n: pair(w[:, :, 1:, 0].mean(-1)), "reads the first token was taken"),
}}


# -- previous_token_head ---------------------------------------------------------------------

def previous_loop(weights):
    mean = {(a, b): float(sum(weights[a, b, i, i - 1] for i in range(1, weights.shape[-1])))
            for a in range(weights.shape[0]) for b in range(weights.shape[1])}
    return max(mean, key=mean.get)


def previous_numpy(weights):
    w = np.asarray(weights)
    scores = np.einsum("lhii->lh", w[:, :, 1:, :-1])
    return divmod(int(scores.argmax()), w.shape[1])


def of_diagonal(k, reduce=lambda d: d.mean(-1)):
    return lambda w: pair(reduce(w.diagonal(k, -2, -1)))


RIGHT["previous_token_head"] = {"loop": previous_loop, "einsum": previous_numpy, "diagonal": of_diagonal(-1),
                                "float64": lambda w: torch.tensor(of_diagonal(-1)(w.double()))}
WRONG["previous_token_head"] = {
    "exchanged": (lambda w: previous_loop(w)[::-1], "layer and head are exchanged"),
    "from 1": (lambda w: [x + 1 for x in previous_loop(w)], "heads are counted from 1"),
    "flat": (lambda w: w.diagonal(-1, -2, -1).mean(-1).argmax(), "one number for a layer and head"),
    "next": (of_diagonal(1), "looks at the next token"), "itself": (of_diagonal(0), "looks at the token itself"),
    "two back": (of_diagonal(-2), "looks two back"),
    "first": (lambda w: pair(w[..., 0].mean(-1)), "looks at the first token"),
    "last": (lambda w: pair(w[..., -1].mean(-1)), "looks at the last token"),
    "peak": (of_diagonal(-1, lambda d: d.amax(-1)), SINGLE),
}


# -- luck ------------------------------------------------------------------------------------

def luck_loop(moved, signs):
    best = float(moved.mean(0).max())
    hits = 0
    for sign in signs:
        hits += float((sign[:, None] * moved).mean(0).max()) >= best - 1e-6
    return hits / len(signs)


def luck_numpy(moved, signs):
    m, s = np.asarray(moved, dtype=np.float64), np.asarray(signs, dtype=np.float64)
    means = np.einsum("dp,ph->dh", s, m) / len(m)
    return (means.max(1) >= m.mean(0).max() - 1e-9).mean()


def luck(pick, truth=lambda m: m.mean(0).max()):
    return lambda m, s: float((pick(s @ m / len(m), m) >= truth(m) - 1e-6).double().mean())


RIGHT["luck"] = {"loop": luck_loop, "numpy": luck_numpy, "tensor": lambda m, s: torch.tensor(luck_loop(m, s)),
                 "float64": lambda m, s: luck_loop(m.double(), s.double())}
WRONG["luck"] = {
    "one head": (luck(lambda means, m: means[:, m.mean(0).argmax()]), "only the best head was flipped"),
    "mean": (luck(lambda means, m: means.mean(1)), "the mean of all heads was taken in each draw"),
    "mean both": (luck(lambda means, m: means.mean(1), lambda m: m.mean()), "the mean of all heads was compared"),
    "two sides": (luck(lambda means, m: means.abs().amax(1)), "heads that move far the wrong way"),
    "complement": (lambda m, s: 1 - luck_loop(m, s), "the draws that luck does NOT reach"),
    "added": (lambda m, s: float((s @ m / len(m) >= m.mean(0).max() - 1e-6).double().mean(0).sum()), "chances of the heads were added"),
    "counted": (luck(lambda means, m: (means > 0).float().mean(1), lambda m: (m.mean(0) > 0).float().mean()), "number of heads above 0"),
    "single pairs": (lambda m, s: float(((s[:, :, None] * m).amax((1, 2)) >= m.mean(0).max()).double().mean()),
                     "single pairs were compared"),
}


def check_of(name):
    return getattr(heads, f"check_{name}")


def pairs(table):
    return [(name, label) for name in table for label in table[name]]


def in_notebook(tag):
    """The functions of the cells with that tag: name -> function, each cell on its own."""
    found = {}
    for page in ("01_routing", "06_positions", "07_thought_experiments"):
        read = json.loads((ROOT / "chapters" / f"{page}.ipynb").read_text(encoding="utf-8"))
        for cell in read["cells"]:
            source = "".join(cell["source"])
            name = next((name for name in MODULES if f"def {name}(" in source), None)
            if name and tag in cell["metadata"].get("tags", []):
                space = {"torch": torch}
                exec(source, space)
                found[name] = space[name]
    return found


@pytest.mark.parametrize("name, label", pairs(RIGHT))
def test_right_variants_pass(said, name, label):
    for _ in range(DRAWS):
        assert "passed" in said(check_of(name), RIGHT[name][label])


@pytest.mark.parametrize("name, label", pairs(WRONG))
def test_wrong_solutions_are_named(said, name, label):
    fn, fragment = WRONG[name][label]
    for _ in range(DRAWS):
        text = said(check_of(name), fn)
        assert fragment in text and text.startswith(f"{name}: not right yet. Input: ")


@pytest.mark.parametrize("name, label", pairs(WRONG))
def test_messages_give_no_numbers(said, name, label):
    text = said(check_of(name), WRONG[name][label][0])
    assert not re.findall(r"\d+\.\d+", text)


@pytest.mark.parametrize("name", MODULES)
def test_lists_are_long_enough_and_every_mistake_is_made(name):
    assert len(RIGHT[name]) >= 4 and len(WRONG[name]) >= 5
    assert set(heads.__all__) == {f"check_{name}" for name in MODULES}
    told = " | ".join(_report.message(MODULES[name].EXERCISE, fn) for fn, _ in WRONG[name].values())
    assert not [mistake.name for mistake in MODULES[name].MISTAKES if mistake.name not in told]


def test_starters_do_not_pass_and_solutions_do(said):
    starters, solutions = in_notebook("exercise"), in_notebook("solution")
    assert set(starters) == set(solutions) == set(MODULES)
    for name in MODULES:
        texts = {said(check_of(name), starters[name]) for _ in range(DRAWS)}
        assert len(texts) == 1 and texts.pop().startswith(f"{name}: not right yet. Input: ")  # the notebook stores it
        assert all("passed" in said(check_of(name), solutions[name]) for _ in range(5))


@pytest.mark.parametrize("name", MODULES)
def test_replayed_answers_fail(said, name):
    exercise = MODULES[name].EXERCISE
    way = next(iter(RIGHT[name].values()))
    old = [way(*case.copies()) for _ in range(3) for case in exercise.cases(fresh_generator())]
    texts = []
    for _ in range(4):
        answers = iter(old * 40)
        texts.append(said(check_of(name), lambda *args, left=answers: next(left)))
    assert any("not right yet" in text for text in texts)


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("value", RETURNS, ids=str)
def test_any_return_value_gets_one_message(said, name, value):
    text = said(check_of(name), lambda *args: RETURNS[value]())
    assert text.startswith(f"{name}: not ") and "could not finish" not in text and "passed" not in text


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("kind", RAISES, ids=str)
def test_any_exception_gets_one_message(said, name, kind):
    text = said(check_of(name), RAISES[kind])
    assert text.startswith(f"{name}: not ") and "could not finish" not in text and len(text) < 700


def test_the_right_head_is_planted_where_no_slip_lands_on_another():
    for module in (heads.induction, heads.previous):
        for _ in range(DRAWS):
            (case,) = module.cases(fresh_generator())
            layer, head = module.right(*case.args).tolist()
            assert layer != head and case.args[0].shape[:2] == (3, 4)


def test_the_question_about_the_map_has_one_right_answer():
    assert "ch1-map-explains" in questions()
