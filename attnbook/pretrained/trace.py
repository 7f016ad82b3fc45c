"""What a run of a model leaves behind."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass
class Trace:
    """Words, stream and attention of one text.

    tokens: T pieces of the text.
    stream: (layers + 1, T, d), what enters the first layer and what leaves each.
    weights: (layers, H, T, T), rows = queries, columns = keys.
    logits: (T, V), of a decoder only. inner: (layers, T, d), the stream between attention and network (before a norm).
    """

    tokens: list[str]
    stream: Float[Tensor, "layers+1 T d"]
    weights: Float[Tensor, "layers H T T"]
    logits: Float[Tensor, "T V"] | None = None
    inner: Float[Tensor, "layers T d"] | None = None

    def place(self, word: str, last: bool = False) -> list[int]:
        """Places of the pieces of a word, of its first (or last) occurrence. Raises ValueError if it is not there."""
        starts = range(len(self.tokens))
        for i in reversed(starts) if last else starts:
            text, end = "", i
            while end < len(self.tokens) and len(text) < len(word):
                text += self.tokens[end].strip().removeprefix("##")
                end += 1
            if text.lower() == word.lower():
                return list(range(i, end))
        raise ValueError(f"word is {word!r}; expected a word of {self.tokens}")

    def looks(self, query: str, key: str) -> Float[Tensor, "layers H"]:
        """Weight that each head gives from the last piece of one word to all pieces of another."""
        return self.weights[:, :, self.place(query, last=True)[-1], self.place(key)].sum(-1)


def next_token_losses(logits: Float[Tensor, "T V"], ids) -> Float[Tensor, "T-1"]:
    """Nats lost on tokens 2, 3, ..., T: minus the log probability that stood one place before each."""
    ids = torch.as_tensor(ids)
    return -logits[:-1].log_softmax(-1).gather(-1, ids[1:, None])[:, 0]
