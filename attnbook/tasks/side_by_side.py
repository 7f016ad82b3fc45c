"""Several models of one design as one model, so that all seeds of an experiment train in one loop.

Small models spend their time on the number of operations, not on numbers. side_by_side(models) gives every weight a
leading axis, one entry a model, and computes on inputs (S, B, ...) whose entry s belongs to model s alone: the sum of
the losses then has, for each model, exactly the gradient of its own.
"""

import copy
from collections.abc import Callable, Sequence

import torch
from torch import nn

from attnbook.residual import LayerNorm
from attnbook.stacks import LearnedScale
from attnbook.training import fit


def train_together(models: Sequence[nn.Module], batch: Callable, *, seeds: Sequence[int], steps: int, lr: float,
                   warm_up: int = 0) -> tuple[nn.Module, list[list[float]]]:
    """Train models side by side with Adam; returns (joined model, losses [model][step] before each step).

    batch(generator): a batch of one model, inputs and class numbers; each model has its own generator and batches.
    The losses are mean cross-entropies in nats. warm_up: steps over which the learning rate rises to lr.
    """
    together, generators, curves = side_by_side(models), [torch.Generator().manual_seed(seed) for seed in seeds], []

    def loss(_):
        inputs, targets = (torch.stack(part) for part in zip(*map(batch, generators), strict=True))
        logits = together(inputs)
        each = nn.functional.cross_entropy(logits.flatten(0, -2), targets.flatten(), reduction="none")
        curves.append(each.detach().view(len(models), -1).mean(-1))
        return each.view(len(models), -1).mean(-1).sum()

    fit(together, loss, steps=steps, lr=lr, warm_up=warm_up, fused=True)
    return together, torch.stack(curves).T.tolist()


def side_by_side(models: Sequence[nn.Module]) -> nn.Module:
    """One model that holds copies of all: its input and output have one more leading axis, an entry a model.

    Linear, Embedding, LayerNorm and LearnedScale layers are known, and any other module is looked into; parameters that
    a module holds itself get axes for the model and the batch in front. The models are not changed.

    Raises ValueError for no model at all.
    """
    if not models:
        raise ValueError("models is empty; expected at least one")
    return _joined([copy.deepcopy(model) for model in models])


def _joined(models):
    one = models[0]
    for kind, together in _KNOWN.items():
        if isinstance(one, kind):
            return together(models)
    for name, _ in list(one.named_children()):
        setattr(one, name, _joined([getattr(model, name) for model in models]))
    for name, _ in list(one.named_parameters(recurse=False)):
        own = torch.stack([getattr(model, name).detach() for model in models])
        setattr(one, name, nn.Parameter(own[:, None]))
    return one


class _Linears(nn.Module):
    """x (S, ..., inputs) -> (S, ..., outputs)."""

    def __init__(self, layers):
        super().__init__()
        self.in_features = layers[0].in_features
        self.weight = nn.Parameter(torch.stack([layer.weight.detach().T for layer in layers]))
        biases = None if layers[0].bias is None else torch.stack([layer.bias.detach() for layer in layers])
        self.bias = None if biases is None else nn.Parameter(biases[:, None])

    def forward(self, x):
        flat = x.flatten(1, -2)
        out = flat @ self.weight if self.bias is None else torch.baddbmm(self.bias, flat, self.weight)
        return out.view(*x.shape[:-1], -1)


class _Embeddings(nn.Module):
    """ids (S, ...) -> (S, ..., d)."""

    def __init__(self, layers):
        super().__init__()
        self.weight = nn.Parameter(torch.stack([layer.weight.detach() for layer in layers]))

    def forward(self, ids):
        seed = torch.arange(len(ids)).view(-1, *[1] * (ids.dim() - 1))
        return self.weight[seed, ids]


class _Norms(nn.Module):
    """x (S, ..., d) -> the same shape."""

    def __init__(self, layers):
        super().__init__()
        self.eps = layers[0].eps
        self.weight = nn.Parameter(torch.stack([layer.weight.detach() for layer in layers]))
        self.bias = nn.Parameter(torch.stack([layer.bias.detach() for layer in layers]))

    def forward(self, x):
        axes = (len(x), *[1] * (x.dim() - 2), x.shape[-1])
        normed = nn.functional.layer_norm(x, x.shape[-1:], eps=self.eps)
        return normed * self.weight.view(axes) + self.bias.view(axes)


class _Scales(nn.Module):
    """x (S, ...) -> each entry times its own number."""

    def __init__(self, scales):
        super().__init__()
        self.value = nn.Parameter(torch.stack([scale.value.detach() for scale in scales]))

    def forward(self, x):
        return self.value.view(-1, *[1] * (x.dim() - 1)) * x


_KNOWN = {nn.Linear: _Linears, nn.Embedding: _Embeddings, LayerNorm: _Norms, nn.LayerNorm: _Norms,
          LearnedScale: _Scales}
