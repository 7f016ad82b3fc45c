"""Chapter 1: each check names the mistakes of its wrong solutions and accepts every right variant, in 20 draws."""

import math
import re

import numpy as np
import pytest
import torch
from solutions_routing import SOLUTIONS, STARTERS

from attnbook.exercises import _report, routing
from attnbook.exercises._exercise import fresh_generator

DRAWS = 20
MODULES = {module.EXERCISE.name: module for module in (
    routing.weights, routing.recurrence, routing.gradient, routing.paths, routing.visibility, routing.memory)}
RIGHT, WRONG = {}, {}


def solution(name, source=SOLUTIONS):
    space = {"torch": torch, "math": math}
    exec(source[name], space)
    return space[name]


def numpy_softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# -- attention_weights -----------------------------------------------------------------------

def weights(softmax=lambda s: torch.softmax(s, -1), hide=lambda s, m: s.masked_fill(~m, -torch.inf), after=None):
    def attention_weights(scores, mask=None):
        w = softmax(scores if mask is None or after else hide(scores, mask))
        return after(w, mask) if after and mask is not None else w
    return attention_weights


def by_sum(axis=-1, shift=lambda s: s.amax(-1, keepdim=True)):
    def softmax(s):
        e = torch.exp(s - shift(s))
        return e / e.sum(axis, keepdim=axis is not None)
    return softmax


def where_late(scores, mask=None):
    if mask is None:
        return torch.softmax(scores, -1)
    peak = scores.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True)
    e = torch.where(mask, torch.exp(scores - peak), torch.zeros(()))
    return e / e.sum(-1, keepdim=True)


def row_by_row(scores, mask=None):
    if scores.ndim > 2:
        return [row_by_row(part, mask) for part in scores]
    visible = [[True] * len(scores[0])] * len(scores) if mask is None else mask.tolist()
    result = []
    for row, seen in zip(scores.tolist(), visible):
        top = max(s for s, m in zip(row, seen) if m)
        e = [math.exp(s - top) if m else 0.0 for s, m in zip(row, seen)]
        result.append([x / sum(e) for x in e])
    return result


def numpy_weights(scores, mask=None):
    s = np.asarray(scores)
    return numpy_softmax(s if mask is None else np.where(np.asarray(mask), s, -np.inf))


