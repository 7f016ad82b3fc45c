"""What the cached keys and values cost, for sizes of your own and for published models (chapter 2)."""

from dataclasses import dataclass


def cached_numbers(n_layers: int, n_kv_heads: int, d_head: int, *, d_latent: int | None = None) -> int:
    """Numbers that stay behind for one token: 2 n_kv_heads d_head in each layer, a key and a value for each head.

    d_latent: for latent attention, the numbers per token and layer that take the place of that product.
    Raises TypeError or ValueError for sizes that are not whole numbers of at least 1.
    """
    sizes = {"n_layers": n_layers, "n_kv_heads": n_kv_heads, "d_head": d_head}
    for name, size in sizes.items() if d_latent is None else [*sizes.items(), ("d_latent", d_latent)]:
        _whole_number(name, size, minimum=1)
    return n_layers * (2 * n_kv_heads * d_head if d_latent is None else d_latent)


def kv_cache_bytes(
    n_layers: int, n_kv_heads: int, d_head: int, n_tokens: int = 1, *, bits: float = 16, d_latent: int | None = None
) -> float:
    """Bytes that the keys and values of n_tokens tokens take.

    n_layers, n_kv_heads, d_head: as in a model's configuration. n_tokens: over all sequences that are decoded at once.
    bits: bits per number (16 for float16 and bfloat16). d_latent: as of cached_numbers.
    Raises TypeError or ValueError for sizes below 1 (n_tokens below 0) and bits that are not positive.
    """
    _whole_number("n_tokens", n_tokens)
    if isinstance(bits, bool) or not isinstance(bits, (int, float)) or not 0 < bits < float("inf"):
        raise ValueError(f"bits is {bits!r}; expected a positive number")
    return cached_numbers(n_layers, n_kv_heads, d_head, d_latent=d_latent) * n_tokens * bits / 8


def _whole_number(name, x, minimum=0):
    """As _checks.whole_number, without torch, which a widget in a page has no use for."""
    if isinstance(x, bool) or not isinstance(x, int):
        raise TypeError(f"{name} is {type(x).__name__} {x!r}; expected a whole number")
    if x < minimum:
        raise ValueError(f"{name} is {x}; expected at least {minimum}")


@dataclass(frozen=True)
class Published:
    """The sizes of a published model that decide its cache.

    d_latent: latent attention only, width of the latent plus that of the rotary key all heads share.
    context: tokens it was published for. reference: keys of references.bib that state the sizes.
    """

    name: str
    n_layers: int
    n_heads: int
    n_kv_heads: int
    d_head: int
    context: int
    reference: tuple[str, ...]
    d_latent: int | None = None

    def numbers(self) -> int:
        """Numbers cached per token."""
        return cached_numbers(self.n_layers, self.n_kv_heads, self.d_head, d_latent=self.d_latent)

    def cache_bytes(self, n_tokens: int = 1, bits: float = 16) -> float:
        """Bytes of the cache of n_tokens tokens."""
        return kv_cache_bytes(self.n_layers, self.n_kv_heads, self.d_head, n_tokens, bits=bits, d_latent=self.d_latent)


PUBLISHED = {
    model.name: model
    for model in (
        Published("GPT-3 175B", 96, 96, 96, 128, 2048, ("brown2020gpt3",)),
        Published("Llama 3 8B", 32, 32, 8, 128, 8192, ("grattafiori2024llama3",)),
        Published("Llama 3 70B", 80, 64, 8, 128, 8192, ("grattafiori2024llama3",)),
        Published("Mistral 7B", 32, 32, 8, 128, 8192, ("jiang2023mistral",)),
        Published("DeepSeek 67B", 95, 64, 8, 128, 4096, ("deepseek2024llm",)),
        Published("DeepSeek-V2", 60, 128, 128, 128, 131072, ("deepseek2024v2",), d_latent=512 + 64),
    )
}
"""Published configurations by name. DeepSeek-V2's n_kv_heads are the heads it rebuilds, not what it caches."""
