"""Chapter 1: the starter of each exercise, as a reader meets it, and one solution; the notebook shows the same."""

import math

import torch

STARTERS = {}
SOLUTIONS = {}

STARTERS["attention_weights"] = '''
def attention_weights(scores, mask=None):
    """scores (..., L, S), mask boolean (L, S), True = may attend -> weights (..., L, S)."""
    # Each query (row) shares out 1 among the keys it may see.
'''

SOLUTIONS["attention_weights"] = '''
def attention_weights(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    e = torch.exp(scores - scores.amax(-1, keepdim=True))  # (..., L, S)
    return e / e.sum(-1, keepdim=True)
'''

STARTERS["rnn_states"] = '''
def rnn_states(x, h0, w_ih, w_hh, b):
    """x (..., T, d_in), h0 (..., d), w_ih (d_in, d), w_hh (d, d), b (d) -> all states (..., T, d)."""
    # h_t = tanh(x_t @ w_ih + h_(t-1) @ w_hh + b), starting from h0
'''

SOLUTIONS["rnn_states"] = '''
def rnn_states(x, h0, w_ih, w_hh, b):
    h, states = h0, []
    for t in range(x.shape[-2]):
        h = torch.tanh(x[..., t, :] @ w_ih + h @ w_hh + b)  # (..., d)
        states.append(h)
    return torch.stack(states, dim=-2)
'''

STARTERS["gradient_first_state"] = '''
def gradient_first_state(states, grads, w_hh):
    """states, grads (..., T, d), w_hh (d, d) -> gradient of the loss with respect to h_0, (..., d)."""
    g = torch.zeros_like(grads[..., 0, :])
    for t in range(states.shape[-2]):
        g = g + grads[..., t, :]                       # what the loss reads from this state
        slope = 1 - torch.tanh(states[..., t, :]) ** 2
        g = (g * slope) @ w_hh.T                       # through the tanh and the matrix, one step back
    return g
'''

SOLUTIONS["gradient_first_state"] = '''
def gradient_first_state(states, grads, w_hh):
    g = torch.zeros_like(grads[..., 0, :])
    for t in reversed(range(states.shape[-2])):        # the last step first
        g = g + grads[..., t, :]
        slope = 1 - states[..., t, :] ** 2             # the states are values of tanh already
        g = (g * slope) @ w_hh.T
    return g
'''

STARTERS["path_length"] = '''
def path_length(kind, source, target, window):
    """Hops from word `source` to the state of word `target`, or None if there is no way.

    kind: "chain", "all", "causal" or "window" (causal, the last `window` words, own word included)
    """
'''

SOLUTIONS["path_length"] = '''
def path_length(kind, source, target, window):
    if source == target:
        return 0
    if kind == "all":
        return 1
    if source > target:                                # nothing comes back from a later word
        return None
    distance = target - source
    return {"chain": distance, "causal": 1, "window": math.ceil(distance / (window - 1))}[kind]
'''

STARTERS["rows_that_change"] = '''
def rows_that_change(mask, word, n_layers):
    """mask (L, L), rows are queries, True = may attend -> (L,) True where a state can change with `word`."""
    changed = torch.arange(len(mask)) == word
    for _ in range(n_layers):
        changed = (mask[changed]).any(0)               # what the changed words have to do with
    return changed
'''

SOLUTIONS["rows_that_change"] = '''
def rows_that_change(mask, word, n_layers):
    changed = torch.arange(len(mask)) == word
    for _ in range(n_layers):
        readers = mask[:, changed].any(1)              # queries that read a changed word
        changed = changed | readers                    # the residual stream keeps what has changed
    return changed
'''

STARTERS["retrieve"] = '''
def retrieve(query, keys, values, temperature):
    """query (..., d), keys (n, d), values (n, d_v) -> the blend of the values, (..., d_v).

    Score: cosine of query and key. Weights: softmax of score / temperature over the n memories.
    """
'''

SOLUTIONS["retrieve"] = '''
def retrieve(query, keys, values, temperature):
    query = query / query.norm(dim=-1, keepdim=True)
    keys = keys / keys.norm(dim=-1, keepdim=True)
    weights = torch.softmax(query @ keys.T / temperature, dim=-1)  # (..., n)
    return weights @ values
'''


def solution(name, source=SOLUTIONS):
    """The function that a cell defines."""
    space = {"torch": torch, "math": math}
    exec(source[name], space)
    return space[name]
