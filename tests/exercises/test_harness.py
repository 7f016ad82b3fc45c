"""The harness: no function can make a check raise, leak or lie."""

import functools

import numpy as np
import pytest
import torch

from attnbook.exercises import _report, routing
from attnbook.exercises._exercise import system_seed

CHECKS = [getattr(routing, name) for name in routing.__all__]


def check_id(check):
    return check.__name__


class EvilArray:
    def __array__(self, *args, **kwargs):
        raise RuntimeError("no")


class EvilAll:
    def __getattribute__(self, name):
        raise SystemError("no")


class EvilText(Exception):
    def __str__(self):
        raise RuntimeError("no")


class OwnBase(BaseException):
    pass


def endless():
    ring = []
    ring.append(ring)
    return ring


RETURNS = {
    "nothing": lambda: None,
    "text": lambda: "weights",
    "bytes": lambda: b"12",
    "number": lambda: 0.123,
    "huge number": lambda: 10 ** 400,
    "complex": lambda: 1j,
    "bool": lambda: True,
    "empty list": list,
    "ragged list": lambda: [[1.0], [2.0, 3.0]],
    "list in itself": endless,
    "list of text": lambda: ["a", "b"],
    "dict": lambda: {"weights": 1},
    "set": lambda: {1, 2},
    "object": object,
    "function": lambda: len,
    "evil array": EvilArray,
    "evil object": EvilAll,
    "NaN": lambda: torch.full((3, 5), torch.nan),
    "one NaN": lambda: float("nan"),
    "infinity": lambda: np.full((3, 5), -np.inf),
    "empty tensor": lambda: torch.empty(0),
    "wrong shape": lambda: torch.ones(2, 2, 2, 2, 2),
    "integers": lambda: torch.ones(3, 5, dtype=torch.int64),
    "complex tensor": lambda: torch.ones(3, 5, dtype=torch.complex64),
    "meta tensor": lambda: torch.ones(3, 5, device="meta"),
    "sparse tensor": lambda: torch.ones(3, 5).to_sparse(),
    "text array": lambda: np.array(["a", "b"]),
    "object array": lambda: np.array([object()]),
    "two results": lambda: (torch.ones(3, 5), torch.ones(2)),
}


@pytest.mark.parametrize("check", CHECKS, ids=check_id)
@pytest.mark.parametrize("value", RETURNS, ids=str)
def test_any_return_value_gets_one_message(said, check, value):
    text = said(check, lambda *args: RETURNS[value]())
    name = check.__name__.removeprefix("check_")
    assert text.startswith(f"{name}: not ") and text.count(f"{name}: ") == 1
    assert "could not finish" not in text and "passed" not in text


def _raise(error):
    raise error


RAISES = {
    "value error": lambda *args: _raise(ValueError("bad")),
    "no text": lambda *args: _raise(ValueError()),
    "many lines": lambda *args: _raise(ValueError("one\ntwo\n" + 1000 * "x")),
    "evil text": lambda *args: _raise(EvilText()),
    "system exit": lambda *args: _raise(SystemExit(1)),
    "generator exit": lambda *args: _raise(GeneratorExit()),
    "stop iteration": lambda *args: _raise(StopIteration()),
    "own base exception": lambda *args: _raise(OwnBase()),
    "assertion": lambda *args: _raise(AssertionError()),
    "not implemented": lambda *args: _raise(NotImplementedError()),
    "no arguments": lambda: 1,
    "too many": lambda a, b, c, d, e, f, g: 1,
    "builtin": len,
    "class": dict,
    "partial": functools.partial(int, base=10),
}


def recursion(*args):
    return recursion(*args)


def generator(*args):
    yield 1


async def coroutine(*args):
    return 1


RAISES |= {"recursion": recursion, "generator": generator}


@pytest.mark.parametrize("check", CHECKS, ids=check_id)
@pytest.mark.parametrize("name", RAISES, ids=str)
def test_any_exception_gets_one_message(said, check, name):
    text = said(check, RAISES[name])
    assert text.startswith(f"{check.__name__.removeprefix('check_')}: not ")
    assert "could not finish" not in text and len(text) < 700


@pytest.mark.parametrize("check", CHECKS, ids=check_id)
@pytest.mark.filterwarnings("ignore:coroutine")
def test_a_coroutine_gets_one_message(said, check):
    assert "not right yet" in said(check, coroutine)


