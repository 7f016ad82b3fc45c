"""Looking inside a coreference model: its weights, one weight cut, the two-hop test, and data for the explorer."""

from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from attnbook.tasks.coreference.model import CoreferenceModel, train_coreference
from attnbook.tasks.coreference.sentences import FIRST, IT, LAST, LENGTH, NOUNS, READINGS, SECOND, encode


class Reading(NamedTuple):
    """What a model did with one sentence."""

    words: list[str]
    weights: Float[Tensor, "layers H L L"]
    answer: dict[str, float]  # probability of each noun of the sentence, out of all 24


def read(model: CoreferenceModel, text: str, masks: dict[int, Tensor] | None = None) -> Reading:
    """Run one sentence: its words, the weights of every layer and head, the probability of its two nouns."""
    words = text.rstrip(".").split()
    with torch.no_grad():
        scores, weights = model(encode(text), masks)
    probability = scores.softmax(-1)
    nouns = (words[FIRST], words[SECOND])
    return Reading(words, weights, {noun: probability[NOUNS.index(noun)].item() for noun in nouns})


def cut(model: CoreferenceModel, text: str, layer: int, query: int | str, key: int | str, head: int = 0) -> Reading:
    """The same run after one weight is set to 0 and its row divided by its new sum.

    query, key: place or word. Setting a weight to 0 and dividing by the rest is the same as hiding the key: a mask.
    Compare .answer with that of read(model, text). Raises ValueError for a layer, head, place or word not there.
    """
    words, n_heads = text.rstrip(".").split(), model.layers[0].n_heads
    for name, value, count in (("layer", layer, len(model.layers)), ("head", head, n_heads)):
        if value not in range(count):
            raise ValueError(f"{name} is {value!r}; expected one of 0..{count - 1}")
    mask = torch.ones(n_heads, LENGTH, LENGTH, dtype=torch.bool)
    mask[head, _place("query", query, words), _place("key", key, words)] = False
    return read(model, text, {layer: mask})


def _place(name, where, words):
    """The index of a word given by its index or by itself."""
    if isinstance(where, str) and where in words:
        return words.index(where)
    if isinstance(where, int) and where in range(len(words)):
        return where
    raise ValueError(f"{name} is {where!r}; expected a word of the sentence or a place in 0..{len(words) - 1}")


def two_hop(model: CoreferenceModel, text: str = READINGS["tired"], seed: int = 0) -> float:
    """Does the last word move "it" between the two nouns? Its vector is replaced by a random one of the same norm.

    Returns the relative change of weight(it, first noun) / weight(it, second noun) in the last layer, the largest
    over heads. In one layer the last word is in neither score, so the ratio cannot change: 0 up to rounding.
    """
    stream = model.embed(encode(text)).detach()
    noise = torch.randn(stream.shape[-1], dtype=stream.dtype, generator=torch.Generator().manual_seed(seed))
    changed = stream.clone()
    changed[LAST] = noise * stream[LAST].norm() / noise.norm()
    before, after = (_ratio(model.run(x)[1][-1]) for x in (stream, changed))
    return (after / before - 1).abs().max().item()


def _ratio(weights):
    """weight(it, first noun) / weight(it, second noun) for each head."""
    return (weights[:, IT, FIRST] / weights[:, IT, SECOND]).detach()


# -- data for the explorer ----------------------------------------------------------------

def explorer_data(models: Iterable, readings: dict[str, str] = READINGS, digits: int = 3) -> dict:
    """All that the CoreferenceExplorer widget shows, as plain rounded numbers (its module says in which shape).

    models: (model, report) pairs from train_coreference, or seeds, which are trained here with its defaults.
    """
    pairs = [train_coreference(item) if isinstance(item, int) else item for item in models]
    return {
        "words": {name: text.split() for name, text in readings.items()},
        "models": [_entry(model, report, readings, digits) for model, report in pairs],
    }


def _entry(model, report, readings, digits):
    return {
        "seed": report.seed, "causal": report.causal,
        "layers": len(model.layers), "heads": model.layers[0].n_heads,
        "accuracy": round(report.accuracy, digits),
        "readings": {name: _reading(model, text, digits) for name, text in readings.items()},
    }


def _reading(model, text, digits):
    """Weights and answer of one sentence, and the answer after each single weight in the row that is read is cut."""
    whole, query = read(model, text), model.read_at
    cuts = [
        {"layer": layer, "head": head, "query": query, "key": key,
         "answer": _rounded(cut(model, text, layer, query, key, head).answer, digits)}
        for layer, head, key in product(range(len(model.layers)), range(model.layers[0].n_heads), range(LENGTH))
        if not (model.causal and key > query)
    ]
    return {"answer": _rounded(whole.answer, digits), "weights": _nested(whole.weights.tolist(), digits), "cuts": cuts}


def _rounded(answer, digits):
    return {noun: round(p, digits) for noun, p in answer.items()}


def _nested(values, digits):
    return round(values, digits) if isinstance(values, float) else [_nested(v, digits) for v in values]
