"""all-MiniLM-L6-v2, a BERT encoder of 6 layers with 12 heads, from the book's parts.

Post-norm LayerNorm, learned positions, every token sees every token. 22.7 million numbers, Apache-2.0.
Source: Devlin et al. 2019 (BERT); Wang et al. 2020 (MiniLM).
"""

from functools import cache, partial

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnbook.attention import attention, merge_heads, split_heads
from attnbook.pretrained.edits import Edit
from attnbook.pretrained.files import MINILM, libraries, locate
from attnbook.pretrained.trace import Trace
from attnbook.residual import layer_norm, residual_block
from attnbook.softmax import softmax

LAYERS, HEADS, WIDTH, EPS, LONGEST = 6, 12, 384, 1e-12, 512


class MiniLM:
    """The encoder: model(text) -> Trace; model.sentence(text) -> one vector.

    Raises ModelMissing where its files are not installed.
    """

    def __init__(self):
        files = locate(MINILM)
        _, tokenizers = libraries(MINILM)
        from safetensors.torch import load_file

        self.tokenizer = tokenizers.Tokenizer.from_file(str(files["model/tokenizer.json"]))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(LONGEST)
        self.weights = load_file(files["model/model.safetensors"])

    def encode(self, text: str) -> Int[Tensor, "T"]:
        """Token ids of a text, with [CLS] before and [SEP] after; at most 512."""
        return torch.tensor(self.tokenizer.encode(text).ids)

    def tokens(self, ids: Int[Tensor, "T"]) -> list[str]:
        """The pieces that ids stand for; ## marks a piece that goes on with the word before it."""
        return [self.tokenizer.id_to_token(i) for i in ids.tolist()]

    @torch.no_grad()
    def __call__(self, text: str, edit: Edit | None = None) -> Trace:
        ids = self.encode(text)
        x = self._embed(ids)
        stream, maps, inner = [x], [], []
        for layer in range(LAYERS):
            block = f"encoder.layer.{layer}."
            norms = [partial(self._norm, name=block + part) for part in ("attention.output.LayerNorm", "output.LayerNorm")]
            x = residual_block(x, partial(self._attend, layer=layer, edit=edit, maps=maps), norms[0], order="post")
            inner.append(x)
            x = residual_block(x, partial(self._network, block=block), norms[1], order="post")
            stream.append(x)
        return Trace(self.tokens(ids), torch.stack(stream), torch.stack(maps), inner=torch.stack(inner))

    def sentence(self, text: str) -> Float[Tensor, "d"]:
        """The sentence vector that the model was trained for: the mean of the last layer at length 1."""
        mean = self(text).stream[-1].mean(0)
        return mean / mean.norm()

    def _embed(self, ids):
        parts = (("word", ids), ("position", torch.arange(len(ids))), ("token_type", torch.zeros_like(ids)))
        x = sum(self.weights[f"embeddings.{name}_embeddings.weight"][at] for name, at in parts)
        return self._norm(x, "embeddings.LayerNorm")

    def _attend(self, x, layer, edit, maps):
        """Twelve heads of the book's formula; their weights are appended to maps."""
        name = f"encoder.layer.{layer}.attention."
        q, k, v = (split_heads(self._linear(x, f"{name}self.{part}"), HEADS) for part in ("query", "key", "value"))
        normalise = softmax if edit is None else lambda scores: edit(layer, softmax(scores))
        out, weights = attention(q, k, v, normalise=normalise)
        maps.append(weights)
        return self._linear(merge_heads(out), f"{name}output.dense")

    def _network(self, x, block):
        return self._linear(nn.functional.gelu(self._linear(x, f"{block}intermediate.dense")), f"{block}output.dense")

    def _linear(self, x, name):
        return nn.functional.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def _norm(self, x, name):
        return layer_norm(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"], EPS)


@cache
def load_minilm() -> MiniLM:
    """The encoder, read once."""
    return MiniLM()
