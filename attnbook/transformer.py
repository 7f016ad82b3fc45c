"""The parts of the book, assembled: a transformer that trains in seconds, and a cache for its keys and values (chapter 8).

    ids -> embedding (+ positions) -> n_layers times [attention, feed-forward], each added to the stream -> norm -> logits

Nothing here is new: attention is attnbook.attention, the stream attnbook.residual, positions attnbook.positions. A cached
layer differs in one stage, where keys and values come from. What the model has seen may arrive in chunks of any size.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnbook import _checks
from attnbook.attention import SelfAttention, attention, merge_heads
from attnbook.positions import rope, sinusoidal
from attnbook.residual import LayerNorm, residual_block
from attnbook.softmax import sample

POSITIONS = ("rope", "sinusoidal", "none")


# -- a cache ------------------------------------------------------------------------------

class KVCache:
    """What one attention layer keeps of the tokens it has seen: their keys and their values, nothing else.

    len(cache): tokens seen. keys (..., H, S, d_k) and values (..., H, S, d_v), or None before the first token.
    A cache is meant to grow; the tensors in it are never changed, so keys and values that were read stay as they were.
    """

    def __init__(self):
        self.keys: Tensor | None = None
        self.values: Tensor | None = None

    def __len__(self) -> int:
        return 0 if self.keys is None else self.keys.shape[-2]

    def __repr__(self):
        return f"KVCache({len(self)} tokens, {self.numbers()} numbers)"

    def numbers(self) -> int:
        """How many numbers the cache holds."""
        return 0 if self.keys is None else self.keys.numel() + self.values.numel()

    def extend(
        self, k: Float[Tensor, "... H L d_k"], v: Float[Tensor, "... H L d_v"]
    ) -> tuple[Float[Tensor, "... H S d_k"], Float[Tensor, "... H S d_v"]]:
        """Append the keys and values of L more tokens; returns those of all S tokens.

        Raises TypeError or ValueError, and keeps what it has, if they do not continue what is cached.
        """
        _checks.float_tensor("k", k, min_dim=2)
        _checks.float_tensor("v", v, min_dim=2)
        _checks.shape("v", v, f"{(*k.shape[:-1], 'd_v')}, as k", v.shape[:-1] == k.shape[:-1])
        if self.keys is None:
            self.keys, self.values = k, v
        else:
            self.keys, self.values = _joined("k", self.keys, k), _joined("v", self.values, v)
        return self.keys, self.values


def _joined(name, old, new):
    """Old and new rows as one tensor."""
    _checks.same_dtype(**{"cache": old, name: new})
    expected = (*old.shape[:-2], "L", old.shape[-1])
    fits = new.shape[:-2] == old.shape[:-2] and new.shape[-1] == old.shape[-1]
    _checks.shape(name, new, f"{expected}, to continue a cache of {old.shape[-2]} tokens", fits)
    return torch.cat((old, new), -2)


class CachedSelfAttention(SelfAttention):
    """Causal SelfAttention that can be given its sequence in chunks: earlier keys and values come from a cache.

    rotary: turn queries and keys by their positions, which go on counting where the cache ends.
    forward(x, mask=None, bias=None, cache=None): x (..., L, d_model), the next L tokens -> output (..., L, d_model),
    weights (..., H, L, S) over all S tokens seen so far. The cache is extended. Without one, x is the whole sequence.
    """

    def __init__(self, d_model: int, n_heads: int = 1, *, rotary: bool = False):
        super().__init__(d_model, n_heads, causal=True)
        self.rotary = rotary

    def forward(self, x, mask=None, bias=None, cache: KVCache | None = None):
        q, k, v = self.project(x)
        if self.rotary:
            start = 0 if cache is None else len(cache)
            q, k = rope(q, start), rope(k, start)
        if cache is not None:
            k, v = cache.extend(k, v)
        out, weights = attention(q, k, v, mask=mask, bias=bias, causal=True)
        return self.output(merge_heads(out)), weights


# -- the model ----------------------------------------------------------------------------

class Block(nn.Module):
    """One layer: tokens look at each other, then each thinks for itself; both results are added to the stream.

    forward(x, cache=None): (..., L, d_model) -> the same shape.
    """

    def __init__(self, d_model: int, n_heads: int, *, rotary: bool = False, order: str = "pre"):
        super().__init__()
        self.order = order
        self.norm_attend, self.attend = LayerNorm(d_model), CachedSelfAttention(d_model, n_heads, rotary=rotary)
        self.norm_think = LayerNorm(d_model)
        self.think = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.ReLU(), nn.Linear(4 * d_model, d_model))

    def forward(self, x, cache=None):
        x = residual_block(x, partial(self.attend, cache=cache), self.norm_attend, self.order)
        return residual_block(x, self.think, self.norm_think, self.order)


class TinyTransformer(nn.Module):
    """A decoder: logits for the next token at every place.

    n_tokens: size of the vocabulary. positions: "rope" (queries and keys are turned), "sinusoidal" (added to the
    embedding) or "none". order: "pre" or "post", where the norms stand; pre-norm has one more at the end.
    forward(ids, caches=None): ids (..., L) -> logits (..., L, n_tokens). caches, from new_caches(), hold what came before.

    Raises TypeError or ValueError for sizes that do not fit, unknown positions or ids outside the vocabulary.
    """

    def __init__(self, n_tokens: int, d_model: int = 64, n_heads: int = 4, n_layers: int = 2, *,
                 positions: str = "rope", order: str = "pre"):
        super().__init__()
        _checks.whole_number("n_tokens", n_tokens, minimum=1)
        _checks.whole_number("n_layers", n_layers)
        for name, value, known in (("positions", positions, POSITIONS), ("order", order, ("pre", "post"))):
            if value not in known:
                raise ValueError(f"{name} is {value!r}; expected one of {', '.join(known)}")
        self.positions = positions
        self.embed = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, n_heads, rotary=positions == "rope", order=order) for _ in range(n_layers))
        self.norm = LayerNorm(d_model) if order == "pre" else nn.Identity()
        self.read_out = nn.Linear(d_model, n_tokens, bias=False)

    def new_caches(self) -> list[KVCache]:
        """An empty cache for each layer, for one sequence or one batch of them."""
        return [KVCache() for _ in self.blocks]

    def forward(self, ids: Int[Tensor, "... L"], caches: Sequence[KVCache] | None = None) -> Float[Tensor, "... L V"]:
        x = self.embedded(ids, 0 if not caches else len(caches[0]))
        for block, cache in zip(self.blocks, self._one_each(caches), strict=True):
            x = block(x, cache)
        return self.read_out(self.norm(x))

    def embedded(self, ids: Int[Tensor, "... L"], start: int = 0) -> Float[Tensor, "... L d_model"]:
        """The stream as it enters the first layer; start: position of the first token."""
        self._check_ids(ids)
        x = self.embed(ids)
        if self.positions == "sinusoidal":
            x = x + sinusoidal(x.shape[-2], x.shape[-1], start=start, dtype=x.dtype).to(x.device)
        return x

    def _one_each(self, caches):
        if caches is None:
            return [None] * len(self.blocks)
        if len(caches) != len(self.blocks):
            raise ValueError(f"caches has {len(caches)} caches; expected {len(self.blocks)}, one for each layer")
        if len(set(map(len, caches))) > 1:
            raise ValueError(f"caches hold {[len(c) for c in caches]} tokens; expected the same number in each layer")
        return caches

    def _check_ids(self, ids):
        if not isinstance(ids, Tensor) or ids.dtype not in (torch.int32, torch.int64):
            raise TypeError(f"ids is {_checks.describe(ids)}; expected a tensor of whole numbers")
        _checks.shape("ids", ids, "(..., L)", ids.dim() >= 1)
        n = self.embed.num_embeddings
        if ids.numel() and not (0 <= int(ids.min()) and int(ids.max()) < n):
            raise ValueError(f"ids lie in {int(ids.min())}..{int(ids.max())}; expected 0..{n - 1}")


@torch.no_grad()
def generate(
    model: TinyTransformer,
    prompt: Int[Tensor, "... L"],
    length: int,
    choose: Callable[[Float[Tensor, "... V"]], Int[Tensor, "..."]] = sample,
    *,
    cached: bool = True,
) -> Int[Tensor, "... length"]:
    """Continue a prompt of at least one token by `length` tokens and return those.

    choose: logits of the next token (..., V) -> its id (...), for example partial(sample, temperature=0.5, generator=g).
    cached: keep keys and values; False runs the whole sequence again for every token, and writes the same.
    """
    _checks.whole_number("length", length)
    _checks.shape("prompt", prompt, "(..., L) with at least one token", prompt.dim() >= 1 and prompt.shape[-1] > 0)
    caches, ids, new = model.new_caches() if cached else None, prompt, prompt
    for _ in range(length):
        logits = model(new if cached else ids, caches)
        new = choose(logits[..., -1, :])[..., None]  # (..., 1)
        ids = torch.cat((ids, new), -1)
    return ids[..., prompt.shape[-1]:]
