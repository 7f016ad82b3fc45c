"""Checks of chapter 5 that are algebra: the block, its Jacobian, what it keeps and erases, and the depth of models."""

import itertools
import math
from collections import Counter

import torch

from attnbook import depth
from attnbook.claims._draws import EXACT, SEEDS, normal
from attnbook.claims.measurement import Measurement
from attnbook.residual import layer_norm, residual_block
from attnbook.stacks import CONNECTIONS, FeedForward, Stack, transformer_stack

LAYERS = 96  # of GPT-3


# -- the block -------------------------------------------------------------------------------

def block_forms() -> Measurement:
    """x + f(x), pre-norm, post-norm and "norm before the residual" are four functions; only some end with length sqrt(d)."""
    x, w = 3 * normal(0, 200, 16), normal(1, 16, 16) / 4

    def f(z):
        return torch.tanh(z @ w)

    forms = {"bare": x + f(x), "pre": residual_block(x, f, layer_norm), "post": residual_block(x, f, layer_norm, "post"),
             "outside": layer_norm(x) + f(layer_norm(x))}

    def apart(a, b):
        return ((forms[a] - forms[b]).norm() / forms[a].norm()).item()

    values = {"pre_bare": apart("pre", "bare"), "pre_post": apart("pre", "post"), "pre_outside": apart("pre", "outside")}
    values |= {f"size_{name}": y.square().mean(-1).sqrt().mean().item() for name, y in forms.items()}
    zero = residual_block(x, torch.zeros_like, layer_norm, "post")
    values |= {"zero_pre": (residual_block(x, torch.zeros_like, layer_norm) - x).abs().max().item(),
               "zero_post": ((zero - x).norm() / x.norm()).item()}
    different = min(values["pre_bare"], values["pre_post"], values["pre_outside"]) > 0.02
    sizes = abs(values["size_post"] - 1) < 0.01 and values["size_pre"] > 2
    return Measurement(values, holds=different and sizes and values["zero_pre"] == 0 and values["zero_post"] > 0.3)


