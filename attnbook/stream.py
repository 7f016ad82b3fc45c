"""What runs along a stack: its stream recorded, and measured layer by layer (chapter 5)."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnbook import _checks


# -- the recorder ----------------------------------------------------------------------------

def record_stream(model: nn.Module | Sequence[nn.Module], x, *, layers: Sequence[nn.Module] | None = None,
                  adds: bool | None = None) -> list[Float[Tensor, "..."]]:
    """The stream of a model at input x: what enters its first layer, and what there is after each.

    model: a list of layers (nn.ModuleList, nn.Sequential or any sequence), which are run one after the other; or a
        whole model, which is called on x while its layers are watched: those of its longest ModuleList or Sequential.
    layers: name the layers of a model yourself. What enters each of them is recorded, in the order in which they run,
        and nothing after the last one: its output may be no stream at all.
    adds: whether a layer returns a change that the model adds to the stream (True), or the new stream (False).
        None finds out from the model, which takes two layers at least. Of tuples the first part counts.

    The recorded tensors are those the model computed with, so torch.autograd.grad(loss, states) gives the gradient at
    each place. A layer's output that is changed in place afterwards would be seen changed.

    Raises ValueError if there are no layers, if one of them never runs, or if `adds` cannot be found out.
    """
    if layers is not None:
        return _watch(model, x, list(layers))[0]
    if not isinstance(model, nn.Module) or isinstance(model, (nn.ModuleList, nn.Sequential)):
        return _run(list(model), x, bool(adds))
    entered, left = _watch(model, x, _layers_of(model))
    return [*entered, _after_last(entered, left, adds)]


def _first(out):
    return out[0] if isinstance(out, tuple) else out


def _run(layers, x, adds):
    if not layers:
        raise ValueError("model is an empty list; expected at least one layer")
    states = [x]
    for layer in layers:
        out = _first(layer(states[-1]))
        states.append(states[-1] + out if adds else out)
    return states


def _layers_of(model):
    """The children of the longest list of layers inside a model."""
    lists = [list(part) for part in model.modules() if isinstance(part, (nn.ModuleList, nn.Sequential))]
    longest = max(lists, key=len, default=[])
    if not longest:
        raise ValueError(f"model {type(model).__name__} has no ModuleList or Sequential; expected layers=[...]")
    return longest


def _watch(model, x, layers):
    """What enters and what leaves each layer while the model runs on x."""
    entered, left = [None] * len(layers), [None] * len(layers)
    hooks = []
    for i, layer in enumerate(layers):
        def see(module, inputs, out, i=i):
            entered[i], left[i] = inputs[0], _first(out)
        hooks.append(layer.register_forward_hook(see))
    try:
        model(x)
    finally:
        for hook in hooks:
            hook.remove()
    silent = [i for i, state in enumerate(entered) if state is None]
    if silent:
        raise ValueError(f"layer {silent[0]} ({type(layers[silent[0]]).__name__}) did not run when the model was "
                         "called; expected layers that the model calls")
    return entered, left


def _after_last(entered, left, adds):
    """The stream after the last layer, which no later layer receives."""
    if adds is None:
        if len(entered) < 2:
            raise ValueError("the model has one layer, so whether it returns a change or the new stream cannot be "
                             "seen; expected adds=True or adds=False")
        adds = not _same(left[0], entered[1])
        if adds and not _same(entered[0] + left[0], entered[1]):
            raise ValueError("what enters the second layer is neither the first one's output nor its input plus its "
                             "output; expected layers=[...] that name where the stream is to be read")
    return entered[-1] + left[-1] if adds else left[-1]


def _same(a, b):
    return a is b or (a.shape == b.shape and torch.allclose(a, b))


# -- measured along the stream ---------------------------------------------------------------

def gradient_norms(states: Sequence[Float[Tensor, "..."]], probe: Float[Tensor, "..."] | None = None,
                   ) -> Float[Tensor, "n"]:
    """Length of the gradient at each state, as a share of the length of the gradient that enters at the last one.

    states: as of record_stream, with a graph. probe: what is multiplied with the last state and summed up to make the
    loss, so it is the gradient that enters there; None draws standard normal numbers with seed 0.
    """
    last = states[-1]
    if probe is None:
        probe = torch.randn(last.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64).to(last.dtype)
    gradients = torch.autograd.grad((last * probe).sum(), list(states), allow_unused=True)
    return torch.stack([probe.new_zeros(()) if g is None else g.norm() for g in gradients]) / probe.norm()


def cosines(states: Sequence[Float[Tensor, "... d"]]) -> Float[Tensor, "n"]:
    """Cosine of each state with the first one, mean over all tokens."""
    return torch.stack([nn.functional.cosine_similarity(state, states[0], dim=-1).mean() for state in states])


def spreads(states: Sequence[Float[Tensor, "... L d"]]) -> Float[Tensor, "n"]:
    """How far the tokens of a sequence are from being all the same: length of the deviations from their mean, over the
    length of the states. 0 when all tokens have merged."""
    return torch.stack([(s - s.mean(-2, keepdim=True)).norm() / s.norm() for s in states])


def word_accuracy(states: Float[Tensor, "N d"], words: Int[Tensor, "N"], n_words: int, train: float = 0.8) -> float:
    """Share of held-out states whose word a linear classifier names.

    The classifier is linear discriminant analysis: a mean for each word, one covariance for all, learned from the first
    part of the states. It is computed, not trained: no steps, no rate. Computed in float64.
    Raises ValueError if a word does not occur in the first part.
    """
    _checks.float_tensor("states", states, min_dim=2)
    cut = int(train * len(states))
    x, y = states[:cut].double(), words[:cut]
    count = torch.bincount(y, minlength=n_words)
    if (count == 0).any():
        raise ValueError(f"word {count.argmin()} does not occur in the first {cut} states; expected each of {n_words}")
    means = x.new_zeros(n_words, x.shape[-1]).index_add_(0, y, x) / count[:, None]
    rest = x - means[y]
    covariance = rest.T @ rest / cut
    covariance += (1e-9 * covariance.trace() / len(covariance) + 1e-300) * torch.eye(len(covariance)).to(covariance)
    weights = torch.linalg.solve(covariance, means.T)  # (d, words)
    scores = states[cut:].double() @ weights - (means.T * weights).sum(0) / 2
    return (scores.argmax(-1) == words[cut:]).double().mean().item()
