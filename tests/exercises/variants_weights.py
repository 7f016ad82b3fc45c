"""attention_weights: right variants, and wrong solutions with a fragment of the message that each must get."""

import math

import numpy as np
import torch
from solutions_routing import solution


def numpy_softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


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


RIGHT = {
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

WRONG = {
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
