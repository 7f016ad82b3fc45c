"""SmolLM2-135M-Instruct, a decoder of 30 layers in the manner of Llama, from the book's parts.

Pre-norm RMSNorm, RoPE on neighbouring features, 9 query heads on 3 heads of keys and values, a gated network, causal.
134.5 million numbers, stored with 4 to 8 bits each, Apache-2.0. Source: Ben Allal et al. 2025 (SmolLM2).
"""

from collections.abc import Sequence
from functools import cache, partial

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnbook.attention import merge_heads, split_heads
from attnbook.pretrained.edits import Edit
from attnbook.pretrained.files import SMOLLM2, libraries, locate
from attnbook.pretrained.trace import Trace
from attnbook.projections import grouped_query_attention
from attnbook.residual import residual_block, rms_norm
from attnbook.rotary import rope
from attnbook.softmax import sample, softmax

LAYERS, HEADS, KV_HEADS, WIDTH, BASE, EPS = 30, 9, 3, 576, 100_000.0, 1e-5


class SmolLM2:
    """The decoder: model(text or ids) -> Trace; model.logits(ids) keeps no trace; model.write(text) goes on with it.

    Raises ModelMissing where its files are not installed.
    """

    def __init__(self):
        path = locate(SMOLLM2)[SMOLLM2.weights]
        gguf, tokenizers = libraries(SMOLLM2)
        reader = gguf.GGUFReader(path)
        self.tokenizer = _tokenizer(tokenizers, {name: reader.get_field(f"tokenizer.ggml.{name}").contents()
                                                 for name in ("tokens", "merges", "token_type")})
        self.weights = {
            part.name: torch.from_numpy(gguf.quants.dequantize(part.data, part.tensor_type).copy()).float()
            for part in reader.tensors
        }

    def encode(self, text: str) -> Int[Tensor, "T"]:
        """Token ids of a text; nothing is put before it."""
        return torch.tensor(self.tokenizer.encode(text).ids, dtype=torch.long)

    def decode(self, ids: Sequence[int] | Tensor) -> str:
        """The text of token ids."""
        return self.tokenizer.decode([int(i) for i in ids], skip_special_tokens=False)

    def tokens(self, ids: Int[Tensor, "T"]) -> list[str]:
        """The pieces that ids stand for, with the space before a word."""
        return [self.decode([i]) for i in ids]

    @torch.no_grad()
    def __call__(self, text: str | Tensor, edit: Edit | None = None) -> Trace:
        ids = self.encode(text) if isinstance(text, str) else text
        stream, maps, inner = [], [], []
        x = self._run(ids, edit, maps=maps, stream=stream, inner=inner)
        return Trace(self.tokens(ids), torch.stack(stream), torch.stack(maps), self._read_out(x), torch.stack(inner))

    @torch.no_grad()
    def logits(self, ids: Int[Tensor, "... T"], edit: Edit | None = None, turn: bool = True) -> Float[Tensor, "... T V"]:
        """Logits of the next token at every place. turn=False switches RoPE off: queries and keys stay as they are."""
        return self._read_out(self._run(ids, edit, turn=turn))

    @torch.no_grad()
    def write(self, text: str, length: int = 20, temperature: float = 0.0, seed: int = 0, copies: int = 1) -> list[str]:
        """Go on with a text by `length` tokens, `copies` times side by side; temperature 0 takes the likeliest."""
        generator = torch.Generator().manual_seed(seed)
        new, written, cache = self.encode(text).expand(copies, -1), [], [None] * LAYERS
        for _ in range(length):
            last = self._read_out(self._run(new, cache=cache)[:, -1])
            new = sample(last, temperature, generator=generator)[:, None]
            written.append(new)
        return [self.decode(row) for row in torch.cat(written, 1)]

    def _run(self, ids, edit=None, turn=True, cache=None, maps=None, stream=None, inner=None):
        """The stream after the last layer, before the last norm; what is on the way is appended to the lists given.

        cache: the keys and values so far, one entry a layer, lengthened in place.
        """
        x = self.weights["token_embd.weight"][ids]
        _keep(stream, x)
        for layer in range(LAYERS):
            attend = partial(self._attend, layer=layer, edit=edit, turn=turn, cache=cache, maps=maps)
            x = residual_block(x, attend, partial(self._norm, name=f"blk.{layer}.attn_norm"))
            _keep(inner, x)
            x = residual_block(x, partial(self._network, layer=layer), partial(self._norm, name=f"blk.{layer}.ffn_norm"))
            _keep(stream, x)
        return x

    def _attend(self, x, layer, edit, turn, cache, maps):
        """Nine query heads on three heads of keys and values; their weights are appended to maps."""
        q, k, v = (split_heads(self._linear(x, f"blk.{layer}.attn_{part}"), heads)
                   for part, heads in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)))
        past = cache[layer] if cache else None
        if turn:
            start = past[0].shape[-2] if past else 0
            q, k = (rope(part, start, layout="interleaved", base=BASE) for part in (q, k))
        if cache:
            k, v = (k, v) if past is None else (torch.cat(both, -2) for both in zip(past, (k, v), strict=True))
            cache[layer] = (k, v)
        normalise = softmax if edit is None else lambda scores: edit(layer, softmax(scores))
        out, weights = grouped_query_attention(q, k, v, causal=True, normalise=normalise)
        _keep(maps, weights)
        return self._linear(merge_heads(out), f"blk.{layer}.attn_output")

    def _network(self, x, layer):
        """SwiGLU: one projection opens and closes the other. Source: Shazeer 2020."""
        gate, up = (self._linear(x, f"blk.{layer}.ffn_{part}") for part in ("gate", "up"))
        return self._linear(nn.functional.silu(gate) * up, f"blk.{layer}.ffn_down")

    def _linear(self, x, name):
        return nn.functional.linear(x, self.weights[f"{name}.weight"])

    def _norm(self, x, name):
        return rms_norm(x, self.weights[f"{name}.weight"], EPS)

    def _read_out(self, x):
        """Logits: the embedding table read backwards, for it is tied."""
        return self._norm(x, "output_norm") @ self.weights["token_embd.weight"].T


def _keep(where, x):
    if where is not None:
        where.append(x)


def _tokenizer(tokenizers, fields):
    """Byte-level BPE from the lists in the GGUF file; every digit stands alone, special tokens are never split."""
    vocabulary = {token: i for i, token in enumerate(fields["tokens"])}
    merges = [tuple(merge.split(" ")) for merge in fields["merges"]]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([
        tokenizers.pre_tokenizers.Digits(individual_digits=True),
        tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False),
    ])
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    control = [token for token, kind in zip(fields["tokens"], fields["token_type"], strict=True) if kind == 3]
    tokenizer.add_special_tokens(control)
    return tokenizer


@cache
def load_smollm2() -> SmolLM2:
    """The decoder, read once."""
    return SmolLM2()
