"""Find the bug: the gradient of a recurrent network through time.

gradient_first_state(states, grads, w_hh): states (..., T, d) are h_1..h_T of a network with
h_t = tanh(x_t @ w_ih + h_(t-1) @ w_hh + b), so they are values after the tanh; grads (..., T, d) is how the loss
depends on each state directly; w_hh (d, d). Returns the gradient of the loss with respect to h_0 over all
paths, (..., d).
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report


def check_gradient_first_state(fn) -> None:
    """Check gradient_first_state(states, grads, w_hh) and print one message."""
    report(EXERCISE, fn)


def _slope(h):
    """Derivative of tanh where its value is h."""
    return 1 - h * h


def _back(slope=_slope, weights=lambda w: w.mT, order=reversed, carry=lambda g, direct: g + direct, last=1):
    """Walk back through time with one stage changed; `last` is the step at which the walk ends."""
    def gradient(states, grads, w_hh):
        g = 0 * grads[..., 0, :]
        for t in order(range(last - 1, states.shape[-2])):
            g = (carry(g, grads[..., t, :]) * slope(states[..., t, :])) @ weights(w_hh)
        return g
    return gradient


right = _back()


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    # A rotation, and states neither near 0 nor near 1: every wrong slope shows, and five steps do not end near zero.
    w_hh = 1.2 * torch.linalg.qr(normal(generator, 4, 4))[0]

    def draw(*batch, steps, last_only=False, note=""):
        before = normal(generator, *batch, steps, 4)
        states = (before.sign() * (0.5 + before.abs().clamp(max=2) / 3)).tanh()
        grads = normal(generator, *batch, steps, 4)
        if last_only:
            grads[..., :-1, :] = 0
        shape = f"({''.join(f'{n}, ' for n in batch)}{steps}, 4)"
        return f"states and grads of shape {shape}{note}", (states, grads, w_hh)

    return [
        Case("one step", *draw(steps=1)),
        Case("product of steps", *draw(steps=5, last_only=True, note=", the loss reads the last state only")),
        Case("sum over steps", *draw(steps=5, note=", the loss reads every state")),
        Case("batch", *draw(2, steps=5)),
    ]


# -- the mistakes ----------------------------------------------------------------------------

def _matrix_first(states, grads, w_hh):
    g = 0 * grads[..., 0, :]
    for t in reversed(range(states.shape[-2])):
        g = ((g + grads[..., t, :]) @ w_hh.mT) * _slope(states[..., t, :])
    return g


def _slope_of_step_before(states, grads, w_hh):
    return right(torch.roll(states, 1, -2), grads, w_hh)


def _down_to_first_state(states, grads, w_hh):
    g = grads[..., -1, :]
    for t in reversed(range(1, states.shape[-2])):
        g = (g * _slope(states[..., t, :])) @ w_hh.mT + grads[..., t - 1, :]
    return g


def _loss_at(step):
    """As if the loss read the state of one step only."""
    def gradient(states, grads, w_hh):
        kept = 0 * grads
        kept[..., step, :] = grads[..., step, :]
        return right(states, kept, w_hh)
    return gradient


SLOPE = "Its slope where the value is h needs no second tanh: work with the square of h itself."

MISTAKES = (
    Mistake("tanh is applied again in its derivative", _back(slope=lambda h: _slope(h.tanh())),
            "The states are values of tanh already. " + SLOPE),
    Mistake("the derivative of tanh is missing", _back(slope=lambda h: 1),
            "Each step passes through a tanh, and its slope shrinks the gradient."),
    Mistake("the square in the derivative of tanh is missing", _back(slope=lambda h: 1 - h), SLOPE),
    Mistake("the derivative of the sigmoid in place of tanh", _back(slope=lambda h: h * (1 - h)),
            "The two squashing functions have different slopes. " + SLOPE),
    Mistake("the recurrent matrix is not transposed", _back(weights=lambda w: w),
            "Forward the row vector is multiplied by w_hh; the way back goes through its transpose."),
    Mistake("matrix and derivative are in the wrong order", _matrix_first,
            "Forward: matrix, then tanh. Backward the slope of tanh comes first and the matrix after it."),
    Mistake("the walk stops at the first state", (_down_to_first_state, _back(last=2)),
            "That is the gradient for h_1. One more step, through the tanh and the matrix, leads from there to h_0."),
    Mistake("the derivative is taken at the step before", _slope_of_step_before,
            "The way back from h_t to the state before it needs the slope at h_t.", ("product of steps",)),
    Mistake("the walk goes forward in time", _back(order=iter),
            "A chain of steps is a product of Jacobians. On the way back the last step comes first.",
            ("product of steps",)),
    Mistake("the chain is cut at every step", _back(carry=lambda g, direct: direct),
            "What came from later steps is thrown away, as if the state were detached.", ("product of steps",)),
    Mistake("the sum over steps is forgotten", _loss_at(-1),
            "The loss reads every state, and each adds its own path. Here only that of the last step was counted.",
            ("sum over steps",)),
    Mistake("the mean over steps in place of the sum", lambda s, g, w: right(s, g, w) / s.shape[-2],
            "Gradients of several paths add up; nothing is divided by their number.", ("product of steps",)),
    Mistake("the length of the gradient in place of the gradient", lambda *args: right(*args).norm(dim=-1),
            "The whole vector was asked for; take its length afterwards."),
)

EXERCISE = Exercise(
    name="gradient_first_state",
    usage="gradient_first_state(states, grads, w_hh)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Shapes: states and grads (..., T, 4), w_hh (4, 4); the result (..., 4) is the gradient for h_0. "
               "The states are values after the tanh.",
)
