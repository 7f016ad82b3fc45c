"""What an exercise is made of: a right function, cases drawn anew at each call, and named mistakes.

A chapter adds data only; _report.py runs it. Cases come in the order operands, axis, scale, masks, and the first that
fails ends the check, so that the message names the cause and not a consequence. A mistake is recognised from outside,
by what it returns on the case that failed. All sizes of a case differ, or a swapped axis would go unseen.
"""

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from attnbook.exercises import _returned
from attnbook.exercises._returned import close, fit


class Skip(Exception):
    """Raised by Case.via when the case does not apply to this function (no gradient to be had from numpy)."""


def call(fn: Callable, args: Sequence):
    """The plain way to use a function; Case.via may be another, see gradient_of_first."""
    return fn(*args)


@dataclass(frozen=True)
class Case:
    """One small input. stage: a word for the pass message; what: the input in words, shapes included;
    args: given to the function; via(fn, args): how it is used;
    tolerance: wider where large inputs cost float32 its digits."""

    stage: str
    what: str
    args: tuple
    via: Callable = call
    tolerance: float = _returned.TOLERANCE

    def copies(self, convert: Callable = Tensor.clone) -> list:
        """Fresh arguments, so that no function can spoil the case."""
        return [convert(a) if isinstance(a, Tensor) else a for a in self.args]

    def answer(self, fn: Callable, read: Callable) -> Tensor:
        """What one of our own functions, right or wrong, returns here, computed in float64."""
        args = self.copies(lambda a: a.to(torch.float64 if a.is_floating_point() else a.dtype, copy=True))
        return read(self.via(fn, args))


@dataclass(frozen=True)
class Mistake:
    """name: the likely mistake, ends a sentence; returns: what it computes, one or several functions called like the
    reader's; advice: how to think of it, without the right numbers or the line to write; stages: only there (default
    everywhere); sign(result, case): in place of returns, a test of the result itself."""

    name: str
    returns: Callable | Sequence[Callable]
    advice: str
    stages: tuple[str, ...] = ()
    sign: Callable[[Tensor, Case], bool] | None = None

    @property
    def ways(self) -> tuple[Callable, ...]:
        return (self.returns,) if callable(self.returns) else tuple(self.returns)

    def explains(self, got: Tensor, case: Case, read: Callable) -> bool:
        if self.stages and case.stage not in self.stages:
            return False
        if self.sign is not None:
            return self.sign(got, case)
        return any(_equals(way, got, case, read) for way in self.ways)


def _equals(way, got, case, read):
    try:
        wrong = case.answer(way, read)
    except Exception:  # this mistake cannot be made on this input
        return False
    return close(fit(got, wrong), wrong, case.tolerance)


@dataclass(frozen=True)
class Exercise:
    """name and usage: of the reader's function; right: our own; cases(generator): the inputs, drawn anew;
    convention: shapes in a sentence, shown when the function raises; read: what counts as an answer;
    symptom(got, want): what is odd about wrong numbers, or an empty string."""

    name: str
    usage: str
    right: Callable
    cases: Callable[[Generator], list[Case]]
    mistakes: Sequence[Mistake]
    convention: str
    read: Callable = _returned.numbers
    symptom: Callable[[Tensor, Tensor], str] = lambda got, want: ""

    @property
    def arguments(self) -> list[str]:
        """Names of the arguments, out of usage."""
        return re.findall(r"(\w+)(?:=\w+)?[,)]", self.usage)


def fresh_generator() -> Generator:
    """Seeded by the system, apart from torch's global generator: a check neither repeats nor disturbs other draws."""
    return Generator().manual_seed(system_seed())


def system_seed() -> int:
    """A number that nobody can guess: each check has other inputs."""
    return secrets.randbits(48)


def normal(generator: Generator, *shape: int) -> Tensor:
    """Standard normal float32 numbers."""
    return torch.randn(*shape, generator=generator)


def holds_nan(got: Tensor, case: Case) -> bool:
    """A sign for mistakes that end in NaN, whichever way they take."""
    return bool(got.isnan().any())


def gradient_of_first(probe: Tensor) -> Callable:
    """A Case.via: the gradient of sum(probe * fn(args)) with respect to the first argument."""
    def via(fn, args):
        if not isinstance(args[0], Tensor):
            raise Skip
        first = args[0].requires_grad_(True)
        out = fn(first, *args[1:])
        if not (isinstance(out, Tensor) and out.requires_grad):
            raise Skip
        return torch.autograd.grad((out * probe.to(out.dtype)).sum(), first)[0]
    return via
