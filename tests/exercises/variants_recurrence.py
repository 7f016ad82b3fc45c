"""rnn_states: right variants, and wrong solutions with a fragment of the message that each must get."""

import numpy as np
import torch
from solutions_routing import solution


def cell(x, h, w, u, b):
    return torch.tanh(x @ w + h @ u + b)


def rnn(step=cell, rows=slice(None), steps=lambda T: range(T), start=lambda h: h):
    def states(x, h0, w, u, b):
        h, kept = start(h0), []
        for t in steps(x.shape[-2]):
            h = step(x[..., t, :], h, w, u, b)
            kept.append(h)
        return torch.stack(kept, -2)[..., rows, :]
    return states


def torch_module(x, h0, w, u, b):
    net = torch.nn.RNN(x.shape[-1], u.shape[0], batch_first=True)
    with torch.no_grad():
        for name, value in (("weight_ih_l0", w.T), ("weight_hh_l0", u.T), ("bias_ih_l0", b), ("bias_hh_l0", 0 * b)):
            getattr(net, name).copy_(value)
    flat = x.reshape(-1, *x.shape[-2:])
    return net(flat, h0.reshape(1, -1, h0.shape[-1]))[0].reshape(*x.shape[:-1], -1)


def numpy_rnn(x, h0, w, u, b):
    x, h, w, u, b = (np.asarray(a, dtype=np.float64) for a in (x, h0, w, u, b))
    kept = []
    for t in range(x.shape[-2]):
        h = np.tanh(x[..., t, :] @ w + h @ u + b)
        kept.append(h)
    return np.stack(kept, axis=-2)


def numpy_only_rnn(x, h0, w, u, b):
    out = np.empty((*x.shape[:-1], len(b)))
    h = h0.astype(np.float64)
    for t in range(x.shape[-2]):
        out[..., t, :] = h = np.tanh(np.dot(x[..., t, :], w) + np.dot(h, u) + b)
    return out


def keeps_start(x, h0, w, u, b):
    kept = [h0]
    for t in range(x.shape[-2]):
        kept.append(cell(x[..., t, :], kept[-1], w, u, b))
    return torch.stack(kept, -2)


def forgets(x, h0, w, u, b):
    return torch.stack([cell(x[..., t, :], h0, w, u, b) for t in range(x.shape[-2])], -2)


RIGHT = {
    "solution": solution("rnn_states"),
    "torch.nn.RNN": torch_module,
    "numpy array": numpy_rnn,
    "numpy only": numpy_only_rnn,
    "float64": lambda *args: rnn()(*(a.double() for a in args)),
    "requires grad": lambda *args: rnn()(*(a.clone().requires_grad_() for a in args)),
    "list": lambda *args: rnn()(*args).tolist(),
    "einsum": rnn(lambda x, h, w, u, b: torch.tanh(
        torch.einsum("...i,ij->...j", x, w) + torch.einsum("...i,ij->...j", h, u) + b)),
    "one matrix": rnn(lambda x, h, w, u, b: torch.tanh(torch.cat([x, h], -1) @ torch.cat([w, u]) + b)),
    "extra batch axis": lambda x, h0, *rest: rnn()(x[None], h0[None], *rest),
}

WRONG = {
    "transposed": (rnn(lambda x, h, w, u, b: torch.tanh(x @ w + h @ u.T + b)), "recurrent matrix is transposed"),
    "matrix on the left": (rnn(lambda x, h, w, u, b: torch.tanh(x @ w + (u @ h[..., None])[..., 0] + b)),
                           "recurrent matrix is transposed"),
    "no memory": (lambda x, h0, w, u, b: torch.tanh(x @ w + b), "previous state is forgotten"),
    "no input": (rnn(lambda x, h, w, u, b: torch.tanh(h @ u + b)), "input is forgotten"),
    "no bias": (rnn(lambda x, h, w, u, b: torch.tanh(x @ w + h @ u)), "bias is forgotten"),
    "bias outside": (rnn(lambda x, h, w, u, b: torch.tanh(x @ w + h @ u) + b), "bias is added after"),
    "two biases": (rnn(lambda x, h, w, u, b: torch.tanh(x @ w + b + h @ u + b)), "bias is added twice"),
    "two tanh": (rnn(lambda x, h, w, u, b: cell(x, h, w, u, b).tanh()), "tanh is applied twice"),
    "tanh each": (rnn(lambda x, h, w, u, b: torch.tanh(x @ w) + torch.tanh(h @ u) + b), "its own tanh"),
    "linear": (rnn(lambda x, h, w, u, b: x @ w + h @ u + b), "tanh is missing"),
    "sigmoid": (rnn(lambda x, h, w, u, b: torch.sigmoid(x @ w + h @ u + b)), "sigmoid in place of tanh"),
    "no matrix": (rnn(lambda x, h, w, u, b: torch.tanh(x @ w + h + b)), "without its matrix"),
    "starts at 0": (rnn(start=torch.zeros_like), "first state is not used"),
    "last only": (lambda *args: rnn()(*args)[..., -1, :], "only the last state"),
    "before the update": (lambda *args: keeps_start(*args)[..., :-1, :], "off by one"),
    "with the start": (keeps_start, "start is among the states"),
    "input before": (lambda x, *rest: rnn()(torch.nn.functional.pad(x, (0, 0, 1, 0))[..., :-1, :], *rest),
                     "reads the input before it"),
    "each from the start": (forgets, "every step starts from h0"),
    "same input": (rnn(steps=lambda T: [0] * T), "reads the same input"),
    "backwards": (rnn(steps=lambda T: reversed(range(T))), "time runs backwards"),
    "reversed": (lambda *args: rnn()(*args).flip(-2), "order of the states is reversed"),
    "time first": (lambda *args: rnn()(*args).movedim(-2, 0), "time is the first axis"),
    "something else": (rnn(lambda x, h, w, u, b: cell(x, h * h, w, u, b)), "The first state is wrong already"),
    "a later step": (rnn(lambda x, h, w, u, b: cell(x, h, w, u, b).round(decimals=1)), "The largest error is"),
    "constant": (lambda x, *rest: torch.full((*x.shape[:-1], 4), 0.5), "a constant"),
    "wrong shapes": (rnn(lambda x, h, w, u, b: torch.tanh(x @ w.T + h @ u + b)), "The function raised RuntimeError"),
}
