"""Checks of chapter 5 on random stacks, before any training: tokens that merge, gradients, growth, and the word kept."""

import math

import torch

from attnbook.attention import attention
from attnbook.claims._draws import EXACT, SEEDS, normal
from attnbook.claims.measurement import Measurement
from attnbook.residual import layer_norm
from attnbook.stacks import transformer_stack
from attnbook.stream import cosines, gradient_norms, record_stream, spreads, word_accuracy

LAYERS, WORDS = 96, 200
SHOWN = (1, 10, 50, 96)  # the layers of the invented table


# -- attention alone -------------------------------------------------------------------------

def merging() -> Measurement:
    """Pure attention makes all tokens equal in a few layers; larger scores, a causal mask or a skip slow it down."""
    plain = max(_apart(seed, 4) for seed in SEEDS)
    values = {"merged_plain": plain, "layers_plain": 4, "merged_bound": 1e-6}
    values |= {"apart_wide": _mean(6, norm=True, wide=3.0), "apart_causal": _mean(6, norm=True, causal=True),
               "apart_skip": _mean(12, skip=True), "seeds": len(SEEDS)}
    slow = values["apart_wide"] > 0.3 and values["apart_causal"] > 0.02 and values["apart_skip"] > 0.02
    return Measurement(values, holds=plain < 1e-6 and slow)


def _mean(layers, **options):
    return sum(_apart(seed, layers, **options) for seed in SEEDS) / len(SEEDS)


def _apart(seed, layers, *, skip=False, norm=False, causal=False, wide=1.0, n=32, d=32):
    """Distance of n tokens from "all equal", relative to their size, after random attention layers."""
    x, weights = normal(seed, n, d), normal(seed + 100, layers, 3, d, d) / math.sqrt(d)
    for w_q, w_k, w_v in weights:
        z = layer_norm(x) if norm else x
        out, _ = attention(z @ (wide * w_q), z @ (wide * w_k), z @ w_v, causal=causal)
        x = x + out if skip else out
    return spreads([x]).item()


# -- layers without and with a residual ------------------------------------------------------

def plain_gradients() -> Measurement:
    """What is left of the gradient at the input after 96 tanh or linear layers: between 1e-23 and 1e16, by the start."""
    kinds = {"default": ("torch", True, False), "orthogonal": ("orthogonal", True, False),
             "isometry": ("orthogonal", False, False), "large": (1.5, False, False), "residual": ("torch", True, True)}
    values = {name: sum(_left(seed, *kind) for seed in SEEDS) / len(SEEDS) for name, kind in kinds.items()}
    values |= {"layers": LAYERS, "width": 64, "seeds": len(SEEDS)}
    plain = values["default"] < 1e-15 and 0.01 < values["orthogonal"] < 1 and abs(values["isometry"] - 1) < 1e-6
    return Measurement(values, holds=plain and values["large"] > 1e12 and values["residual"] > 0.1)


def _left(seed, start, curved, skip, d=64):
    """Length of the gradient at the input, over that at the output."""
    x = normal(seed, 32, d).requires_grad_()
    h = x
    for i in range(LAYERS):
        w = normal(1000 * seed + i, d, d)
        w = torch.linalg.qr(w)[0] if start == "orthogonal" else w * (start if start != "torch" else 3**-0.5) / math.sqrt(d)
        out = torch.tanh(h @ w.T) if curved else h @ w.T
        h = h + out if skip else out
    return gradient_norms([x, h])[0].item()


# -- where the norm sits ---------------------------------------------------------------------

def norm_gradients() -> Measurement:
    """Gradient of the feed-forward matrices in the first and the last block, before training: nothing vanishes."""
    values = {"seeds": 3}
    for kind in ("post", "pre"):
        for n, start, name in ((6, "xavier", ""), (48, "xavier", ""), (48, 0.02, "_small")):
            first, last = _block_gradients(kind, n, start)
            values |= {f"first_{kind}_{n}{name}": first, f"last_{kind}_{n}{name}": last}
    alive = min(v for name, v in values.items() if "first" in name) > 0.02
    even = max(values["first_post_48"] / values["last_post_48"], values["last_post_48"] / values["first_post_48"]) < 5
    return Measurement(values, holds=alive and even and values["last_post_48"] > 2 * values["last_pre_48"])


