"""SmolLM2 on pages of a book: RoPE switched off, the first token hidden, a window that forgets it."""

import torch
from torch import Tensor

from attnbook.attention import causal_mask, local_mask
from attnbook.pretrained.edits import only
from attnbook.pretrained.smollm2 import load_smollm2
from attnbook.pretrained.trace import next_token_losses
from attnbook.sparse import sink_mask
from attnbook.tasks.characters import book

WINDOWS, LENGTH, WINDOW = 6, 200, 64  # passages, tokens in each, width of the sliding window
LATE = 12  # the layer, from 0, from which on the first token is hidden in "hidden late": its vector is huge by then


def passages(n: int = WINDOWS) -> list[Tensor]:
    """Token ids of passages of "Alice's Adventures in Wonderland", evenly spaced, each begun at a line."""
    text, model = book(), load_smollm2()
    starts = [text.index("\n", i * len(text) // WINDOWS + 2000) + 1 for i in range(n)]
    return [model.encode(text[start:start + 8 * LENGTH])[:LENGTH] for start in starts]


def _without(columns):
    """A causal mask that hides some keys from all but themselves."""
    mask = causal_mask(LENGTH)
    mask[:, columns] = False
    return mask | torch.eye(LENGTH, dtype=torch.bool)


def changes() -> dict[str, dict]:
    """Name -> how the model is changed."""
    return {
        "as it is": {}, "RoPE off": {"turn": False},
        "first token hidden": {"edit": only(_without([0]))},
        "first token hidden late": {"edit": only(_without([0]), LATE)},
        "four other tokens hidden": {"edit": only(_without([5, 6, 7, 8]))},
        "window": {"edit": only(local_mask(LENGTH, LENGTH, WINDOW))},
        "window and first token": {"edit": only(sink_mask(LENGTH, LENGTH, WINDOW, 1))},
        "window and first four": {"edit": only(sink_mask(LENGTH, LENGTH, WINDOW, 4))},
    }


def losses(n: int = WINDOWS, names=None) -> dict[str, list[float]]:
    """Nats per token of each passage, for each change."""
    model, wanted = load_smollm2(), passages(n)
    return {name: [float(next_token_losses(model.logits(ids, **change), ids).mean()) for ids in wanted]
            for name, change in changes().items() if names is None or name in names}


def sinks(n: int = WINDOWS) -> dict:
    """Share of the attention that goes to the first token, each layer and passage, from queries 100 on; and the token."""
    model, shares, tokens = load_smollm2(), [], []
    for ids in passages(n):
        trace = model(ids)
        shares.append(trace.weights[:, :, 100:, 0].mean((1, 2)).tolist())
        tokens.append(trace.tokens[0])
    return {"first": shares, "tokens": tokens}


def measured() -> dict:
    """All of it, for the committed file."""
    return {"losses": losses(), "sinks": sinks()}