def numpy_only(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    scores = scores.astype(np.float64)
    return numpy_softmax(scores)


def masked_renormalised(scores, mask=None):
    w = torch.softmax(scores, -1)
    if mask is not None:
        w = w * mask
        w = w / (w.sum(-1, keepdim=True) + 1e-9)
    return w


RIGHT["attention_weights"] = {
    "solution": solution("attention_weights"),
    "torch softmax": weights(),
    "float64": lambda s, m=None: weights()(s.double(), m),
    "numpy array": numpy_weights,
    "numpy only": numpy_only,
    "nested lists": row_by_row,
    "requires grad": lambda s, m=None: weights()(s.clone().requires_grad_(), m),
    "extra batch axis": lambda s, m=None: weights()(s[None], m),
    "logsumexp": weights(lambda s: torch.exp(s - torch.logsumexp(s, -1, keepdim=True))),
    "-1e9 for minus infinity": weights(hide=lambda s, m: s.masked_fill(~m, -1e9)),
    "mask added": weights(hide=lambda s, m: s + torch.zeros(m.shape).masked_fill(~m, -torch.inf)),
    "einsum": weights(lambda s: torch.einsum("...ls,...l->...ls", torch.exp(s - s.amax(-1, keepdim=True)),
                                             1 / torch.exp(s - s.amax(-1, keepdim=True)).sum(-1))),
}

WRONG["attention_weights"] = {
    "softmax over the queries": (weights(lambda s: torch.softmax(s, -2)), "softmax over the queries"),
    "softmax over axis 0": (weights(by_sum(0, lambda s: s.amax(0, keepdim=True))), "softmax over the queries"),
    "axis 1": (weights(lambda s: torch.softmax(s, 1)), "counted from the front"),
    "whole matrix": (weights(lambda s: torch.softmax(s.reshape(-1), 0).reshape(s.shape)), "over the whole matrix"),
    "matrix by matrix": (weights(lambda s: torch.softmax(s.flatten(-2), -1).view(s.shape)), "over the whole matrix"),
    "sum without axis": (weights(by_sum(None)), "one sum for the whole matrix"),
    "scores as they are": (lambda s, m=None: s * 1, "returned as they came"),
    "plain division": (weights(lambda s: s / s.sum(-1, keepdim=True)), "not exponentiated"),
    "exponentials only": (weights(torch.exp), "were not normalised"),
    "logarithms": (weights(lambda s: s.log_softmax(-1)), "logarithms"),
    "twice": (weights(lambda s: s.softmax(-1).softmax(-1)), "applied twice"),
    "one-hot": (weights(lambda s: torch.nn.functional.one_hot(s.argmax(-1), s.shape[-1])), "argmax"),
    "sigmoid": (weights(torch.sigmoid), "sigmoid"),
    "transposed": (weights(lambda s: torch.softmax(s, -1).transpose(-1, -2)), "transposed"),
    "no maximum": (weights(by_sum(shift=lambda s: 0)), "largest score is not subtracted"),
    "one maximum": (weights(by_sum(shift=lambda s: s.max())), "one maximum was subtracted"),
    "-inf as 0": (lambda s, m=None: weights()(torch.nan_to_num(s, neginf=0.0), m), "-inf was taken for 0"),
    "-inf minus -inf": (weights(lambda s: torch.stack([
        1 / torch.exp(s - s[..., j:j + 1]).sum(-1) for j in range(s.shape[-1])], -1)), "-inf met a 0"),
    "scaled": (weights(lambda s: torch.softmax(s / math.sqrt(s.shape[-1]), -1)), "scaled once more"),
    "0 times -inf": (lambda s, m=None: torch.softmax(s * (s > -torch.inf), -1), "-inf met a 0"),
    "no mask": (lambda s, m=None: torch.softmax(s, -1), "mask is not used"),
    "inverted": (weights(hide=lambda s, m: s.masked_fill(m, -torch.inf)), "mask is inverted"),
    "mask after softmax": (weights(after=lambda w, m: w * m), "mask is applied after the softmax"),
    "zeroed after softmax": (weights(after=lambda w, m: w.masked_fill(~m, 0)), "mask is applied after the softmax"),
    "score 0": (weights(hide=lambda s, m: s * m), "hidden scores are set to 0"),
    "score -5": (weights(hide=lambda s, m: s.masked_fill(~m, -5)), "stand-in for minus infinity"),
    "mask added as numbers": (weights(hide=lambda s, m: s + m), "mask was added as it is"),
    "-inf after softmax": (weights(after=lambda w, m: w.masked_fill(~m, -torch.inf)), "minus infinity came after"),
    "causal": (weights(hide=lambda s, m: s.masked_fill(torch.ones(s.shape[-2:]).triu(1) > 0, -torch.inf)), "causal"),
    "-100": (weights(hide=lambda s, m: s.masked_fill(~m, -100)), "stand-in for minus infinity"),
    "minus 10000": (weights(hide=lambda s, m: s - 1e4 * ~m), "stand-in for minus infinity"),
    "renormalised": (masked_renormalised, "mask comes too late"),
    "maximum over hidden keys": (lambda s, m=None: torch.softmax(s, -1) if m is None else (
        lambda e: e / e.sum(-1, keepdim=True))(torch.exp(s - s.amax(-1, keepdim=True)) * m), "mask comes too late"),
    "where after exp": (where_late, "branch not taken"),
    "no mask argument": (lambda s: torch.softmax(s, -1), "does not take these arguments"),
    "float16": (lambda s, m=None: torch.softmax(s, -1).half(), "float16"),
    "whole numbers": (lambda s, m=None: torch.softmax(s, -1).long(), "int64"),
    "constant": (lambda s, m=None: torch.full(s.shape, 0.2), "a constant"),
    "something else": (weights(lambda s: torch.softmax(s ** 3, -1)), "The largest error is"),
    "one row only": (weights(lambda s: torch.softmax(s, -1)[..., 0, :]), "has shape (5,), expected (3, 5)"),
}


# -- rnn_states ------------------------------------------------------------------------------

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


RIGHT["rnn_states"] = {
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

WRONG["rnn_states"] = {
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


# -- gradient_first_state --------------------------------------------------------------------

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


RIGHT["gradient_first_state"] = {
    "solution": solution("gradient_first_state"),
    "autograd": autograd,
    "path by path, einsum": jacobians,
    "numpy array": numpy_gradient,
    "float64": lambda *args: back()(*(a.double() for a in args)),
    "requires grad": lambda *args: back()(*(a.clone().requires_grad_() for a in args)),
    "list": lambda *args: back()(*args).tolist(),
    "extra batch axis": lambda s, g, w: back()(s[None], g[None], w),
}

WRONG["gradient_first_state"] = {
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


# -- path_length -----------------------------------------------------------------------------

def path(itself=0, **kinds):
    """A solution with some kinds replaced: kinds map (distance, window) to an answer; backward ones end in _back."""
    def path_length(kind, source, target, window):
        distance = target - source
        if distance == 0:
            return itself
        forward = {"chain": lambda d, w: d, "all": lambda d, w: 1, "causal": lambda d, w: 1,
                   "window": lambda d, w: -(-d // (w - 1))}
        backward = {"chain": lambda d, w: None, "all": lambda d, w: 1, "causal": lambda d, w: None,
                    "window": lambda d, w: None}
        if distance > 0:
            return kinds.get(kind, forward[kind])(distance, window)
        return kinds.get(f"{kind}_back", backward[kind])(distance, window)
    return path_length


def by_search(kind, source, target, window):
    """Breadth first over an explicit graph, nothing known about formulas."""
    size = max(source, target) + 1
    sees = {"chain": lambda i, j: i - j in (0, 1), "all": lambda i, j: True, "causal": lambda i, j: j <= i,
            "window": lambda i, j: 0 <= i - j < window}[kind]
    reached = {source}
    for hops in range(size + 1):
        if target in reached:
            return hops
        reached |= {i for i in range(size) if any(sees(i, j) for j in reached)}
    return math.inf


RIGHT["path_length"] = {
    "solution": solution("path_length"),
    "search, infinity": by_search,
    "numpy number": lambda *args: np.float64(by_search(*args)),
    "numpy array": lambda *args: np.array([by_search(*args)]),
    "tensor": lambda *args: torch.tensor(by_search(*args), dtype=torch.float64, requires_grad=True),
    "float": lambda *args: None if by_search(*args) == math.inf else float(by_search(*args)),
    "list": lambda *args: [by_search(*args)],
}

WRONG["path_length"] = {
    "words": (path(chain=lambda d, w: d + 1), "words were counted"),
    "words between": (path(chain=lambda d, w: d - 1), "words in between"),
    "chain 1": (path(chain=lambda d, w: 1), "one hop for a chain"),
    "all by distance": (path(all=lambda d, w: d), "distance counted for attention"),
    "causal by distance": (path(causal=lambda d, w: d), "distance counted for attention"),
    "ceil by width": (path(window=lambda d, w: math.ceil(d / w)), "moves by its whole width"),
    "floor by width": (path(window=lambda d, w: d // w), "moves by its whole width"),
    "rounded down": (path(window=lambda d, w: d // (w - 1)), "a part of a hop"),
    "fraction": (path(window=lambda d, w: d / (w - 1)), "a part of a hop"),
    "one added": (path(window=lambda d, w: d // (w - 1) + 1), "rounded down and one added"),
    "window hides": (path(window=lambda d, w: None if d >= w else 1), "hides what lies outside"),
    "window by distance": (path(window=lambda d, w: d), "distance counted for a window"),
    "window 1": (path(window=lambda d, w: 1), "one hop for a window"),
    "way back": (path(chain_back=lambda d, w: -d), "a way back from the future"),
    "causal way back": (path(causal_back=lambda d, w: 1), "a way back from the future"),
    "negative": (path(chain_back=lambda d, w: d), "a negative length"),
    "zero for none": (path(causal_back=lambda d, w: 0), "0 or -1 for no way"),
    "-1 for none": (path(chain_back=lambda d, w: -1), "0 or -1 for no way"),
    "none back at all": (path(all_back=lambda d, w: None), "although nothing is masked"),
    "to itself 1": (path(itself=1), "a hop to itself"),
    "to itself none": (path(itself=None), "no way to itself"),
    "always infinity": (lambda *args: math.inf, "there is a way"),
    "constant": (lambda *args: 7, "The answer is wrong"),
    "two numbers": (lambda *args: [1, 2], "2 numbers"),
    "text": (lambda *args: "one", "text in place of numbers"),
    "NaN": (lambda *args: math.nan, "NaN"),
}


# -- rows_that_change ------------------------------------------------------------------------

def rows(reads=lambda mask, changed: mask[:, changed].any(1), keep=True, layers=lambda n: n):
    def rows_that_change(mask, word, n_layers):
        changed = torch.zeros(len(mask), dtype=torch.bool)
        changed[word] = True
        for _ in range(layers(n_layers)):
            new = reads(mask, changed)
            changed = new | changed if keep else new
        return changed
    return rows_that_change


def matrix_power(mask, word, n_layers):
    reach = np.linalg.matrix_power(np.asarray(mask).astype(int) + np.eye(len(mask), dtype=int), n_layers)
    return reach[:, word] > 0


def by_sets(mask, word, n_layers):
    found = {word}
    for _ in range(n_layers):
        found |= {i for i in range(len(mask)) for j in found if mask[i][j]}
    return [i in found for i in range(len(mask))]


RIGHT["rows_that_change"] = {
    "solution": solution("rows_that_change"),
    "matrix power, numpy": matrix_power,
    "list of booleans": by_sets,
    "zeros and ones": lambda *args: rows()(*args).long(),
    "float64 with gradient": lambda *args: rows()(*args).double().requires_grad_(),
    "einsum": rows(lambda mask, changed: torch.einsum("ij,j->i", mask.float(), changed.float()) > 0),
    "extra batch axis": lambda *args: rows()(*args)[None],
}

WRONG["rows_that_change"] = {
    "starter": (solution("rows_that_change", STARTERS), "row of the mask was read"),
    "starter, column repaired": (rows(keep=False), "word itself is left out"),
    "starter, stream repaired": (rows(lambda mask, changed: mask[changed].any(0)), "row of the mask was read"),
    "inverted": (rows(lambda mask, changed: (~mask)[:, changed].any(1)), "the other way round"),
    "one layer": (rows(layers=lambda n: 1), "one layer only"),
    "one layer more": (rows(layers=lambda n: n + 1), "one layer too many"),
    "all": (lambda m, *rest: torch.ones(len(m), dtype=torch.bool), "every row changes"),
    "itself": (rows(layers=lambda n: 0), "only the word itself"),
    "none": (lambda m, *rest: [False] * len(m), "nothing changes"),
    "numbers of the rows": (lambda *args: rows()(*args).nonzero().flatten(), "not word numbers"),
    "a square": (lambda m, *rest: m & m, "has shape (6, 6), expected (6,)"),
    "NaN": (lambda m, *rest: [math.nan] * len(m), "numbers other than 0 and 1"),
}


# -- retrieve --------------------------------------------------------------------------------

def unit(x, axis=-1):
    return x / x.norm(dim=axis, keepdim=True)


def read(score=lambda q, k: unit(q) @ unit(k).T, weigh=lambda s, t: torch.softmax(s / t, -1),
         mix=lambda w, k, v: w @ v):
    return lambda query, keys, values, temperature: mix(weigh(score(query, keys), temperature), keys, values)


def numpy_read(query, keys, values, temperature):
    q, k, v = (np.asarray(a, dtype=np.float64) for a in (query, keys, values))
    cosine = q @ k.T / np.linalg.norm(q, axis=-1)[..., None] / np.linalg.norm(k, axis=-1)
    return numpy_softmax(cosine / temperature) @ v


def numpy_only_read(query, keys, values, temperature):
    keys = keys / np.linalg.norm(keys, axis=1, keepdims=True)
    query = (query / np.linalg.norm(query, axis=-1, keepdims=True)).astype(np.float64)
    return numpy_softmax(query @ keys.T / temperature) @ values


def by_attention(query, keys, values, temperature):
    from attnbook.attention import attention

    one = query.dim() == 1
    out, _ = attention(unit(query[None] if one else query), unit(keys), values, scale=1 / temperature)
    return out[0] if one else out


RIGHT["retrieve"] = {
    "solution": solution("retrieve"),
    "the book's attention": by_attention,
    "cosine_similarity": read(lambda q, k: torch.cosine_similarity(q[..., None, :], k, dim=-1)),
    "numpy array": numpy_read,
    "numpy only": numpy_only_read,
    "float64": lambda q, k, v, t: read()(q.double(), k.double(), v.double(), t),
    "requires grad": lambda q, k, v, t: read()(q.clone().requires_grad_(), k, v, t),
    "list": lambda *args: read()(*args).tolist(),
    "einsum": read(lambda q, k: torch.einsum("...d,nd->...n", unit(q), unit(k)),
                   mix=lambda w, k, v: torch.einsum("...n,nv->...v", w, v)),
    "extra batch axis": lambda q, k, v, t: read()(q[None], k, v, t),
    "query after key": read(lambda q, k: (unit(k) @ unit(q).mT).mT if q.dim() > 1 else unit(k) @ unit(q)),
}

WRONG["retrieve"] = {
    "keys blended": (read(mix=lambda w, k, v: w @ k), "keys were blended"),
    "weights": (read(mix=lambda w, k, v: w), "weights were returned"),
    "scores": (lambda q, k, v, t: unit(q) @ unit(k).T, "scores were returned"),
    "no softmax": (read(weigh=lambda s, t: s / t), "scores in place of weights"),
    "argmax": (lambda q, k, v, t: v[(unit(q) @ unit(k).T).argmax(-1)], "best memory was returned alone"),
    "mean": (lambda q, k, v, t: v.mean(0).expand(*q.shape[:-1], -1), "count the same"),
    "softmax of the values": (lambda q, k, v, t: read()(q, k, v.softmax(-1), t), "softmax over the features"),
    "softmax of the blend": (lambda *args: read()(*args).softmax(-1), "softmax over the features"),
    "root of d": (read(lambda q, k: unit(q) @ unit(k).T / math.sqrt(q.shape[-1])), "root of the width"),
    "not normalised": (read(weigh=lambda s, t: torch.exp(s / t)), "weights were not normalised"),
    "softmax over queries": (read(weigh=lambda s, t: (s / t).softmax(0 if s.dim() > 1 else -1)), "over the queries"),
    "one blend": (lambda q, *rest: read()(q, *rest).mean(0) if q.dim() > 1 else read()(q, *rest), "blended into one"),
    "T multiplied": (read(weigh=lambda s, t: torch.softmax(s * t, -1)), "multiplied by the temperature"),
    "T ignored": (read(weigh=lambda s, t: torch.softmax(s, -1)), "temperature is not used"),
    "T after": (read(weigh=lambda s, t: torch.softmax(s, -1) / t), "acts after the softmax"),
    "T of weights": (read(weigh=lambda s, t: torch.softmax(s.softmax(-1) / t, -1)), "acts after the softmax"),
    "T squared": (read(weigh=lambda s, t: torch.softmax(s / t ** 2, -1)), "square or the root"),
    "dot product": (read(lambda q, k: q @ k.T), "vectors were not normalised"),
    "query only": (read(lambda q, k: unit(q) @ k.T), "only the query"),
    "keys only": (read(lambda q, k: q @ unit(k).T), "only the keys"),
    "wrong axis": (read(lambda q, k: unit(q) @ unit(k, 0).T), "along the wrong axis"),
    "overflow": (read(weigh=lambda s, t: torch.exp(s / t) / torch.exp(s / t).sum(-1, keepdim=True)),
                 "largest score is not subtracted"),
    "distance": (read(lambda q, k: -(unit(q)[..., None, :] - unit(k)).norm(dim=-1)), "The largest error is"),
    "constant": (lambda q, k, v, t: torch.full((*q.shape[:-1], 4), 0.3), "a constant"),
}


# -- the tests -------------------------------------------------------------------------------

def pairs(table):
    return [pytest.param(name, label, id=f"{name}-{label}") for name in table for label in table[name]]


def check_of(name):
    return getattr(routing, f"check_{name}")


@pytest.mark.parametrize("name, label", pairs(RIGHT))
def test_right_variants_pass(said, name, label):
    for _ in range(DRAWS):
        assert said(check_of(name), RIGHT[name][label]).startswith(f"{name}: passed")


@pytest.mark.parametrize("name, label", pairs(WRONG))
def test_wrong_solutions_are_named(said, name, label):
    fn, fragment = WRONG[name][label]
    for _ in range(DRAWS):
        text = said(check_of(name), fn)
        assert fragment in text
        assert text.startswith(f"{name}: not right yet. Input: ")


def test_a_wrong_solution_in_numpy_is_named_too(said):
    def over_the_queries(scores, mask=None):
        e = np.exp(scores - scores.max(0, keepdims=True))  # torch's max returns a pair: only arrays will do
        return e / e.sum(0, keepdims=True)

    assert "softmax over the queries" in said(routing.check_attention_weights, over_the_queries)


@pytest.mark.parametrize("name", MODULES)
def test_lists_are_long_enough(name):
    assert len(RIGHT[name]) >= 4 and len(WRONG[name]) >= 5
    assert set(MODULES) == set(RIGHT) == set(WRONG) == set(SOLUTIONS) == set(STARTERS)
    assert set(routing.__all__) == {f"check_{name}" for name in MODULES}


@pytest.mark.parametrize("name", MODULES)
def test_every_named_mistake_is_made_by_some_wrong_solution(name):
    """A mistake that no wrong solution gets would be untested data."""
    told = " | ".join(_report.message(MODULES[name].EXERCISE, fn) for fn, _ in WRONG[name].values())
    unused = [mistake.name for mistake in MODULES[name].MISTAKES if mistake.name not in told]
    assert not unused


@pytest.mark.parametrize("name, label", pairs(WRONG))
def test_messages_give_neither_numbers_nor_solution(monkeypatch, name, label):
    exercise = MODULES[name].EXERCISE
    fn, _ = WRONG[name][label]
    seed = fresh_generator().initial_seed() % 2 ** 31
    monkeypatch.setattr(_report, "fresh_generator", lambda: torch.Generator().manual_seed(seed))
    cases = exercise.cases(torch.Generator().manual_seed(seed))
    text = _report.message(exercise, fn)
    for line in SOLUTIONS[name].splitlines():
        assert len(line.strip()) < 12 or line.strip() not in text
    for case in cases:
        text = text.replace(case.what, "").replace(exercise.convention, "")
    told = {float(number) for number in re.findall(r"\d+\.\d+", text)}
    if name == "path_length":
        told = {float(number) for number in re.findall(r"\d+", text)} - {0.0, 1.0}
    for case in cases:
        for number in case.answer(exercise.right, exercise.read).flatten().tolist():
            assert math.isinf(number) or all(abs(value - number) > 5e-3 * max(abs(number), 1e-3) for value in told)


@pytest.mark.parametrize("name", MODULES)
def test_starters_say_the_same_in_every_run(said, name):
    starter = solution(name, STARTERS)
    texts = {said(check_of(name), starter) for _ in range(DRAWS)}
    assert len(texts) == 1
    assert texts.pop().startswith(f"{name}: not ")


@pytest.mark.parametrize("name", MODULES)
def test_passing_says_the_same_in_every_run(said, name):
    assert len({said(check_of(name), solution(name)) for _ in range(DRAWS)}) == 1


@pytest.mark.parametrize("name", MODULES)
def test_replayed_answers_fail(said, name):
    """The right answers of one run are constants in the next."""
    exercise = MODULES[name].EXERCISE
    answers = iter([case.answer(exercise.right, exercise.read) for case in exercise.cases(fresh_generator())] * 4)
    assert "not right yet" in said(check_of(name), lambda *args: next(answers))


@pytest.mark.parametrize("name", MODULES)
def test_sizes_of_tensor_arguments_differ(name):
    """Equal sizes would hide a swapped axis; the square recurrent matrix and the square mask are square by nature."""
    if name in ("path_length", "rows_that_change"):
        return
    shapes = [case.args[0].shape for case in MODULES[name].EXERCISE.cases(fresh_generator())]
    assert all(len(set(shape)) == len(shape) for shape in shapes)
    assert max(map(len, shapes)) > min(map(len, shapes))  # a batch too


def test_the_oracle_agrees_with_torch():
    """Our own right functions, against torch's kernels and its backward pass."""
    others = {"attention_weights": weights(), "rnn_states": torch_module, "gradient_first_state": autograd,
              "path_length": by_search, "rows_that_change": matrix_power, "retrieve": by_attention}
    for name, other in others.items():
        exercise = MODULES[name].EXERCISE
        for case in exercise.cases(fresh_generator()):
            got, want = exercise.read(other(*case.copies())), exercise.read(exercise.right(*case.copies()))
            assert torch.allclose(got, want, rtol=1e-4, atol=1e-5), (name, case.stage)
