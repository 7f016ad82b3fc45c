"""What do weights explain? The weights of a trained model are replaced, shuffled and compared with effects (chapter 7).

Everything is asked of one row, the row of the word whose place the answer is read from, since in the last layer no
other row can matter. The answer is the lead of the first noun's score over the second's; its sign names the noun.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attnbook.attention import merge_heads, mix
from attnbook.tasks.coreference.model import CoreferenceModel, lead_of_first
from attnbook.tasks.coreference.sentences import LENGTH


def with_weights(
    model: CoreferenceModel, tokens: Int[Tensor, "N L"], layer: int, weights: Float[Tensor, "N H L L"]
) -> Float[Tensor, "N"]:
    """The lead of the first noun if the weights of one layer are these, whatever its queries and keys say."""
    stream = model.embed(tokens)
    for i, block in enumerate(model.layers):
        if i == layer:
            stream = stream + block.output(merge_heads(mix(weights, block.project(stream)[2])))
        else:
            stream = stream + block(stream)[0]
    return lead_of_first(model.answer(stream[..., model.read_at, :]), tokens)


def _last(model, tokens):
    """The weights of the last layer, (N, H, L, L), and the answer, True = first noun."""
    scores, weights = model(tokens)
    return weights[..., -1, :, :, :], lead_of_first(scores, tokens) > 0


def shuffled_answers(model: CoreferenceModel, tokens: Int[Tensor, "N L"], shuffles: int = 20, seed: int = 0) -> float:
    """Share of answers that stay when the weights of the row are dealt to the words at random, in each head anew."""
    generator = torch.Generator().manual_seed(seed)
    weights, answer = _last(model, tokens)
    row, kept = weights[:, :, model.read_at], []
    for _ in range(shuffles):
        order = torch.rand(row.shape, generator=generator).argsort(-1)
        kept.append((_answer(model, tokens, weights, row.gather(-1, order)) == answer).double().mean())
    return torch.stack(kept).mean().item()


def silenced_answers(model: CoreferenceModel, tokens: Int[Tensor, "N L"]) -> float:
    """Share of answers that stay when the row is 0 in all heads, so that the last layer tells the word nothing."""
    weights, answer = _last(model, tokens)
    changed = _answer(model, tokens, weights, torch.zeros_like(weights[:, :, model.read_at]))
    return (changed == answer).double().mean().item()


def _answer(model, tokens, weights, row):
    """The answer, True = first noun, with another row (N, H, L) in the weights of the last layer."""
    changed = weights.clone()
    changed[:, :, model.read_at] = row
    return with_weights(model, tokens, len(model.layers) - 1, changed) > 0


def one_hot_answers(model: CoreferenceModel, tokens: Int[Tensor, "N L"]) -> Float[Tensor, "N H"]:
    """How far the row of one head can be moved while the answer stays the same noun.

    Tried: all weight on one word, each in turn. Returned: the largest distance sum |new - old| / 2 among those that
    leave the answer, 0 if none does. 1 means that a map with nothing in common gives the same answer.
    """
    weights, answer = _last(model, tokens)
    farthest = torch.zeros(weights.shape[:2], dtype=weights.dtype)
    for head in range(weights.shape[1]):
        for key in range(LENGTH):
            row = weights[:, :, model.read_at].clone()
            distance = 1 - row[:, head, key]
            row[:, head] = torch.eye(LENGTH, dtype=weights.dtype)[key]
            kept = _answer(model, tokens, weights, row) == answer
            farthest[:, head] = torch.maximum(farthest[:, head], torch.where(kept, distance, 0.0))
    return farthest


def effects(model: CoreferenceModel, tokens: Int[Tensor, "N L"]) -> dict[str, Float[Tensor, "N layers H L"]]:
    """The row's weights, and three answers to "how much did this word matter", each as the size of a change of the lead.

    weight: as the model gives it. cut: this one weight set to 0, the others divided by their new sum. gradient: slope of
    the lead with respect to the score behind the weight. occlusion: the word replaced by the mean of all words, with its
    place kept; the same for all heads.
    """
    query, layers, heads = model.read_at, len(model.layers), model.layers[0].n_heads
    scores, weights = model(tokens)
    lead = lead_of_first(scores, tokens)
    found = {"weight": weights[..., query, :], "cut": torch.zeros(len(tokens), layers, heads, LENGTH, dtype=lead.dtype)}
    for layer in range(layers):
        for head in range(heads):
            for key in range(LENGTH):
                mask = torch.ones(len(tokens), heads, LENGTH, LENGTH, dtype=torch.bool)
                mask[:, head, query, key] = False
                changed = lead_of_first(model(tokens, {layer: mask})[0], tokens)
                found["cut"][:, layer, head, key] = (changed - lead).abs()
    added = {i: torch.zeros(len(tokens), heads, LENGTH, LENGTH, dtype=lead.dtype, requires_grad=True)
             for i in range(layers)}
    slopes = torch.autograd.grad(lead_of_first(model(tokens, added)[0], tokens).sum(), list(added.values()))
    found["gradient"] = torch.stack([x[:, :, query].abs() for x in slopes], 1)
    occluded = torch.stack([(_without(model, tokens, key) - lead).abs() for key in range(LENGTH)], -1)
    found["occlusion"] = occluded[:, None, None].expand_as(found["cut"])
    return found


def _without(model, tokens, key):
    """The lead when one word is replaced by the mean of all words."""
    stream = model.embed(tokens).clone()
    stream[:, key] += model.embedding.weight.mean(0) - model.embedding(tokens[:, key])
    scores = model.answer(model.run(stream)[0][..., model.read_at, :])
    return lead_of_first(scores, tokens)