def two_additions() -> Measurement:
    """A block of a Transformer adds twice, and the feed-forward half holds two thirds of its matrices."""
    net = transformer_stack(LAYERS, 4)
    big = transformer_stack(1, 64, 4)
    attend, network = (sum(p.numel() for p in layer.sublayer.parameters() if p.dim() == 2) for layer in big.layers)
    values = {"blocks": LAYERS, "additions": len(net.layers), "attention": attend // 64**2, "feed_forward": network // 64**2}
    values["share"] = network / (attend + network)
    kinds = [type(layer.sublayer) for layer in net.layers]
    return Measurement(values, holds=values["additions"] == 2 * LAYERS and kinds.count(FeedForward) == LAYERS
                       and (values["attention"], values["feed_forward"]) == (4, 8))


# -- the Jacobian ----------------------------------------------------------------------------

def jacobian_matrix() -> Measurement:
    """The derivative of x + f(x) is a matrix, I + J, as automatic differentiation finds it."""
    worst, largest = 0.0, 0.0
    for seed in SEEDS:
        x, w = normal(seed, 6), normal(seed + 100, 6, 6) / 2
        inner = (1 - torch.tanh(w @ x).square())[:, None] * w
        found = torch.autograd.functional.jacobian(lambda z: z + torch.tanh(w @ z), x)
        worst = max(worst, (found - torch.eye(6).double() - inner).abs().max().item())
        largest = max(largest, (found - torch.diag(found.diagonal())).abs().max().item())
    values = {"error": worst, "tolerance": EXACT, "beside": largest}
    return Measurement(values, holds=worst < EXACT and largest > 0.1)


def gain_of_96() -> Measurement:
    """f' = -0.5 leaves 1e-29 after 96 layers and +0.5 makes 1e17; I + J squeezes some direction in nearly every draw."""
    d = 16
    draws = torch.stack([normal(seed, d, d) for seed in range(200)]) / math.sqrt(d)
    squeezed = torch.linalg.svdvals(torch.eye(d) + draws)
    product = torch.eye(d, dtype=torch.float64)
    for step in range(LAYERS):
        product = product + 0.3 * normal(1000 + step, d, d) / math.sqrt(d) @ product
    spread = torch.linalg.svdvals(product)
    values = {"minus": 0.5**LAYERS, "plus": 1.5**LAYERS, "zero": (1 - 1.0)**LAYERS, "layers": LAYERS, "d": d,
              "smallest": squeezed.min().item(), "below": (squeezed[:, -1] < 1).double().mean().item(),
              "median": squeezed[:, -1].median().item(), "product_low": spread[-1].item(),
              "product_high": spread[0].item()}
    scalars = values["minus"] < 1e-28 and values["plus"] > 1e16 and values["zero"] == 0
    return Measurement(values, holds=scalars and values["below"] > 0.95 and values["product_low"] < 0.5)


def paths() -> Measurement:
    """The product of I + J over L layers is a sum over 2^L paths; the one without any J is a single term."""
    d, n = 5, 8
    jacobians = normal(0, n, d, d) / math.sqrt(d)
    product, total, lengths = torch.eye(d).double(), torch.zeros(d, d).double(), []
    for j in jacobians:
        product = product + j @ product
    for used in itertools.product((False, True), repeat=n):
        term = torch.eye(d).double()
        for j in jacobians[torch.tensor(used)]:
            term = j @ term
        total += term
        lengths.append(term.norm().item())
    values = {"count": len(lengths), "n": n, "error": (total - product).abs().max().item(), "tolerance": 1e-9,
              "identity_share": math.sqrt(d) / sum(lengths), "additions": 2 * LAYERS}
    return Measurement(values, holds=values["error"] < 1e-9 and values["count"] == 2**n and values["identity_share"] < 0.05)


# -- keeping and erasing ---------------------------------------------------------------------

def erasing() -> Measurement:
    """Adding can erase all of x or a part; it can be undone if f is a contraction."""
    x, w = normal(0, 50, 8), normal(1, 8, 8)
    kept = torch.ones(8).double()
    kept[:3] = 0
    part = x + -(x * (1 - kept))
    w = 0.9 * w / torch.linalg.matrix_norm(w, 2)
    y = x + torch.tanh(x @ w.T)
    found = y
    for _ in range(300):
        found = y - torch.tanh(found @ w.T)
    values = {"all": (x + -x).abs().max().item(), "part": int((part.abs().amax(0) == 0).sum()), "width": 8,
              "error": (found - x).abs().max().item(), "tolerance": 1e-9}
    return Measurement(values, holds=values["all"] == 0 and values["part"] == 3 and values["error"] < 1e-9)


def bits() -> Measurement:
    """What x1 + f(x2) still says about x1, in bits: between nothing and all, and the whole never exceeds the input."""
    ways = {"sum": lambda a, b: a + b, "apart": lambda a, b: a + 10 * b, "erased": lambda a, b: a + (b - a)}
    values = {"input": 4.0}
    for name, f in ways.items():
        states = [[f(a, b) for b in range(4)] for a in range(4)]
        whole = _entropy(Counter(itertools.chain(*states)))
        values |= {f"whole_{name}": whole, f"word_{name}": whole - sum(_entropy(Counter(row)) for row in states) / 4}
    values["share_sum"] = values["word_sum"] / 2
    at_most = all(values[f"whole_{name}"] <= 4 + EXACT for name in ways)
    ends = abs(values["word_apart"] - 2) < EXACT and abs(values["word_erased"]) < EXACT
    return Measurement(values, holds=at_most and ends and 0.3 < values["share_sum"] < 0.4)


def _entropy(counts):
    total = sum(counts.values())
    return -sum(n / total * math.log2(n / total) for n in counts.values())


# -- variants --------------------------------------------------------------------------------

def scaled_start() -> Measurement:
    """x + a f(x): with a = 0 the Jacobian is I however deep; the smaller a, the longer 96 layers keep their size."""
    deep = _deep("rezero")
    values = {"rezero": (torch.autograd.functional.jacobian(deep, normal(0, 8)) - torch.eye(8)).abs().max().item(),
              "layers": LAYERS}
    for name, scale in (("one", 1.0), ("tenth", 0.1)):
        values[f"growth_{name}"] = (_deep("scaled", scale=scale)(normal(0, 8)).norm() / normal(0, 8).norm()).item()
    calm = 0.5 < values["growth_tenth"] < 4 and values["growth_one"] > 2 * values["growth_tenth"]
    return Measurement(values, holds=values["rezero"] == 0 and calm)


def _deep(kind, **options):
    """96 feed-forward layers of width 8 without the norm at the end."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        stack = Stack([FeedForward(8) for _ in range(LAYERS)], 8, kind, **options).double()
    return torch.nn.Sequential(*stack.layers)


def gates() -> Measurement:
    """x + g f and Highway's (1 - g) x + g f: at g = 1 they differ by exactly x, at g = 0 both are x."""
    x, out = normal(0, 50, 8), torch.tanh(normal(1, 50, 8))
    gated, highway = ([way(g) for g in (0.0, 1.0)] for way in (lambda g: x + g * out, lambda g: (1 - g) * x + g * out))
    values = {"closed": max((gated[0] - x).abs().max().item(), (highway[0] - x).abs().max().item()),
              "open": ((gated[1] - highway[1]) - x).abs().max().item(), "tolerance": EXACT,
              "kept": (highway[1] - out).abs().max().item()}
    return Measurement(values, holds=values["closed"] == 0 and values["open"] < EXACT and values["kept"] == 0)


def dense_width() -> Measurement:
    """Concatenation widens the stream: twice a layer if f keeps the width, one d a layer if f is as narrow as at first."""
    d, doubled = 8, [8]
    for _ in range(4):
        doubled.append(2 * doubled[-1])
    stack = Stack([FeedForward(d) for _ in range(4)], d, "dense").double()
    x = state = normal(0, 3, d)
    for layer in stack.layers:
        state = layer(state)
    values = {"start": d, "after_4": doubled[-1], "narrow_4": state.shape[-1],
              "kept": (state[:, :d] - x).abs().max().item(), "wide_96": f"{d * 2.0**LAYERS:.0e}"}
    return Measurement(values, holds=doubled[-1] == 128 and values["narrow_4"] == 40 and values["kept"] == 0
                       and CONNECTIONS["dense"].grows == 1)


# -- depth -----------------------------------------------------------------------------------

def layer_rule() -> Measurement:
    """26 published models against the rule that reads layers off parameters."""
    models = depth.PUBLISHED
    values = {"models": len(models), "inside": sum(map(depth.follows, models)),
              "inside_active": sum(depth.follows(m, by_active=True) for m in models),
              "below_64": sum(m.layers < 64 for m in models)}
    named = {m.name: m for m in models}
    outside = [named[name] for name in ("GPT-3 13B", "Qwen3 0.6B", "BLOOM 176B", "Llama 3.1 405B")]
    values |= {f"outside_{i}": m.layers for i, m in enumerate(outside)}
    return Measurement(values, holds=0.5 < values["inside"] / len(models) < 0.8 and not any(map(depth.follows, outside))
                       and values["inside_active"] > values["inside"] and values["below_64"] > len(models) / 2)
