"""CacheLab: how query heads share keys and values, and what that costs for published models."""

import traitlets

from attnbook.caches import PUBLISHED, kv_cache_bytes
from attnbook.widgets import _svg
from attnbook.widgets._lab import Lab, bilingual

KINDS = ("MHA", "GQA", "MQA", "MLA")
BASE = "DeepSeek 67B"  # at 16 bits, what the quoted 93.3 % is measured against
LEFT, WIDTH = 52, 200  # the bars in the viewBox


# -- arithmetic, the same as in cache.js --------------------------------------------------

def sizes(layers, heads, kv_heads, d_head, latent, bits):
    """Bytes per token of the four kinds, {"MHA": ..., "GQA": ..., "MQA": ..., "MLA": ...}."""
    counts = {"MHA": heads, "GQA": kv_heads, "MQA": 1}
    plain = {kind: kv_cache_bytes(layers, n, d_head, bits=bits) for kind, n in counts.items()}
    return plain | {"MLA": kv_cache_bytes(layers, 1, d_head, bits=bits, d_latent=latent)}


def less_than_base(size):
    """By what share a size per token is below that of DeepSeek 67B at 16 bits (negative: it is above)."""
    return 1 - size / PUBLISHED[BASE].cache_bytes()


def amount(n):
    """Bytes in words: 67.5 KiB, 8.44 GiB."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if n < 1024:
            break
        n /= 1024
    else:
        unit = "TiB"
    return f"{_svg.fmt(n)} {unit}"


def own_kind(model):
    """How a published model shares: "MLA", "MHA" or "GQA"."""
    return "MLA" if model.d_latent else "MHA" if model.n_kv_heads == model.n_heads else "GQA"


# -- the lab ------------------------------------------------------------------------------

class CacheLab(Lab):
    """A published model is the start; heads of keys, latent, layers, context and bits are the reader's.

    model: a name of attnbook.caches.PUBLISHED. kind: MHA, GQA, MQA or MLA. shares: log2 of the query heads on one head
    of keys (GQA). latent: numbers per token and layer (MLA). layers; context: log2 of the tokens; bits a number.
    models: the sizes of all published models, [n_layers, n_heads, n_kv_heads, d_head, d_latent or 0, context] by name.
    """

    module = "cache"
    shown = ("model", "kind", "bits")
    title = bilingual("Who shares keys, and what the cache costs", "谁共享键，缓存要花多少")
    model = traitlets.Enum(tuple(PUBLISHED), "DeepSeek-V2").tag(sync=True)
    kind = traitlets.Enum(KINDS, "MLA").tag(sync=True)
    shares = traitlets.Int(3, min=0, max=5).tag(sync=True)
    latent = traitlets.Int(576, min=64, max=2048).tag(sync=True)
    layers = traitlets.Int(60, min=1, max=128).tag(sync=True)
    context = traitlets.Int(17, min=10, max=20).tag(sync=True)
    bits = traitlets.Enum((16, 8, 6, 4), 16).tag(sync=True)
    models = traitlets.Dict().tag(sync=True)

    @traitlets.default("models")
    def _published(self):
        return {name: [m.n_layers, m.n_heads, m.n_kv_heads, m.d_head, m.d_latent or 0, m.context]
                for name, m in PUBLISHED.items()}

    def _sizes(self):
        m = PUBLISHED[self.model]
        return sizes(self.layers, m.n_heads, kv_heads(m.n_heads, self.shares), m.d_head, self.latent, self.bits)

    def picture(self, label):
        m = PUBLISHED[self.model]
        n_kv = {"MHA": m.n_heads, "GQA": kv_heads(m.n_heads, self.shares), "MQA": 1, "MLA": 0}[self.kind]
        return _svg.beside(label, _svg.picture(340, 150, _sharing(m.n_heads, n_kv)),
                           _svg.picture(340, 150, _bars(self._sizes(), self.kind)))

    def caption(self):
        size = self._sizes()[self.kind]
        cut = less_than_base(size)
        whole, percent = amount(size * 2**self.context), f"{_svg.fix(100 * abs(cut), 1)} %"
        en, zh = ("below", "少") if cut >= 0 else ("above", "多")
        return (
            f"{self.model} with {self.kind} at {self.bits} bits: {amount(size)} per token, {whole} for "
            f"{2**self.context:,} tokens. That is {percent} {en} DeepSeek 67B at 16 bits.",
            f"{self.model}，{self.kind}，{self.bits} 比特：每个词元 {amount(size)}，{2**self.context:,} 个词元共 {whole}。"
            f"比 16 比特的 DeepSeek 67B {zh} {percent}。",
        )


def kv_heads(heads, shares):
    """Heads of keys when 2**shares query heads share one; at least 1."""
    return max(1, heads // 2**shares)


def _sharing(heads, n_kv):
    """Query heads above, heads of keys below, a line for each query head; n_kv = 0 is one latent."""
    shared = max(n_kv, 1)
    place = [170 + (h + 0.5 - heads / 2) * 320 / heads for h in range(heads)]
    below = [170 + (h + 0.5 - shared / 2) * 320 / shared for h in range(shared)]
    lines = "".join(f"M{x:.1f} 48L{below[h * shared // heads]:.1f} 104" for h, x in enumerate(place))
    dots = "".join(f"M{x:.1f} 44h0" for x in place)
    wide = min(12, 250 / shared)
    feet = "".join(f"M{x - wide / 2:.1f} 110h{wide:.1f}" for x in below) if n_kv else "M130 110h80"
    return (_svg.text(6, 20, f"{heads} query heads", f"{heads} 个查询头")
            + _svg.tag("path", d=lines, stroke=_svg.STREAM, stroke_width=0.8, fill="none")
            + _svg.tag("path", d=dots, stroke=_svg.QUERY, stroke_width=round(min(9, 250 / heads), 2),
                       stroke_linecap="round")
            + _svg.tag("path", d=feet, stroke=_svg.KEY if n_kv else _svg.WARN, stroke_width=11, fill="none")
            + _svg.text(6, 140, f"{n_kv} of keys and values" if n_kv else "one latent for all",
                        f"{n_kv} 个键值头" if n_kv else "共用一个潜在向量"))


def _bars(by_kind, chosen):
    most, parts = max(by_kind.values()), []
    for i, (kind, size) in enumerate(by_kind.items()):
        y, on = 12 + 34 * i, kind == chosen
        parts.append(_svg.text(6, y + 16, kind, font_weight=700 if on else 400)
                     + _svg.tag("rect", x=LEFT, y=y, width=round(max(1, WIDTH * size / most), 2), height=22,
                                fill=_svg.WEIGHTS if on else _svg.STREAM, fill_opacity=1 if on else 0.55)
                     + _svg.text(LEFT + 6 + WIDTH * size / most, y + 16, amount(size)))
    return "".join(parts)
