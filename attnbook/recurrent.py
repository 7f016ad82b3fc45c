"""Recurrence, the relay of chapter 1: RNN, LSTM and GRU written out, and gradients through time.

Shapes: x (..., T, d_in) with batch axes first, states (..., d). Weights as torch stores them, one row per unit:
w_ih (gates * d, d_in) and w_hh (gates * d, d), used as x @ w_ih.mT. Gates stand under one another in torch's
order: LSTM i, f, g, o; GRU r, z, n. All agree with torch.nn to 1e-12 in float64.
"""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from attnbook import _checks

Step = Callable[[Tensor, Tensor], Tensor]


# -- one step -----------------------------------------------------------------------------

def rnn_step(h, x, w_ih, w_hh, b):
    """h_t = tanh(W [h_{t-1}, x_t] + b), with W = [w_hh w_ih]. Elman 1990."""
    return torch.tanh(x @ w_ih.mT + h @ w_hh.mT + b)


def lstm_step(h, c, x, w_ih, w_hh, b_ih, b_hh):
    """Gates i, f, g, o: c_t = f c_{t-1} + i g and h_t = o tanh(c_t). Hochreiter and Schmidhuber 1997."""
    i, f, g, o = (x @ w_ih.mT + b_ih + h @ w_hh.mT + b_hh).chunk(4, -1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def gru_step(h, x, w_ih, w_hh, b_ih, b_hh):
    """Gates reset, update, new: h_t = (1 - z) n + z h_{t-1}; the reset gate scales w_hh h + b_hh. Cho et al. 2014."""
    from_x, from_h = (x @ w_ih.mT + b_ih).chunk(3, -1), (h @ w_hh.mT + b_hh).chunk(3, -1)
    r, z = ((a + b).sigmoid() for a, b in zip(from_x[:2], from_h[:2], strict=True))
    n = torch.tanh(from_x[2] + r * from_h[2])
    return (1 - z) * n + z * h


# -- a whole sequence ---------------------------------------------------------------------

def rnn(
    x: Float[Tensor, "... T d_in"], h0: Float[Tensor, "... d"],
    w_ih: Float[Tensor, "d d_in"], w_hh: Float[Tensor, "d d"], b: Float[Tensor, "d"],
) -> tuple[Float[Tensor, "... T d"], Float[Tensor, "... d"]]:
    """Plain tanh recurrence; b is the sum of torch's two biases.

    Returns (all states, last state). Raises TypeError for mixed or integer dtypes, ValueError for wrong shapes.
    """
    _check_cell(1, x, w_ih, w_hh, states={"h0": h0}, biases={"b": b})
    h = _start(h0, x)
    states = []
    for x_t in x.unbind(-2):
        h = rnn_step(h, x_t, w_ih, w_hh, b)
        states.append(h)
    return _stack(states, x, h), h


def lstm(
    x: Float[Tensor, "... T d_in"], h0: Float[Tensor, "... d"], c0: Float[Tensor, "... d"],
    w_ih: Float[Tensor, "4d d_in"], w_hh: Float[Tensor, "4d d"], b_ih: Float[Tensor, "4d"], b_hh: Float[Tensor, "4d"],
) -> tuple[Float[Tensor, "... T d"], tuple[Float[Tensor, "... d"], Float[Tensor, "... d"]]]:
    """Long short-term memory with torch's gate order i, f, g, o and its two biases.

    Returns (all h, (last h, last c)). Raises TypeError for mixed or integer dtypes, ValueError for wrong shapes.
    """
    _check_cell(4, x, w_ih, w_hh, states={"h0": h0, "c0": c0}, biases={"b_ih": b_ih, "b_hh": b_hh})
    h, c = _start(h0, x), _start(c0, x)
    outputs = []
    for x_t in x.unbind(-2):
        h, c = lstm_step(h, c, x_t, w_ih, w_hh, b_ih, b_hh)
        outputs.append(h)
    return _stack(outputs, x, h), (h, c)


def gru(
    x: Float[Tensor, "... T d_in"], h0: Float[Tensor, "... d"],
    w_ih: Float[Tensor, "3d d_in"], w_hh: Float[Tensor, "3d d"], b_ih: Float[Tensor, "3d"], b_hh: Float[Tensor, "3d"],
) -> tuple[Float[Tensor, "... T d"], Float[Tensor, "... d"]]:
    """Gated recurrent unit with torch's gate order r, z, n and its two biases.

    Returns (all states, last state). Raises TypeError for mixed or integer dtypes, ValueError for wrong shapes.
    """
    _check_cell(3, x, w_ih, w_hh, states={"h0": h0}, biases={"b_ih": b_ih, "b_hh": b_hh})
    h = _start(h0, x)
    states = []
    for x_t in x.unbind(-2):
        h = gru_step(h, x_t, w_ih, w_hh, b_ih, b_hh)
        states.append(h)
    return _stack(states, x, h), h


def last_real_state(states: Float[Tensor, "... T d"], lengths: Sequence[int] | Tensor) -> Float[Tensor, "... d"]:
    """The state at the last real step of each padded sequence, not the one after the padding ran through the cell.

    lengths: one whole number in 1..T per batch item. Raises TypeError or ValueError if they are something else.
    """
    _checks.float_tensor("states", states, min_dim=2)
    lengths = torch.as_tensor(lengths, device=states.device)
    if lengths.is_floating_point() or lengths.dtype == torch.bool:
        raise TypeError(f"lengths is {_checks.describe(lengths)}; expected whole numbers")
    _checks.shape("lengths", lengths, f"{tuple(states.shape[:-2])}, one per batch item",
                  lengths.shape == states.shape[:-2])
    if ((lengths < 1) | (lengths > states.shape[-2])).any():
        raise ValueError(f"lengths has values {lengths.tolist()}; expected each in 1..{states.shape[-2]}")
    place = (lengths.long() - 1)[..., None, None].expand(*lengths.shape, 1, states.shape[-1])
    return states.gather(-2, place).squeeze(-2)


def _start(state, x):
    """The first state, given to every batch item."""
    return state.expand(*x.shape[:-2], state.shape[-1])


def _stack(states, x, h):
    """(..., T, d) from T states; with no step at all, an empty tensor."""
    return torch.stack(states, -2) if states else h.new_empty(*x.shape[:-2], 0, h.shape[-1])


def _check_cell(gates, x, w_ih, w_hh, states, biases):
    """Dtypes and shapes of a recurrent cell; d is the width of w_hh."""
    _checks.float_tensor("x", x, min_dim=2)
    for name, t in {"w_ih": w_ih, "w_hh": w_hh}.items():
        _checks.float_tensor(name, t, min_dim=2)
    for name, t in {**states, **biases}.items():
        _checks.float_tensor(name, t, min_dim=1)
    _checks.same_dtype(x=x, w_ih=w_ih, w_hh=w_hh, **states, **biases)
    d, rows = w_hh.shape[-1], gates * w_hh.shape[-1]
    _checks.shape("w_hh", w_hh, f"({rows}, {d}): {gates} gates of {d} rows", tuple(w_hh.shape) == (rows, d))
    _checks.shape("w_ih", w_ih, f"({rows}, {x.shape[-1]}), the width of x", tuple(w_ih.shape) == (rows, x.shape[-1]))
    for name, t in biases.items():
        _checks.shape(name, t, f"({rows},)", tuple(t.shape) == (rows,))
    for name, t in states.items():
        _checks.shape(name, t, f"({d},) or {(*x.shape[:-2], d)}", tuple(t.shape) in ((d,), (*x.shape[:-2], d)))


# -- gradients through time ---------------------------------------------------------------

def gradient_through_time(step: Step, h0: Float[Tensor, "d"], inputs: Sequence[Tensor]) -> Float[Tensor, "T+1"]:
    """How strongly the last state still depends on each earlier one: ||d h_T / d h_t|| for t = 0..T, by autograd.

    step(h, x) -> next h, for example `lambda h, x: rnn_step(h, x, w_ih, w_hh, b)`; h0 (d,); inputs: x_1..x_T.
    The norm is the largest singular value: the most that a small change of h_t can be magnified.
    The last entry is 1. product_through_time gives the same numbers by the chain rule.
    """
    h = h0.detach().requires_grad_()
    states = [h]
    for x in inputs:
        h = step(h, x)
        states.append(h)
    eye = torch.eye(len(h0), dtype=h0.dtype)
    jacobians = torch.autograd.grad(states[-1] * 1, states, eye, is_grads_batched=True)
    return torch.stack([torch.linalg.matrix_norm(j, 2) for j in jacobians])


def step_jacobians(step: Step, h0: Float[Tensor, "d"], inputs: Sequence[Tensor]) -> Float[Tensor, "T d d"]:
    """The Jacobian d h_t / d h_{t-1} of each step: entry [t, i, j] says how unit i follows unit j."""
    h, jacobians = h0.detach(), []
    for x in inputs:
        jacobians.append(torch.func.jacrev(step)(h, x))
        h = step(h, x).detach()
    return torch.stack(jacobians) if jacobians else h0.new_empty(0, len(h0), len(h0))


def product_through_time(jacobians: Float[Tensor, "T d d"]) -> Float[Tensor, "T+1"]:
    """||J_T ... J_{t+1}|| for t = 0..T: the chain rule of gradient_through_time, multiplied from the end."""
    product = torch.eye(jacobians.shape[-1], dtype=jacobians.dtype)
    norms = [torch.linalg.matrix_norm(product, 2)]
    for j in jacobians.flip(0):
        product = product @ j
        norms.append(torch.linalg.matrix_norm(product, 2))
    return torch.stack(norms[::-1])


def spectral_radius(w: Float[Tensor, "d d"]) -> float:
    """Largest absolute eigenvalue: what decides, in the long run, whether powers of w vanish or explode.

    It decides only when every step has the same factor; raises ValueError if w is not square.
    """
    _checks.float_tensor("w", w, min_dim=2)
    _checks.shape("w", w, "a square matrix (d, d)", w.dim() == 2 and w.shape[0] == w.shape[1])
    return torch.linalg.eigvals(w).abs().max().item()


# -- linear recurrences need no relay -----------------------------------------------------

def linear_recurrence(a: Float[Tensor, "... T d"], b: Float[Tensor, "... T d"]) -> Float[Tensor, "... T d"]:
    """h_t = a_t h_{t-1} + b_t with h_0 = 0, elementwise, one step after the other: T dependent steps."""
    _check_linear(a, b)
    h, states = torch.zeros_like(b.select(-2, 0)) if b.shape[-2] else b, []
    for a_t, b_t in zip(a.unbind(-2), b.unbind(-2), strict=True):
        h = a_t * h + b_t
        states.append(h)
    return torch.stack(states, -2) if states else b.clone()


def linear_scan(a: Float[Tensor, "... T d"], b: Float[Tensor, "... T d"]) -> tuple[Float[Tensor, "... T d"], int]:
    """The same states by an associative scan. Returns (states, rounds), rounds = log2(T) rounded up.

    Each place holds the map h -> a h + b of the steps gathered so far; a round composes it with the map `reach`
    places before it, all places at once. Source: Hillis and Steele 1986; Martin and Cundy 2018.
    """
    _check_linear(a, b)
    reach, rounds = 1, 0
    while reach < b.shape[-2]:
        late_a, late_b = a[..., reach:, :], b[..., reach:, :]
        early_a, early_b = a[..., :-reach, :], b[..., :-reach, :]
        a = torch.cat([a[..., :reach, :], late_a * early_a], -2)
        b = torch.cat([b[..., :reach, :], late_a * early_b + late_b], -2)
        reach, rounds = 2 * reach, rounds + 1
    return b.clone() if rounds == 0 else b, rounds


def _check_linear(a, b):
    for name, t in (("a", a), ("b", b)):
        _checks.float_tensor(name, t, min_dim=2)
    _checks.same_dtype(a=a, b=b)
    _checks.shape("a", a, f"{tuple(b.shape)}, the shape of b", a.shape == b.shape)
