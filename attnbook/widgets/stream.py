"""StreamLab: depth, kind of connection and branch scale against the gradient and the cosine of each layer.

A stack of feed-forward layers, 32 wide, before any training, on four tokens:

    f(z) = s sqrt(2) W relu(z)    W with independent normal entries of variance 1 / 32

so that at branch scale s = 1 a layer keeps the size of what it sees on average. Forward and backward pass are computed
here and, for the page, in stream.js, from the same random numbers.
"""

import math
from functools import lru_cache
from operator import mul

import traitlets

from attnbook.widgets import _svg
from attnbook.widgets._lab import Lab, bilingual
from attnbook.widgets.scale import mulberry, normals

DEEPEST, WIDTH, TOKENS, EPS = 96, 32, 4, 1e-5
WIDE, TALL = 300, 256
PLOT = {"left": 40, "right": 288, "top": 26, "bottom": 200}
LOW, HIGH = -12, 6  # powers of ten at the ends of the axis of the gradient


# -- arithmetic, the same as in stream.js -------------------------------------------------

@lru_cache(maxsize=2)
def sample(seed: int):
    """Rows and columns of the DEEPEST matrices, the TOKENS vectors at the input, and the gradients at the end."""
    uniform = mulberry(seed)

    def rows(n, scale=1.0):
        return [[scale * x for x in normals(uniform, WIDTH)] for _ in range(n)]

    start, probe = rows(TOKENS), rows(TOKENS)
    matrices = [rows(WIDTH, math.sqrt(2 / WIDTH)) for _ in range(DEEPEST)]
    return matrices, [list(zip(*m, strict=True)) for m in matrices], start, probe


def normed(x: list[float]) -> list[float]:
    """LayerNorm of one vector."""
    mean = sum(x) / WIDTH
    deviation = math.sqrt(sum((a - mean) ** 2 for a in x) / WIDTH + EPS)
    return [(a - mean) / deviation for a in x]


def norm_back(x: list[float], g: list[float]) -> list[float]:
    """The gradient in front of the norm, from the one behind it."""
    mean = sum(x) / WIDTH
    deviation = math.sqrt(sum((a - mean) ** 2 for a in x) / WIDTH + EPS)
    y = [(a - mean) / deviation for a in x]
    flat, along = sum(g) / WIDTH, sum(map(mul, g, y)) / WIDTH
    return [(b - flat - a * along) / deviation for a, b in zip(y, g, strict=True)]


def branch(rows, z, scale):
    """f(z)."""
    active = [max(a, 0.0) for a in z]
    return [scale * sum(map(mul, row, active)) for row in rows]


def branch_back(columns, z, g, scale):
    """The gradient in front of f, from the one behind it."""
    return [scale * sum(map(mul, column, g)) if a > 0 else 0.0 for column, a in zip(columns, z, strict=True)]


def _add(a, b):
    return list(map(sum, zip(a, b, strict=True)))


def forward(kind: str, rows, x: list[float], scale: float) -> list[float]:
    """One layer: "none" f(x), "pre" x + f(norm(x)), "post" norm(x + f(x))."""
    if kind == "none":
        return branch(rows, x, scale)
    if kind == "pre":
        return _add(x, branch(rows, normed(x), scale))
    return normed(_add(x, branch(rows, x, scale)))


def backward(kind: str, rows, columns, x: list[float], g: list[float], scale: float) -> list[float]:
    """The gradient in front of one layer."""
    if kind == "none":
        return branch_back(columns, x, g, scale)
    if kind == "pre":
        return _add(g, norm_back(x, branch_back(columns, normed(x), g, scale)))
    g = norm_back(_add(x, branch(rows, x, scale)), g)
    return _add(g, branch_back(columns, x, g, scale))


def curves(seed: int, kind: str, depth: int, scale: float) -> tuple[list[float], list[float]]:
    """Length of the gradient at layers 0..depth against the one at the end, and cosine with the input, mean over tokens."""
    matrices, columns, start, probe = sample(seed)
    gradients, cosines = [0.0] * (depth + 1), [0.0] * (depth + 1)
    for x, g in zip(start, probe, strict=True):
        states = [x]
        for layer in range(depth):
            states.append(forward(kind, matrices[layer], states[-1], scale))
        for layer in range(depth, -1, -1):
            if layer < depth:
                g = backward(kind, matrices[layer], columns[layer], states[layer], g, scale)
            gradients[layer] += sum(map(mul, g, g))
            cosines[layer] += cosine(states[layer], x) / TOKENS
    return [math.sqrt(total / gradients[depth]) for total in gradients], cosines


