"""FormulaLab: the whole formula with three tokens in the plane, every vector to be dragged."""

import math

import traitlets

from attnbook.widgets import _svg
from attnbook.widgets._lab import Lab, bilingual

STAGES = ("scores", "scaled", "weights", "output")
SUBSCRIPTS = "₁₂₃"
REACH = 3.0  # the plane shows -3 to 3 on both axes
UNIT, CENTRE = 52, (170, 160)  # pixels of the viewBox for 1, and where the origin lies
COLUMNS = (140, 215, 290)  # centres of the three keys in the strip
TOPS, BASES = (26, 100, 174, 248), (54, 128, 224)  # boxes of the four stages, feet of the bars in the first three


def attend(q, k, v):
    """Every stage for three tokens in plain Python: (scores, scaled, weights, output), lists of rows; d_k = 2."""
    scores = [[a[0] * b[0] + a[1] * b[1] for b in k] for a in q]
    scaled = [[x / math.sqrt(2) for x in row] for row in scores]
    weights = [_softmax(row) for row in scaled]
    output = [[sum(w * vector[axis] for w, vector in zip(row, v)) for axis in (0, 1)] for row in weights]
    return scores, scaled, weights, output


def _softmax(row):
    e = [math.exp(x - max(row)) for x in row]
    return [x / sum(e) for x in e]


def _vectors(start):
    """A trait of three points of the plane."""
    point = traitlets.List(traitlets.Float(min=-REACH, max=REACH), minlen=2, maxlen=2)
    return traitlets.List(point, default_value=start, minlen=3, maxlen=3).tag(sync=True)


class FormulaLab(Lab):
    """Three tokens, each with query, key and value in the plane (d_k = d_v = 2), and the four stages for one query.

    q, k, v: three [x, y] each, from -3 to 3. row: the token whose query is shown, 0 to 2.
    role: whose handles the keyboard reaches, query, key or value. stage: the part of the formula that is lit.
    """

    module = "formula"
    shown = ("row", "stage")
    title = bilingual("The whole formula with three tokens", "三个词元走完整个公式")
    q = _vectors([[0.9, 0.9], [-1.9, 0.6], [0.4, -1.6]])
    k = _vectors([[-1.2, 1.9], [1.0, -0.9], [2.3, 1.0]])
    v = _vectors([[-2.4, -1.4], [2.4, -2.2], [0.2, 2.6]])
    row = traitlets.Int(0, min=0, max=2).tag(sync=True)
    role = traitlets.Enum(("query", "key", "value"), "query").tag(sync=True)
    stage = traitlets.Enum(STAGES, "weights").tag(sync=True)

    def picture(self, label):
        stages = [matrix[self.row] for matrix in attend(self.q, self.k, self.v)]
        return _svg.beside(label, _svg.picture(340, 320, self._plane(stages[-1])),
                           _svg.picture(340, 320, _strip(self.row, *stages)))

    def caption(self):
        _, _, weights, output = (matrix[self.row] for matrix in attend(self.q, self.k, self.v))
        best, i = max(range(3), key=weights.__getitem__) + 1, self.row + 1
        w, at = _svg.fix(max(weights)), f"({_svg.fix(output[0])}, {_svg.fix(output[1])})"
        return (
            f"Weight of token {i} on token {best}: {w}; output {at}, inside the triangle of the three values. "
            "The strip shows the scores of its query with each key, the scores divided by √dₖ = √2, the weights "
            "and the output.",
            f"词元 {i} 对词元 {best} 的权重：{w}；输出 {at}，落在三个值围成的三角形内。"
            "右侧依次是它的查询与各个键的分数、除以 √dₖ = √2 之后的分数、权重和输出。",
        )

    def _plane(self, output):
        x, y = _place(output)
        points = {"query": self.q, "key": self.k, "value": self.v}
        corners = " ".join(f"{x:.2f},{y:.2f}" for x, y in map(_place, self.v))
        marks = "".join(
            _svg.mark(role, *_place(p)) + _svg.text(_place(p)[0] + 10, _place(p)[1] - 6, role[0] + SUBSCRIPTS[i])
            for role, three in points.items() for i, p in enumerate(three)
        )
        return (_svg.tag("path", d="M14 160H326M170 4V316", stroke=_svg.LINE)
                + _svg.tag("polygon", points=corners, fill=_svg.VALUE, fill_opacity=0.12, stroke=_svg.VALUE,
                           stroke_dasharray="5 4")
                + _svg.arrow(*CENTRE, x, y, _svg.INK)
                + _svg.text(x - 10, y + 16, "output", "输出", text_anchor="end", font_weight=600) + marks)


def _place(p):
    return CENTRE[0] + UNIT * p[0], CENTRE[1] - UNIT * p[1]


def _strip(row, scores, scaled, weights, output):
    """The four stages of one query, one above the other, a column for each key."""
    q, unit = f"q{SUBSCRIPTS[row]}", 22 / max(4.0, *map(abs, scores))
    names = (("scores", "分数", f"{q} · k"), ("scaled", "缩放", f"{q} · k / √2"),
             ("weights", "权重", "softmax"), ("output", "输出", "Σ w v"))
    parts = [_svg.tag("rect", x=1, y=top, width=338, height=68, rx=5, fill="none", stroke=_svg.LINE)
             + _svg.text(10, top + 28, en, zh) + _svg.text(10, top + 48, formula, fill=_svg.MUTED)
             for top, (en, zh, formula) in zip(TOPS, names)]
    for j, x in enumerate(COLUMNS):
        parts.append(_svg.text(x, 17, f"k{SUBSCRIPTS[j]}", text_anchor="middle"))
        bars = ((scores[j], unit, _svg.STREAM), (scaled[j], unit, _svg.STREAM), (weights[j], 44, _svg.WEIGHTS))
        parts += [_bar(x, top, base, *bar) for top, base, bar in zip(TOPS, BASES, bars)]
        parts.append(_svg.text(x, TOPS[3] + 28, f"{_svg.fix(weights[j])} v{SUBSCRIPTS[j]}", text_anchor="middle"))
    total = f"= ({_svg.fix(output[0])}, {_svg.fix(output[1])})"
    return "".join(parts) + _svg.text(COLUMNS[1], TOPS[3] + 53, total, text_anchor="middle", font_weight=600)


def _bar(x, top, base, value, unit, colour):
    """A bar on its foot with the number below."""
    return (_svg.tag("rect", x=x - 16, y=base - max(value, 0) * unit, width=32, height=abs(value) * unit, fill=colour)
            + _svg.tag("path", d=f"M{x - 24} {base}h48", stroke=_svg.LINE)
            + _svg.text(x, top + 63, _svg.fix(value), text_anchor="middle"))
