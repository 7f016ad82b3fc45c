"""Stacks: sublayers one behind the other, joined to the stream in nine ways (chapter 5).

Each way is a few lines below and replaces one stage, where the sublayer's output meets the stream:

    none      f(norm(x))               no residual connection
    bare      x + f(x)                 no norm
    pre       x + f(norm(x))           pre-norm
    post      norm(x + f(x))           post-norm
    scaled    x + a f(norm(x))         a fixed number
    rezero    x + a f(x)               a learned, started at 0
    gated     x + g(x) f(norm(x))      g learned, from the stream, between 0 and 1
    highway   (1 - g(x)) x + g(x) f(norm(x))
    dense     [x, f(read(norm(x)))]    put beside x: the stream grows by d_model
"""

import math
from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnbook import _checks
from attnbook.attention import SelfAttention
from attnbook.residual import LayerNorm, change, residual_block


class NoResidual(nn.Module):
    """f(norm(x)): the sublayer replaces the stream. Base of all other ways; width is that of the stream that enters."""

    grows = 0  # by how many times d_model the stream gets wider

    def __init__(self, sublayer: nn.Module, d_model: int, norm: Callable[[int], nn.Module] = LayerNorm,
                 width: int | None = None):
        super().__init__()
        self.sublayer, self.norm = sublayer, norm(d_model if width is None else width)

    def normed(self, x):
        """f(norm(x)), what pre-norm adds."""
        return change(self.sublayer, self.norm(x), x)

    def forward(self, x):
        return self.normed(x)


class Bare(NoResidual):
    """x + f(x), without a norm."""

    def __init__(self, sublayer, d_model, norm=None, width=None):
        super().__init__(sublayer, d_model, lambda _: nn.Identity())

    def forward(self, x):
        return x + self.normed(x)


class PreNorm(NoResidual):
    """x + f(norm(x)). Source: Radford et al. 2019; Xiong et al. 2020."""

    def forward(self, x):
        return residual_block(x, self.sublayer, self.norm, "pre")


class PostNorm(NoResidual):
    """norm(x + f(x)). Source: Vaswani et al. 2017."""

    def forward(self, x):
        return residual_block(x, self.sublayer, self.norm, "post")


class Scaled(NoResidual):
    """x + scale f(norm(x)), with a fixed number."""

    def __init__(self, sublayer, d_model, norm=LayerNorm, width=None, scale: float = 0.1):
        super().__init__(sublayer, d_model, norm)
        self.scale = scale

    def forward(self, x):
        return x + self.scale * self.normed(x)


class LearnedScale(nn.Module):
    """One number, started at 0, times x."""

    def __init__(self):
        super().__init__()
        self.value = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return self.value * x


class ReZero(Bare):
    """x + scale f(x), with one learned number that starts at 0. Source: Bachlechner et al. 2020."""

    def __init__(self, sublayer, d_model, norm=None, width=None):
        super().__init__(sublayer, d_model)
        self.scale = LearnedScale()

    def forward(self, x):
        return x + self.scale(self.normed(x))


class Gated(NoResidual):
    """x + g f(norm(x)), with a gate g = sigmoid(norm(x) W + b) for each feature; b starts at -1, so g near 0.27."""

    def __init__(self, sublayer, d_model, norm=LayerNorm, width=None):
        super().__init__(sublayer, d_model, norm)
        self.gate = nn.Linear(d_model, d_model)
        nn.init.constant_(self.gate.bias, -1.0)

    def open(self, x):
        """The gate, between 0 and 1."""
        return torch.sigmoid(self.gate(self.norm(x)))

    def forward(self, x):
        return x + self.open(x) * self.normed(x)


class Highway(Gated):
    """(1 - g) x + g f(norm(x)): where the gate opens the old stream fades. Source: Srivastava et al. 2015."""

    def forward(self, x):
        g = self.open(x)
        return (1 - g) * x + g * self.normed(x)


class Dense(NoResidual):
    """[x, f(read(norm(x)))]: nothing is added, the output stands beside x. A matrix reads the wide stream to d_model.

    Source: Huang et al. 2017, whose layers add a few features each where this one adds d_model.
    """

    grows = 1

    def __init__(self, sublayer, d_model, norm=LayerNorm, width=None):
        super().__init__(sublayer, d_model, norm, width)
        self.read = nn.Linear(d_model if width is None else width, d_model, bias=False)

    def forward(self, x):
        narrow = self.read(self.norm(x))
        return torch.cat([x, change(self.sublayer, narrow, narrow)], -1)


