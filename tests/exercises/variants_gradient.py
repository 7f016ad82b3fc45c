"""gradient_first_state: right variants, and wrong solutions with a fragment of the message that each must get."""

import numpy as np
import torch
from solutions_routing import STARTERS, solution


def autograd(states, grads, w_hh):
    """Through torch's own backward pass: rebuild the net so that its states are the ones given."""
    d = states.shape[-1]
    h0 = torch.zeros(*states.shape[:-2], d, dtype=torch.float64, requires_grad=True)
    h, loss = h0, 0.0
    for t in range(states.shape[-2]):
        before = torch.atanh(states[..., t, :].double())
        h = torch.tanh(before + (h - h.detach()) @ w_hh.double())
        loss = loss + (h * grads[..., t, :]).sum()
    return torch.autograd.grad(loss, h0)[0]


def jacobians(states, grads, w_hh):
    total = 0
    for last in range(states.shape[-2]):
        g = grads[..., last, :]
        for t in range(last, -1, -1):
            g = torch.einsum("...i,...ji->...j", g, w_hh * (1 - states[..., t, None, :] ** 2))
        total = total + g
    return total


def numpy_gradient(states, grads, w_hh):
    states, grads, w_hh = np.asarray(states), np.asarray(grads), np.asarray(w_hh)
    g = np.zeros_like(grads[..., 0, :])
    for t in reversed(range(states.shape[-2])):
        g = ((g + grads[..., t, :]) * (1 - states[..., t, :] ** 2)) @ w_hh.T
    return g


def back(slope=lambda h: 1 - h ** 2, matrix=lambda w: w.T, order=lambda T: range(T - 1, -1, -1),
         add=lambda g, d: g + d):
    def gradient(states, grads, w_hh):
        g = torch.zeros_like(grads[..., 0, :])
        for t in order(states.shape[-2]):
            g = add(g, grads[..., t, :]) * slope(states[..., t, :]) @ matrix(w_hh)
        return g
    return gradient


def only_last(states, grads, w_hh):
    g = grads[..., -1, :]
    for t in range(states.shape[-2] - 1, -1, -1):
        g = (g * (1 - states[..., t, :] ** 2)) @ w_hh.T
    return g


def stops_early(states, grads, w_hh):
    g = grads[..., -1, :]
    for t in range(states.shape[-2] - 1, 0, -1):
        g = (g * (1 - states[..., t, :] ** 2)) @ w_hh.T + grads[..., t - 1, :]
    return g


def other_slope(states, grads, w_hh):
    g = torch.zeros_like(grads[..., 0, :])
    for t in range(states.shape[-2] - 1, -1, -1):
        g = ((g + grads[..., t, :]) * (1 - states[..., t - 1, :] ** 2)) @ w_hh.T
    return g


def matrix_first(states, grads, w_hh):
    g = torch.zeros_like(grads[..., 0, :])
    for t in range(states.shape[-2] - 1, -1, -1):
        g = ((g + grads[..., t, :]) @ w_hh.T) * (1 - states[..., t, :] ** 2)
    return g


RIGHT = {
    "solution": solution("gradient_first_state"),
    "autograd": autograd,
    "path by path, einsum": jacobians,
    "numpy array": numpy_gradient,
    "float64": lambda *args: back()(*(a.double() for a in args)),
    "requires grad": lambda *args: back()(*(a.clone().requires_grad_() for a in args)),
    "list": lambda *args: back()(*args).tolist(),
    "extra batch axis": lambda s, g, w: back()(s[None], g[None], w),
}

WRONG = {
    "starter": (solution("gradient_first_state", STARTERS), "tanh is applied again"),
    "starter, slope repaired": (back(order=range), "walk goes forward in time"),
    "starter, order repaired": (back(slope=lambda h: 1 - h.tanh() ** 2), "tanh is applied again"),
    "no slope": (back(slope=lambda h: 1), "derivative of tanh is missing"),
    "no square": (back(slope=lambda h: 1 - h), "square in the derivative"),
    "sigmoid": (back(slope=lambda h: h * (1 - h)), "derivative of the sigmoid"),
    "not transposed": (back(matrix=lambda w: w), "recurrent matrix is not transposed"),
    "matrix first": (matrix_first, "matrix and derivative are in the wrong order"),
    "only the last": (only_last, "sum over steps is forgotten"),
    "detached": (back(add=lambda g, d: d), "chain is cut"),
    "stops early": (stops_early, "walk stops at the first state"),
    "last step left out": (back(order=lambda T: range(T - 1, 0, -1)), "walk stops at the first state"),
    "other slope": (other_slope, "derivative is taken at the step before"),
    "mean": (lambda s, g, w: back()(s, g, w) / s.shape[-2], "mean over steps"),
    "length": (lambda *args: back()(*args).norm(dim=-1), "length of the gradient"),
    "sign": (lambda *args: -back()(*args), "The largest error is"),
    "constant": (lambda s, g, w: torch.full((*s.shape[:-2], 4), 0.1), "a constant"),
    "all steps": (lambda s, g, w: torch.cat([g, g], -2), "has shape (2, 4), expected (4,)"),
}
