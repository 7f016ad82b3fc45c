"""SoftmaxLab: scores to drag, a temperature, and what becomes of them: shares, entropy, argmax, Jacobian."""

import math

import traitlets

from attnbook.widgets import _svg
from attnbook.widgets._lab import Lab, bilingual

CHANGES = {"none": (1, 0), "plus": (1, 100), "double": (2, 0), "ten": (10, 0), "hundred": (100, 0)}  # factor, shift
REACH = 4.0  # scores are dragged from -4 to 4
COLD, HOT = 0.05, 10.0
WIDE, TALL, ZERO, UNIT, FLOOR, BAR = 320, 330, 92, 17, 286, 92  # the geometry of softmax.js
MAP, LEFT, TOP = 270, 28, 26


# -- arithmetic, the same as in softmax.js ------------------------------------------------

def changed(logits: list[float], change: str) -> list[float]:
    """The scores after a change: a factor, or 100 more for each."""
    factor, shift = CHANGES[change]
    return [factor * x + shift for x in logits]


def shares(scores: list[float], temperature: float) -> list[float]:
    """Softmax of scores / T in plain Python."""
    peak = max(scores)
    e = [math.exp((x - peak) / temperature) for x in scores]
    return [x / sum(e) for x in e]


def entropy_of(p: list[float]) -> float:
    """Entropy in nats."""
    return -sum(x * math.log(x) for x in p if x > 0) + 0.0


def jacobian(p: list[float], temperature: float = 1.0) -> list[list[float]]:
    """J[i][j] = p_i (delta_ij - p_j) / T."""
    return [[a * ((i == j) - b) / temperature for j, b in enumerate(p)] for i, a in enumerate(p)]


def norm_of(matrix: list[list[float]]) -> float:
    """Root of the sum of squares."""
    return math.sqrt(sum(x * x for row in matrix for x in row))


# -- the lab ------------------------------------------------------------------------------

class SoftmaxLab(Lab):
    """Two to five scores are dragged; a temperature divides them, and a change is made to all of them first.

    logits: from -4 to 4 each. temperature: 0.05 to 10. change: none, plus (100 more for each), double, ten or hundred
    (factors), so that 1, 2, 3 with ten and hundred are the rows of the source's table.
    """

    module = "softmax"
    shown = ("temperature", "change")
    title = bilingual("From scores to shares", "从分数到份额")
    logits = traitlets.List(traitlets.Float(min=-REACH, max=REACH), default_value=[2.0, 1.0, 0.1, -0.5, -1.5],
                            minlen=2, maxlen=5).tag(sync=True)
    temperature = traitlets.Float(1.0, min=COLD, max=HOT).tag(sync=True)
    change = traitlets.Enum(tuple(CHANGES), "none").tag(sync=True)

    def picture(self, label):
        scores = changed(self.logits, self.change)
        p = shares(scores, self.temperature)
        return _svg.beside(label, _svg.picture(WIDE, TALL, *_columns(self.logits, scores, p)),
                           _svg.picture(MAP + 40, TALL, *_map(jacobian(p, self.temperature))))

    def caption(self):
        p = shares(changed(self.logits, self.change), self.temperature)
        best, e, norm = p.index(max(p)), entropy_of(p), norm_of(jacobian(p, self.temperature))
        top, spread, count, size = _svg.fix(p[best], 3), _svg.fix(e), _svg.fix(math.exp(e)), _svg.fmt(norm)
        return (f"Temperature {_svg.fix(self.temperature)}. Largest share {top} (score {best + 1}); entropy {spread} nats, as if "
                f"{count} of {len(p)} were in play; norm of the Jacobian {size}.",
                f"温度 {_svg.fix(self.temperature)}。最大份额 {top}（分数 {best + 1}）；熵 {spread} 奈特，相当于 {len(p)} 个候选中有 "
                f"{count} 个在起作用；雅可比矩阵的范数 {size}。")


# -- its static picture -------------------------------------------------------------------

def _short(x):
    return _svg.fix(x, 0 if abs(x) >= 100 else 1 if abs(x) >= 10 else 2)


def _columns(logits, scores, p):
    """Scores as points on stems, shares as bars below, a column each."""
    yield _svg.tag("path", d=f"M6 {ZERO}H{WIDE - 6}M6 {FLOOR}H{WIDE - 6}", stroke=_svg.LINE)
    yield _svg.text(4, 14, "scores", "分数") + _svg.text(4, FLOOR - BAR - 16, "shares", "份额")
    best, middle = scores.index(max(scores)), {"text_anchor": "middle"}
    for i, (logit, score, share) in enumerate(zip(logits, scores, p)):
        x, y, tall = WIDE * (i + 0.5) / len(p), ZERO - UNIT * logit, BAR * share
        yield _svg.tag("path", d=f"M{x:.1f} {ZERO}V{y:.1f}", stroke=_svg.STREAM, stroke_width=2)
        yield _svg.tag("circle", cx=x, cy=y, r=7, fill=_svg.STREAM)
        yield _svg.text(x, y - 12 if logit >= 0 else y + 22, _short(score), **middle)
        yield _svg.tag("rect", x=x - 16, y=FLOOR - tall, width=32, height=tall, fill=_svg.WEIGHTS)
        yield _svg.text(x, FLOOR + 17, _svg.fix(share, 3), **middle)
        if i == best:
            yield _svg.text(x, FLOOR - tall - 5, "argmax", font_weight=600, **middle)


def _map(J):
    """The Jacobian with its numbers: the fill says how large, the sign stands in the number."""
    side = MAP / len(J)
    yield _svg.text(LEFT, 14, "∂ share i / ∂ score j", "∂ 份额 i / ∂ 分数 j")
    for i, row in enumerate(J):
        yield _svg.text(LEFT - 8, TOP + (i + 0.5) * side + 5, str(i + 1), text_anchor="end", fill=_svg.MUTED)
        yield _svg.text(LEFT + (i + 0.5) * side, TOP + MAP + 18, str(i + 1), text_anchor="middle", fill=_svg.MUTED)
        for j, value in enumerate(row):
            box = {"x": LEFT + j * side, "y": TOP + i * side, "width": side, "height": side}
            yield _svg.tag("rect", **box, fill=_svg.STREAM if value < 0 else _svg.WEIGHTS, stroke=_svg.LINE,
                           fill_opacity=min(0.45, 0.9 * abs(value)))
            yield _svg.text(box["x"] + side / 2, box["y"] + side / 2 + 5, _svg.fix(value), text_anchor="middle")
