"""Implement: the states of a plain recurrent network.

rnn_states(x, h0, w_ih, w_hh, b): x (..., T, d_in), h0 (..., d), w_ih (d_in, d), w_hh (d, d), b (d).
h_t = tanh(x_t @ w_ih + h_(t-1) @ w_hh + b) for t = 1..T. Returns all states h_1..h_T, (..., T, d).
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report
from attnbook.exercises._returned import close


def check_rnn_states(fn) -> None:
    """Check rnn_states(x, h0, w_ih, w_hh, b) and print one message."""
    report(EXERCISE, fn)


def _loop(step):
    """The loop over time around one step, step(x_t, h, w_ih, w_hh, b) -> next h."""
    def states(x, h0, w_ih, w_hh, b):
        h, all_h = h0, []
        for t in range(x.shape[-2]):
            h = step(x[..., t, :], h, w_ih, w_hh, b)
            all_h.append(h)
        return torch.stack(all_h, -2)
    return states


right = _loop(lambda x, h, w_ih, w_hh, b: torch.tanh(x @ w_ih + h @ w_hh + b))


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    def draw(*batch, steps):
        sizes = "".join(f"{n}, " for n in batch)
        what = f"x of shape ({sizes}{steps}, 3) with h0 of shape ({sizes}4{'' if batch else ','})"
        weights = (normal(generator, 3, 4) / 2, normal(generator, 4, 4) / 2, normal(generator, 4) / 2)
        return what, (normal(generator, *batch, steps, 3), normal(generator, *batch, 4), *weights)

    return [
        Case("loop", *draw(steps=5)),
        Case("one step", *draw(steps=1)),
        Case("batch", *draw(2, steps=5)),
        Case("batch", *draw(2, 6, steps=5)),
    ]


# -- the mistakes ----------------------------------------------------------------------------

def _last_only(x, *rest):
    return right(x, *rest)[..., -1, :]


def _previous_input(x, *rest):
    return right(torch.cat([torch.zeros_like(x[..., :1, :]), x[..., :-1, :]], -2), *rest)


def _with_start(x, h0, *rest):
    return torch.cat([h0.unsqueeze(-2), right(x, h0, *rest)], -2)


ONE_STEP = (
    Mistake("the recurrent matrix is transposed",
            _loop(lambda x, h, w_ih, w_hh, b: torch.tanh(x @ w_ih + h @ w_hh.mT + b)),
            "The convention here is row vector times matrix. A square matrix hides the difference in its shape."),
    Mistake("the previous state is forgotten", _loop(lambda x, h, w_ih, w_hh, b: torch.tanh(x @ w_ih + b)),
            "A state that sees only its own input has no memory: the last state must come in through w_hh."),
    Mistake("the input is forgotten", _loop(lambda x, h, w_ih, w_hh, b: torch.tanh(h @ w_hh + b)),
            "Each step must also read x, through w_ih."),
    Mistake("the bias is forgotten", _loop(lambda x, h, w_ih, w_hh, b: torch.tanh(x @ w_ih + h @ w_hh)),
            "b joins the sum inside the tanh."),
    Mistake("the bias is added after the tanh",
            _loop(lambda x, h, w_ih, w_hh, b: torch.tanh(x @ w_ih + h @ w_hh) + b),
            "All three terms are added first; a state never leaves the range from -1 to 1."),
    Mistake("the bias is added twice", _loop(lambda x, h, w_ih, w_hh, b: torch.tanh(x @ w_ih + h @ w_hh + 2 * b)),
            "There is one b for the sum, not one for each product."),
    Mistake("tanh is applied twice",
            _loop(lambda x, h, w_ih, w_hh, b: torch.tanh(torch.tanh(x @ w_ih + h @ w_hh + b))),
            "The sum goes through tanh once; the state that comes out is kept as it is."),
    Mistake("each term has its own tanh",
            (_loop(lambda x, h, w_ih, w_hh, b: torch.tanh(x @ w_ih + b) + torch.tanh(h @ w_hh)),
             _loop(lambda x, h, w_ih, w_hh, b: torch.tanh(x @ w_ih) + torch.tanh(h @ w_hh) + b)),
            "Add first, then take one tanh of the sum."),
    Mistake("the tanh is missing", _loop(lambda x, h, w_ih, w_hh, b: x @ w_ih + h @ w_hh + b),
            "Without it the states can grow without bound."),
    Mistake("sigmoid in place of tanh", _loop(lambda x, h, w_ih, w_hh, b: torch.sigmoid(x @ w_ih + h @ w_hh + b)),
            "A tanh runs from -1 to 1, a sigmoid from 0 to 1."),
    Mistake("the previous state is added without its matrix",
            (_loop(lambda x, h, w_ih, w_hh, b: torch.tanh(x @ w_ih + h + b)),
             _loop(lambda x, h, w_ih, w_hh, b: torch.tanh(x @ w_ih + b) + h)),
            "The state goes through w_hh before it joins the sum, inside the tanh."),
    Mistake("the first state is not used", lambda x, h0, *rest: right(x, torch.zeros_like(h0), *rest),
            "The run starts from h0, which need not be zero."),
)

LOOP = (
    Mistake("time is the first axis of the result", lambda *args: right(*args).movedim(-2, 0),
            "Stack the states along the axis that holds time in x, the last but one.", ("batch",)),
    Mistake("only the last state is returned", _last_only, "All T states were asked for, one row for each step."),
    Mistake("the states are off by one", lambda x, h0, *rest: _with_start(x, h0, *rest)[..., :-1, :],
            "Row t holds the state before it has read the input of that step. Keep each state after its update."),
    Mistake("the start is among the states", _with_start, "h0 came in; only the T states made from inputs go out."),
    Mistake("each step reads the input before it", _previous_input, "The state of step t reads the input of step t."),
    Mistake("every step starts from h0",
            lambda x, h0, w_ih, w_hh, b: torch.tanh(x @ w_ih + (h0 @ w_hh).unsqueeze(-2) + b),
            "The new state must be carried into the next step; here each step forgets the one before."),
    Mistake("every step reads the same input", lambda x, *rest: right(x[..., :1, :].expand_as(x), *rest),
            "The loop goes on but the input stays the first one."),
    Mistake("time runs backwards",
            (lambda x, *rest: right(x.flip(-2), *rest), lambda x, *rest: right(x.flip(-2), *rest).flip(-2)),
            "Read the inputs from the first to the last, and keep the states in that order."),
    Mistake("the order of the states is reversed", lambda x, *rest: right(x, *rest).flip(-2),
            "The first row is the first state."),
)

MISTAKES = (*ONE_STEP, *LOOP)


def first_wrong_state(got, want):
    """At which step the states begin to differ, as a symptom."""
    wrong = [not close(got[..., t, :], want[..., t, :]) for t in range(want.shape[-2])].index(True)
    if wrong == 0:
        return "The first state is wrong already."
    return "The first state is right, a later one is not: look at what one step hands to the next."


EXERCISE = Exercise(
    name="rnn_states",
    usage="rnn_states(x, h0, w_ih, w_hh, b)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Shapes: x (..., T, 3), h0 (..., 4), w_ih (3, 4), w_hh (4, 4), b (4); "
               "row vectors stand left of the matrices, time is the last axis but one of x, batch axes stand in front.",
    symptom=first_wrong_state,
)