def cosine(a: list[float], b: list[float]) -> float:
    """0 if one of them is 0."""
    size = math.sqrt(sum(map(mul, a, a)) * sum(map(mul, b, b)))
    return sum(map(mul, a, b)) / size if size > 0 else 0.0


# -- the lab ------------------------------------------------------------------------------

NAMES = {"none": ("no residual", "无残差"), "pre": ("pre-norm", "前置归一化"), "post": ("post-norm", "后置归一化")}
STROKES = {"none": {"stroke": _svg.WARN, "stroke_dasharray": "2 3"}, "pre": {"stroke": _svg.STREAM},
           "post": {"stroke": _svg.WEIGHTS, "stroke_dasharray": "6 3"}}


class StreamLab(Lab):
    """Depth, kind and branch scale are set by the reader; gradient and cosine of each layer answer at once."""

    module = "stream"
    shown = ("depth", "kind", "scale")
    title = bilingual("The stream, layer by layer", "逐层看残差流")
    depth = traitlets.Int(96, min=1, max=DEEPEST).tag(sync=True)
    kind = traitlets.Enum(list(NAMES), default_value="pre").tag(sync=True)
    scale = traitlets.Float(1.0, min=0.1, max=2.0).tag(sync=True)
    seed = traitlets.Int(1, min=1, max=9999).tag(sync=True)

    def picture(self, label):
        found = {kind: curves(self.seed, kind, self.depth, self.scale) for kind in NAMES}
        return _svg.beside(label, _svg.picture(WIDE, TALL, *_panel(self, found, 0)),
                           _svg.picture(WIDE, TALL, *_panel(self, found, 1)))

    def caption(self):
        gradients, cosines = curves(self.seed, self.kind, self.depth, self.scale)
        left, cos, (en, zh) = _svg.fmt(gradients[0]), _svg.fix(cosines[-1]), NAMES[self.kind]
        return (f"{self.depth} layers, {en}, branch scale {self.scale:.2f}: at the input the gradient is {left} of the one "
                f"at the end; at the end the cosine with the input is {cos}.",
                f"{self.depth} 层，{zh}，支路缩放 {self.scale:.2f}：输入处的梯度是末端的 {left} 倍；"
                f"末端与输入的余弦为 {cos}。")


# -- its static picture, the geometry of stream.js ----------------------------------------

def _across(layer):
    return PLOT["left"] + layer / DEEPEST * (PLOT["right"] - PLOT["left"])


def place(which: int, value: float) -> float | None:
    """Height of a value: 0 at the top of the plot, 1 at its bottom, None outside. which: 0 gradient, 1 cosine."""
    if which == 1:
        share = (1 - value) / 1.4
    else:
        share = (HIGH - math.log10(value)) / (HIGH - LOW) if value > 0 else 2.0
    return share if 0 <= share <= 1 else None


def _down(share):
    return PLOT["top"] + share * (PLOT["bottom"] - PLOT["top"])


def _ticks(which):
    if which == 1:
        return [(value, _svg.fix(value, 1)) for value in (1.0, 0.5, 0.0)]
    raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return [(10.0**p, "10" + str(p).translate(raised) if p else "1") for p in (6, 3, 0, -3, -6, -9, -12)]


def _panel(lab, found, which):
    titles = (("gradient at each layer, end = 1 (log)", "各层的梯度，末端为 1（对数）"),
              ("cosine with the input", "与输入的余弦"))
    yield _svg.text(4, 14, *titles[which])
    for value, words in _ticks(which):
        y = _down(place(which, value))
        yield _svg.tag("path", d=f"M{PLOT['left']} {y:.1f}H{PLOT['right']}", stroke=_svg.LINE)
        yield _svg.text(PLOT["left"] - 5, y + 4, words, font_size=12, text_anchor="end")
    for layer in (0, 24, 48, 72, 96):
        yield _svg.text(_across(layer), PLOT["bottom"] + 16, str(layer), font_size=12, text_anchor="middle")
    yield _svg.text((PLOT["left"] + PLOT["right"]) / 2, PLOT["bottom"] + 32, "layer", "层", text_anchor="middle")
    for kind, both in found.items():
        seen = [(i, place(which, v)) for i, v in enumerate(both[which])]
        points = [f"{_across(i):.1f} {_down(share):.1f}" for i, share in seen if share is not None]
        if points:
            yield _svg.tag("path", d="M" + "L".join(points), fill="none", **STROKES[kind],
                           stroke_width=3 if kind == lab.kind else 1.2)
    for i, kind in enumerate(found):
        yield _svg.tag("path", d=f"M{4 + 100 * i} 246h22", fill="none", **STROKES[kind], stroke_width=2)
        yield _svg.text(30 + 100 * i, 250, *NAMES[kind], font_size=12)
