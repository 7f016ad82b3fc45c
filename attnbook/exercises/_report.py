"""Run a reader's function on the cases of an exercise and print one message: passed, or the first fault."""

import inspect
import textwrap
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnbook.exercises import _returned
from attnbook.exercises._exercise import Case, Exercise, Skip, call, fresh_generator
from attnbook.exercises._returned import Unreadable, close, fit

WIDTH = 78  # columns of a message: what a page shows without a scroll bar


@dataclass(frozen=True)
class Fault:
    """What is wrong, as sentences; raised: the function did not return at all."""

    text: str
    raised: bool = False


def report(exercise: Exercise, fn: Callable) -> None:
    """Print one message: passed, or the first fault. Never raises (except when the reader interrupts)."""
    try:
        text = message(exercise, fn)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        text = f"{exercise.name}: the check could not finish ({type(error).__name__}). {exercise.convention}"
    print(textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False))


def message(exercise: Exercise, fn: Callable) -> str:
    """The one message that a reader gets for fn."""
    if not callable(fn):
        return (f"{exercise.name}: the check needs the function itself, not a value of type {type(fn).__name__}. "
                "Hand over its name, without brackets behind it.")
    cases = exercise.cases(fresh_generator())
    fault, stages = run(exercise, cases, fn, Tensor.clone)
    if fault and fault.raised:  # a function written for numpy is welcome too
        other, other_stages = run(exercise, cases, fn, lambda a: a.numpy().copy())
        if not (other and other.raised):
            fault, stages = other, other_stages
    if fault and all(returned_none(case, fn) for case in cases):
        return f"{exercise.name}: not written yet, it returns None. {exercise.convention}"
    if fault:
        return f"{exercise.name}: not right yet. {fault.text}"
    return f"{exercise.name}: passed on new inputs. Tested: {', '.join(dict.fromkeys(stages))}."


def run(exercise, cases, fn, convert) -> tuple[Fault | None, list[str]]:
    """The first fault, or None, and the stages that were passed."""
    passed = []
    for case in cases:
        try:
            fault = examine(exercise, case, fn, convert)
        except Skip:
            continue
        if fault:
            return fault, passed
        passed.append(case.stage)
    return None, passed


def returned_none(case, fn) -> bool:
    """Whether fn is still an empty starter, judged by one case."""
    try:
        return quietly(call, fn, case.copies()) is None
    except KeyboardInterrupt:
        raise
    except BaseException:
        return False


def examine(exercise: Exercise, case: Case, fn: Callable, convert: Callable) -> Fault | None:
    """The fault of fn on one case, or None."""
    args = case.copies(convert)
    try:
        value = quietly(case.via, fn, args)
    except (KeyboardInterrupt, Skip):
        raise
    except BaseException as error:
        return Fault(f"Input: {case.what}. {raised(exercise, fn, args, error)}", raised=True)
    changed = [name for name, now, before in zip(exercise.arguments, args, case.args) if differs(now, before)]
    if changed:
        return Fault(f"Input: {case.what}. The function changed its argument {changed[0]} in place. "
                     "Compute a new array and leave the arguments as they came.")
    try:
        got = exercise.read(value)
    except Unreadable as reason:
        return Fault(f"Input: {case.what}. The function returned {reason}.")
    want = case.answer(exercise.right, exercise.read)
    got = fit(got, want)
    if close(got, want, case.tolerance):
        return None
    return Fault(f"Input: {case.what}. {diagnosis(exercise, case, fn, value, got, want)}")


def quietly(via, fn, args):
    """Overflow warnings of a half-right function would only hide the message."""
    with warnings.catch_warnings(), np.errstate(all="ignore"), torch.enable_grad():
        warnings.simplefilter("ignore")
        return via(fn, args)


def differs(now, before) -> bool:
    """Whether an argument changed while the function ran."""
    if not isinstance(before, Tensor):
        return False
    now = torch.as_tensor(now).detach()
    return now.shape != before.shape or not torch.equal(now.to(before.dtype), before)


def raised(exercise, fn, args, error) -> str:
    """A sentence on an exception out of the reader's function."""
    if isinstance(error, NotImplementedError):
        return "The function is not written yet (NotImplementedError)."
    if isinstance(error, RecursionError):
        return "The function calls itself without end (RecursionError)."
    try:
        inspect.signature(fn).bind(*args)
    except TypeError:
        return f"The function does not take these arguments; expected {exercise.usage}."
    except BaseException:  # no signature to be had
        pass
    try:
        first_line = (str(error).strip().splitlines() or [""])[0][:160]
    except BaseException:
        first_line = ""
    told = f"{type(error).__name__}: {first_line}" if first_line else type(error).__name__
    return f"The function raised {told.rstrip('.')}. {exercise.convention}"


def diagnosis(exercise, case, fn, value, got, want) -> str:
    """How the result is wrong, and the likely mistake by name."""
    sign = symptom(exercise, got, want)
    for mistake in exercise.mistakes:
        if mistake.explains(got, case, exercise.read):
            return f"{sign}Likely mistake: {mistake.name}. {mistake.advice}"
    coarse = _returned.precision(value)
    if coarse and exercise.read is _returned.numbers:
        return f"{sign}The result is {coarse}; compute in float32 or float64."
    if want.numel() > 1 and repeats(exercise, case, fn, got):
        return f"{sign}Likely mistake: a constant. Other numbers went in and the same came out."
    if exercise.read is _returned.numbers and got.shape == want.shape and torch.isfinite(got).all():
        sign += size_of_error(got, want)
    return f"{sign or 'The answer is wrong. '}{exercise.convention}"


def size_of_error(got, want) -> str:
    """The largest error against the largest number, in whole per cent: enough to tell a slip from a rounding."""
    share = 100 * ((got - want).abs().max() / want.abs().max()).item()
    return f"The largest error is {f'{share:.0f} %' if share >= 1 else 'less than 1 %'} of the largest number. "


def symptom(exercise, got, want) -> str:
    """What is odd about the result at first sight, as a sentence with a space behind it, or an empty string.

    It holds no number that depends on the draw, so that a stored message reads the same in every run.
    """
    if got.shape != want.shape:
        return f"The result has shape {tuple(got.shape)}, expected {tuple(want.shape)}. "
    if got.isnan().any():
        return "The result holds NaN. "
    if want.numel() > 1 and torch.isinf(got).any():
        return "The result holds infinity. "
    sign = exercise.symptom(got, want)
    return f"{sign} " if sign else ""


def repeats(exercise, case, fn, got) -> bool:
    """Whether fn returns the same numbers for a second draw of the same case."""
    for other in exercise.cases(fresh_generator()):
        if other.what == case.what and any(map(differs, other.args, case.args)):
            try:
                return close(fit(exercise.read(quietly(other.via, fn, other.copies())), got), got)
            except KeyboardInterrupt:
                raise
            except BaseException:
                return False
    return False
