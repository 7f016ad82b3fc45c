"""One short training loop for the whole book: seeded, Adam, nothing printed unless asked for."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnbook import _checks


@dataclass
class History:
    """What a training run leaves behind: the loss before each step, and whether it ended before its budget."""

    loss: list[float] = field(default_factory=list)
    stopped_early: bool = False

    @property
    def steps(self) -> int:
        """Number of steps taken."""
        return len(self.loss)


def fit(
    parameters: nn.Module | Iterable[Tensor],
    loss: Callable[[torch.Generator], Tensor],
    *,
    steps: int,
    lr: float = 1e-3,
    seed: int = 0,
    warm_up: int = 0,
    weight_decay: float = 0.0,
    clip: float | Callable[[list[Tensor]], None] | None = None,
    stop: Callable[[History], bool] | None = None,
    progress: bool | None = None,
    fused: bool = False,
) -> History:
    """Minimise loss(generator) with Adam and return its history.

    loss: draws its batch from the generator (seeded with `seed`) and returns a number to minimise.
    warm_up: steps over which the learning rate rises linearly to lr.
    weight_decay: each step also shrinks every parameter by lr * weight_decay of itself (AdamW; 0 is plain Adam).
    clip: largest norm of all gradients together, or a function that clips the gradients of the parameters in place.
    stop: asked after each step; True ends the training early.
    progress: True shows one counting line on stderr, False shows nothing; None shows it in a terminal only,
        so that nothing reaches the stored output of a notebook.
    fused: all parameters in one kernel, quicker where there are many small ones; the numbers differ by rounding.

    Raises ValueError if steps, lr or warm_up is out of range, FloatingPointError if the loss is no longer finite.
    """
    _checks.whole_number("steps", steps)
    _checks.whole_number("warm_up", warm_up)
    if not lr > 0:
        raise ValueError(f"lr is {lr!r}; expected a positive number")
    parameters = list(parameters.parameters() if isinstance(parameters, nn.Module) else parameters)
    optimiser = torch.optim.AdamW(parameters, lr=lr, weight_decay=weight_decay, fused=fused or None)
    generator = torch.Generator().manual_seed(seed)
    history = History()
    with _Counter(steps, progress) as show:
        for step in range(steps):
            value = _step(optimiser, loss(generator), parameters, clip, lr * min(1.0, (step + 1) / max(warm_up, 1)))
            if not value - value == 0:  # neither NaN nor infinite
                raise FloatingPointError(f"the loss is {value} at step {step + 1}; expected a finite number")
            history.loss.append(value)
            show(step + 1, value)
            if stop is not None and stop(history):
                history.stopped_early = step + 1 < steps
                break
    return history


def _step(optimiser, loss, parameters, clip, lr):
    """One update of the parameters; returns the loss before it."""
    optimiser.zero_grad()
    loss.backward()
    if callable(clip):
        clip(parameters)
    elif clip is not None:
        nn.utils.clip_grad_norm_(parameters, clip)
    for group in optimiser.param_groups:
        group["lr"] = lr
    optimiser.step()
    return loss.item()


class _Counter:
    """A line on stderr that counts the steps and is wiped at the end."""

    def __init__(self, steps, wanted):
        self.steps = steps
        self.on = sys.stderr.isatty() if wanted is None else wanted

    def __enter__(self):
        return self

    def __call__(self, step, value):
        if self.on and (step == self.steps or step % max(1, self.steps // 20) == 0):
            sys.stderr.write(f"\rstep {step} of {self.steps}, loss {value:.3f} ")
            sys.stderr.flush()

    def __exit__(self, *error):
        if self.on:
            sys.stderr.write("\r" + " " * 60 + "\r")


def masked_loss(
    logits: Float[Tensor, "... C"], targets: Int[Tensor, "..."], real: Bool[Tensor, "..."]
) -> Float[Tensor, ""]:
    """Mean cross-entropy over the real positions only, in nats.

    real: True where a target counts, False on padding. What stands on padding (logits or ids, valid or not)
    enters neither the sum nor the count nor the gradient. With no real position at all the loss is 0.

    Raises ValueError if the shapes do not fit, TypeError if real is not boolean.
    """
    _checks.float_tensor("logits", logits, min_dim=1)
    _checks.shape("targets", targets, f"{tuple(logits.shape[:-1])}, logits without the last axis",
                  targets.shape == logits.shape[:-1])
    _checks.shape("real", real, f"{tuple(targets.shape)}, the shape of targets", real.shape == targets.shape)
    if real.dtype != torch.bool:
        raise TypeError(f"real is {_checks.describe(real)}; expected a boolean tensor, True where a target counts")
    total = nn.functional.cross_entropy(logits[real], targets[real], reduction="sum")
    return total / real.sum().clamp(min=1)