def _block_gradients(kind, n_blocks, start, d=32):
    """Norm of the gradient of the last feed-forward matrix of the first and of the last block, means over 3 seeds."""
    found = []
    for seed in range(3):
        torch.manual_seed(seed)
        stack, read = transformer_stack(n_blocks, d, 2, kind, start=start), torch.randn(d, 50) * math.sqrt(2 / (d + 50))
        logits = stack(torch.randn(50, d)[torch.randint(50, (4, 16))]) @ read
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), torch.randint(50, (64,))).backward()
        found.append([stack.layers[i].sublayer.back.weight.grad.norm() for i in (1, -1)])
    return torch.tensor(found).mean(0).tolist()


def stream_growth() -> Measurement:
    """The pre-norm stream gets longer and longer, so that a late block turns it less; post-norm keeps its length."""
    values = {"seeds": len(SEEDS), "blocks": 48}
    for kind in ("pre", "post"):
        lengths, turns = zip(*(_lengths(kind, seed) for seed in SEEDS), strict=True)
        lengths, turns = torch.stack(lengths).mean(0), torch.stack(turns).mean(0)
        values |= {f"start_{kind}": lengths[0].item(), f"end_{kind}": lengths[-1].item(),
                   f"turn_first_{kind}": turns[0].item(), f"turn_last_{kind}": turns[-1].item()}
    grows = values["end_pre"] > 3 * values["start_pre"] and abs(values["end_post"] / values["start_post"] - 1) < 0.1
    return Measurement(values, holds=grows and values["turn_last_pre"] < values["turn_first_pre"] / 3)


@torch.no_grad()
def _lengths(kind, seed, d=64):
    """Length of the stream after each of 48 blocks, and how much each changes it, relative to its length."""
    torch.manual_seed(seed)
    states = record_stream(transformer_stack(48, d, 4, kind, start="xavier").layers, torch.randn(4, 16, d))[::2]
    lengths = torch.stack([s.norm(dim=-1).mean() for s in states])
    return lengths, torch.stack([(b - a).norm() / a.norm() for a, b in zip(states, states[1:])])


# -- what is kept of the word ----------------------------------------------------------------

def word_kept() -> Measurement:
    """96 random blocks: the cosine with the word vector fades to a tenth, a linear classifier still names the word."""
    values = {"words": WORDS, "seeds": 2, "examples": 300 * 16 * 4 // 5 // WORDS}
    for kind, d, sentences in (("pre", 32, 300), ("pre", 64, 300), ("post", 32, 200)):
        runs = torch.tensor([_kept(kind, d, sentences, seed) for seed in range(2 if d == 64 else 1)])
        for i, layer in enumerate(SHOWN):
            values |= {f"cosine_{kind}_{d}_{layer}": runs[:, i, 0].mean().item(),
                       f"named_{kind}_{d}_{layer}": runs[:, i, 1].mean().item()}
    pre = values["cosine_pre_64_96"] < 0.2 and values["named_pre_64_96"] > 0.9 and values["named_pre_32_96"] > 0.5
    return Measurement(values, holds=pre and values["named_post_32_96"] < 0.05)


@torch.no_grad()
def _kept(kind, d, sentences, seed):
    """Cosine with the word vector and share of words named, at each of SHOWN."""
    torch.manual_seed(seed)
    words = torch.randint(WORDS, (sentences, 16))
    stack = transformer_stack(LAYERS, d, 4, kind, start="xavier")
    states = record_stream(stack.layers, torch.randn(WORDS, d)[words])[::2]
    return [(cosines([states[0], states[layer]])[1].item(),
             word_accuracy(states[layer].flatten(0, 1), words.flatten(), WORDS)) for layer in SHOWN]