CONNECTIONS = {"none": NoResidual, "bare": Bare, "pre": PreNorm, "post": PostNorm, "scaled": Scaled, "rezero": ReZero,
               "gated": Gated, "highway": Highway, "dense": Dense}


class Stack(nn.Module):
    """Sublayers one behind the other, all joined to the stream in one way: a kind of CONNECTIONS.

    norm: makes a norm for a width, as LayerNorm or RMSNorm. options: scale for "scaled".
    forward(x): (..., d_model) -> (..., width). A final norm ends every stack whose stream has none of its own
    ("post" has). width is d_model, and d_model times (1 + sublayers) for "dense".

    Raises ValueError for another kind, TypeError for an option that the kind does not have.
    """

    def __init__(self, sublayers: Sequence[nn.Module], d_model: int, kind: str = "pre", *,
                 norm: Callable[[int], nn.Module] = LayerNorm, **options):
        super().__init__()
        if kind not in CONNECTIONS:
            raise ValueError(f"kind is {kind!r}; expected one of {', '.join(CONNECTIONS)}")
        _checks.whole_number("d_model", d_model, minimum=1)
        join, self.width, layers = CONNECTIONS[kind], d_model, []
        for sublayer in sublayers:
            layers.append(join(sublayer, d_model, norm, self.width, **options))
            self.width += join.grows * d_model
        self.layers = nn.ModuleList(layers)
        self.final = nn.Identity() if kind == "post" else norm(self.width)

    def forward(self, x: Float[Tensor, "... d_model"]) -> Float[Tensor, "... width"]:
        for layer in self.layers:
            x = layer(x)
        return self.final(x)


# -- sublayers -------------------------------------------------------------------------------

class FeedForward(nn.Module):
    """relu(x W_1 + b_1) W_2 + b_2, each token alone; hidden width 4 d_model unless told otherwise."""

    def __init__(self, d_model: int, d_hidden: int | None = None):
        super().__init__()
        self.into = nn.Linear(d_model, 4 * d_model if d_hidden is None else d_hidden)
        self.back = nn.Linear(self.into.out_features, d_model)

    def forward(self, x):
        return self.back(torch.relu(self.into(x)))


def transformer_stack(n_blocks: int, d_model: int, n_heads: int = 1, kind: str = "pre", *, causal: bool = False,
                      start: str | float = "torch", d_hidden: int | None = None, **options) -> Stack:
    """A stack of blocks, each two sublayers: attention, then feed-forward.

    start: of all matrices of the sublayers: "torch" as PyTorch starts them (variance 1 / (3 inputs)), "xavier"
    (normal, variance 2 / (inputs + outputs)), or a number, their standard deviation. Biases start at 0 in the last two.
    """
    _checks.whole_number("n_blocks", n_blocks, minimum=1)
    sublayers = []
    for _ in range(n_blocks):
        sublayers += [SelfAttention(d_model, n_heads, causal=causal), FeedForward(d_model, d_hidden)]
    for module in nn.ModuleList(sublayers).modules():
        if isinstance(module, nn.Linear):
            begin(module, start)
    return Stack(sublayers, d_model, kind, **options)


@torch.no_grad()
def begin(linear: nn.Linear, start: str | float) -> None:
    """Draw the matrix of a linear layer anew: see start of transformer_stack. "orthogonal" is known too."""
    if start == "torch":
        return
    outputs, inputs = linear.weight.shape
    if start == "orthogonal":
        nn.init.orthogonal_(linear.weight)
    elif start == "xavier":
        linear.weight.normal_(0.0, math.sqrt(2 / (inputs + outputs)))
    elif isinstance(start, (int, float)) and not isinstance(start, bool) and start >= 0:
        linear.weight.normal_(0.0, start)
    else:
        raise ValueError(f"start is {start!r}; expected 'torch', 'xavier', 'orthogonal' or a standard deviation")
    if linear.bias is not None:
        linear.bias.zero_()
