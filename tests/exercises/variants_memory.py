"""retrieve: right variants, and wrong solutions with a fragment of the message that each must get."""

import math

import numpy as np
import torch
from solutions_routing import solution


def numpy_softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


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


RIGHT = {
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

WRONG = {
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
