"""Finding heads, and luck among them: each check names the mistakes of its wrong solutions and accepts every right one."""

import json

import numpy as np
import pytest
import torch
from chapter_tests import *  # noqa: F403 - the tests that hold for every chapter
from environment import ROOT

from attnbook.exercises import heads, questions
from attnbook.exercises._exercise import fresh_generator

EXERCISES, DRAWS = heads, 8
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


def in_notebooks(tag):
    """Sources of the cells with that tag: name -> source."""
    found = {}
    for page in ("01_routing", "06_positions", "07_thought_experiments"):
        read = json.loads((ROOT / "chapters" / f"{page}.ipynb").read_text(encoding="utf-8"))
        for cell in read["cells"]:
            source = "".join(cell["source"])
            name = next((name for name in MODULES if f"def {name}(" in source), None)
            if name and tag in cell["metadata"].get("tags", []):
                found[name] = source
    return found


SOLUTIONS, STARTERS = in_notebooks("solution"), in_notebooks("exercise")


def test_solutions_of_the_notebooks_pass(said, exercise):
    solved = written(SOLUTIONS[exercise], exercise)
    assert all("passed" in said(getattr(heads, f"check_{exercise}"), solved) for _ in range(5))


def test_the_right_head_is_planted_where_no_slip_lands_on_another():
    for module in (heads.induction, heads.previous):
        for case in (case for _ in range(DRAWS) for case in module.cases(fresh_generator())):
            layer, head = module.right(*case.args).tolist()
            assert layer != head and case.args[0].shape[:2] == (3, 4)


def test_the_question_about_the_map_has_one_right_answer():
    assert [option["right"] for option in questions()["ch1-map-explains"]["options"]].count(True) == 1