@pytest.mark.parametrize("value", [None, 3, "attention", torch.ones(3), [len]], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("check", CHECKS, ids=check_id)
def test_what_is_no_function_is_told_so(said, check, value):
    assert "needs the function itself" in said(check, value)


@pytest.mark.parametrize("check", CHECKS, ids=check_id)
def test_the_reader_can_interrupt(check):
    with pytest.raises(KeyboardInterrupt):
        check(lambda *args: _raise(KeyboardInterrupt()))


@pytest.mark.parametrize("check", CHECKS, ids=check_id)
def test_wrong_number_of_arguments_names_the_usage(said, check):
    assert f"expected {check.__name__.removeprefix('check_')}(" in said(check, lambda: 1)


def test_messages_for_known_exceptions():
    def told(fn):
        return _report.message(routing.weights.EXERCISE, fn)

    assert "calls itself without end" in told(recursion)
    assert "not written yet" in told(RAISES["not implemented"])
    assert "raised ValueError: bad" in told(RAISES["value error"])
    assert "nothing (None)" not in told(lambda *args: None) and "not written yet" in told(lambda *args: None)


@pytest.mark.parametrize("check", CHECKS, ids=check_id)
@pytest.mark.parametrize("fn", [lambda *args: torch.full((3, 5), 0.123), RAISES["many lines"], RETURNS["nothing"]],
                         ids=["wrong", "raises", "nothing"])
def test_a_message_fits_into_78_columns(capsys, check, fn):
    check(fn)
    lines = capsys.readouterr().out.splitlines()
    too_wide = [line for line in lines if len(line) > 78 and " " in line]  # a single word may be wider
    assert lines and not too_wide


@pytest.mark.parametrize("check", CHECKS, ids=check_id)
def test_the_global_generator_is_left_alone(said, check):
    torch.manual_seed(3)
    before = torch.get_rng_state()
    said(check, lambda *args: torch.randn(3))
    torch.manual_seed(3)
    said(check, lambda *args: 1.0)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("check", CHECKS, ids=check_id)
def test_inputs_are_drawn_anew_whatever_the_seed(check):
    exercise = next(vars(module)["EXERCISE"] for module in modules() if vars(module).get(check.__name__) is check)
    draws = []
    for _ in range(2):
        torch.manual_seed(0)
        np.random.seed(0)
        draws.append([arg for case in exercise.cases(_report.fresh_generator()) for arg in case.args])
    same = [a.equal(b) if isinstance(a, torch.Tensor) else a == b for a, b in zip(*draws)]
    assert not all(same)


def modules():
    return (routing.weights, routing.recurrence, routing.gradient, routing.paths, routing.visibility, routing.memory)


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.__name__.split(".")[-1])
def test_each_case_survives_a_function_that_spoils_its_arguments(said, module):
    def spoil(*args):
        for arg in args:
            if isinstance(arg, torch.Tensor):
                arg.zero_().resize_(1)
        raise ValueError

    cases = module.EXERCISE.cases(_report.fresh_generator())
    before = [[a.clone() if isinstance(a, torch.Tensor) else a for a in case.args] for case in cases]
    _report.run(module.EXERCISE, cases, spoil, torch.Tensor.clone)
    after = [list(case.args) for case in cases]
    for one, other in zip(before, after):
        assert all(a.equal(b) if isinstance(a, torch.Tensor) else a == b for a, b in zip(one, other))


@pytest.mark.parametrize("name, fn, argument", [
    ("attention_weights", lambda s, m=None: s.exp_().div_(s.sum(-1, keepdim=True)), "scores"),
    ("rnn_states", lambda x, h0, w, u, b: h0.add_(1), "h0"),
    ("rnn_states", lambda x, h0, w, u, b: w.t_(), "w_ih"),
    ("gradient_first_state", lambda s, g, w: g[..., 0, :].mul_(0), "grads"),
    ("rows_that_change", lambda m, word, n: m.fill_diagonal_(True).any(1), "mask"),
    ("retrieve", lambda q, k, v, t: v.neg_(), "values"),
])
def test_a_change_in_place_is_named(said, name, fn, argument):
    assert f"changed its argument {argument} in place" in said(getattr(routing, f"check_{name}"), fn)


def test_a_right_result_does_not_excuse_a_change_in_place(said):
    def softmax_in_place(scores, mask=None):
        scores[...] = torch.softmax(scores, -1)
        return scores

    assert "changed its argument scores in place" in said(routing.check_attention_weights, softmax_in_place)


def test_seeds_come_from_the_system():
    assert len({system_seed() for _ in range(5)}) == 5  # the function itself, not what conftest puts in its place
