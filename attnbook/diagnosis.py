"""A doctor for attention: give it scores, or a model and an input, and read what looks wrong (chapter 3)."""

import math
import textwrap
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from attnbook import _checks
from attnbook.saturation import ScoreStatistics, score_statistics
from attnbook.softmax import softmax

STAND_IN = -1e4  # a score at or below this was meant to be minus infinity
MANY = 0.1  # share of rows from which a fault is worth telling


@dataclass(frozen=True)
class Diagnosis:
    """Findings on one set of scores, worst first, each (name, sentence); empty if nothing looks wrong.

    Names: not finite, empty rows, hidden rows, hidden keys, too wide, too narrow, dead rows, uniform rows.
    statistics is None where no row could be measured. call: which softmax of the model it was, in words.
    """

    statistics: ScoreStatistics | None
    findings: tuple[tuple[str, str], ...]
    call: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the findings."""
        return tuple(name for name, _ in self.findings)

    def __str__(self):
        s = self.statistics
        numbers = "no row to measure" if s is None else (
            f"standard deviation {s.std:.3g}, mean largest weight {s.top_weight:.2f}, "
            f"entropy {s.entropy_share:.0%} of uniform, dead rows {s.dead:.0%}")
        told = [f"- {name}: {sentence}" for name, sentence in self.findings] or ["- nothing looks wrong"]
        lines = [f"{self.call or 'scores'}: {numbers}", *told]
        return "\n".join(textwrap.fill(line, 78, subsequent_indent="  ") for line in lines)

    __repr__ = __str__


def diagnose(source: Float[Tensor, "... L S"] | nn.Module, *inputs, d_k: int | None = None,
             mask: Bool[Tensor, "..."] | None = None) -> Diagnosis | list[Diagnosis]:
    """Say what looks wrong with scores, or with each attention of a model.

    source: scores as they enter softmax, (..., L, S), rows are queries, -inf hides a key; or a module, or any function,
        which is called on the inputs without gradient. Then every torch softmax over the last of at least two axes and
        every scaled_dot_product_attention is examined, and a list comes back, in the order of the calls. (Where PyTorch
        runs a whole layer as one kernel, as nn.MultiheadAttention may, nothing can be seen.)
    d_k: width of queries and keys; with it a wrong factor can be named. Known for scaled_dot_product_attention.
    mask: True = may attend, broadcasts to the scores; with it, weight on hidden keys is found.

    A verdict on the factor is about scores at the start of training: a trained head may be sharp on purpose.

    Raises TypeError for another source, ValueError if the model calls no softmax or the mask does not fit.
    """
    if isinstance(source, Tensor):
        return _examine(source, d_k, mask)
    if not callable(source):
        raise TypeError(f"source is {_checks.describe(source)}; expected a tensor of scores, or a model and its inputs")
    with torch.no_grad(), _Listener() as heard:
        source(*inputs)
    if not heard.calls:
        raise ValueError("source called no softmax that can be seen; expected torch.softmax over keys, or "
                         "scaled_dot_product_attention")
    return [_examine(scores, d_k or width, mask, f"{kind} {i}")
            for i, (kind, scores, width) in enumerate(heard.calls, 1)]


# -- the findings -------------------------------------------------------------------------

def _examine(scores, d_k, mask, call=""):
    _checks.float_tensor("scores", scores, min_dim=2)
    scores = scores.detach().double()
    if not (scores < torch.inf).all():
        told = ("not finite", "scores hold NaN or infinity; look for an overflow before softmax.")
        return Diagnosis(None, (told,), call)
    findings = [*_rows(scores), *_hidden_keys(scores, mask)]
    visible = scores.masked_fill(scores <= STAND_IN, -torch.inf)
    if not ((visible > -torch.inf).sum(-1) > 1).any():
        return Diagnosis(None, tuple(findings), call)
    statistics = score_statistics(visible)
    findings += [*_spread(statistics, d_k), *_saturation(statistics)]
    return Diagnosis(statistics, tuple(findings), call)


def _rows(scores):
    """Rows that see nothing, hidden by minus infinity or by a large negative number in its place."""
    empty = (scores == -torch.inf).all(-1).double().mean().item()
    if empty:
        yield "empty rows", (f"{empty:.0%} of the rows hide every key. Plain softmax gives NaN there; "
                             "give such rows weight 0.")
    filled = ((scores <= STAND_IN).all(-1) & (scores > -torch.inf).any(-1)).double().mean().item()
    if filled:
        yield "hidden rows", (f"{filled:.0%} of the rows lie over hidden keys only, filled with a large negative "
                              "number: softmax spreads their weight over what should be hidden. Use minus infinity "
                              "and give such rows weight 0.")


def _hidden_keys(scores, mask):
    """Weight on keys that the mask hides."""
    if mask is None:
        return
    try:
        fits = mask.dtype == torch.bool and torch.broadcast_shapes(mask.shape, scores.shape) == scores.shape
    except RuntimeError:
        fits = False
    _checks.shape("mask", mask, f"a boolean mask that broadcasts to {tuple(scores.shape)}", fits)
    mask = mask.broadcast_to(scores.shape)
    weights, some = softmax(scores), mask.any(-1)  # rows with nothing to see are told of above
    lost = weights.masked_fill(mask, 0.0).sum(-1)[some]
    if lost.numel() and lost.mean() > 1e-6:
        inverted = weights.masked_fill(~mask, 0.0).sum(-1)[some].mean() < 1e-6
        advice = "the mask seems to be inverted." if inverted else "hide scores before softmax, with minus infinity."
        yield "hidden keys", f"{lost.mean():.1%} of the weight lies on keys that the mask hides; {advice}"


def _spread(statistics, d_k):
    """The standard deviation against what independent entries of variance 1 give at the start."""
    std = statistics.std
    if d_k is None:
        if std > 4:
            yield "too wide", f"scores have standard deviation {std:.3g}: not scaled? At the start it should be near 1."
        return
    expected = {"not scaled": math.sqrt(d_k), "divided by d_k in place of its root": 1 / math.sqrt(d_k)}
    for name, value in expected.items():
        if 0.7 < std / value < 1.4 and not 0.5 < std < 2:
            word = "too wide" if value > 1 else "too narrow"
            yield word, (f"scores have standard deviation {std:.3g}, and {value:.3g} is what d_k = {d_k} gives if they "
                         f"are {name}.")
            return
    if std > 4:
        yield "too wide", (f"scores have standard deviation {std:.3g}; near 1 is expected at the start. Not scaled, "
                           "and queries or keys not of variance 1? Or a trained head, which may be sharp on purpose?")
    elif std < 0.25:
        yield "too narrow", (f"scores have standard deviation {std:.3g}; near 1 is expected at the start. A divisor "
                             "that is too large (the width of the model in place of the head's?), or small weights?")


def _saturation(statistics):
    if statistics.dead >= MANY:
        yield "dead rows", (f"{statistics.dead:.0%} of the rows pass hardly any gradient to queries and keys "
                            "(Jacobian norm below 0.001).")
    if statistics.entropy_share > 0.99:
        yield "uniform rows", (f"entropy is {statistics.entropy_share:.1%} of that of equal weights: every query reads "
                               "every key alike, so far.")


# -- listening to a model -----------------------------------------------------------------

_SOFTMAX = {torch.softmax, Tensor.softmax, functional.softmax}


class _Listener(TorchFunctionMode):
    """Keeps the scores of every softmax over keys and of every fused attention that is called inside."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in _SOFTMAX:
            self._softmax(*args, **kwargs)
        elif func is functional.scaled_dot_product_attention:
            self._fused(*args, **kwargs)
        return func(*args, **kwargs)

    def _softmax(self, input, dim=None, *_, **__):
        if input.is_floating_point() and input.dim() > 1 and dim in (-1, input.dim() - 1):
            self.calls.append(("softmax", input.detach().clone(), None))

    def _fused(self, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        if enable_gqa:
            key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
        if is_causal:
            attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        if attn_mask is not None:
            boolean = attn_mask.dtype == torch.bool
            scores = scores.masked_fill(~attn_mask, -torch.inf) if boolean else scores + attn_mask
        self.calls.append(("attention", scores, query.shape[-1]))
