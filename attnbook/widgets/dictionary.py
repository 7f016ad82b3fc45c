"""DictionaryLab: a query dragged among five keys, and what it reads from five values, soft or hard."""

import math

import traitlets

from attnbook.widgets import _svg
from attnbook.widgets._lab import Lab, bilingual

REACH = 3.0  # both planes show -3 to 3
UNIT, CENTRE = 52, (170, 165)  # pixels of the viewBox for 1, and where the origin lies
SUBSCRIPTS = "₁₂₃₄₅"
COLD, WARM = -1.5, 1.0  # powers of ten of the temperature


# -- arithmetic, the same as in dictionary.js ---------------------------------------------

def look_up(query, keys, values, temperature, hard):
    """(weights, output) of one query in plain Python: softmax(q · k / (√2 T)), or 1 for the best key if hard."""
    scores = [(query[0] * k[0] + query[1] * k[1]) / math.sqrt(2) for k in keys]
    if hard:
        best = scores.index(max(scores))
        weights = [float(j == best) for j in range(len(keys))]
    else:
        e = [math.exp((x - max(scores)) / temperature) for x in scores]
        weights = [x / sum(e) for x in e]
    return weights, [sum(w * v[axis] for w, v in zip(weights, values)) for axis in (0, 1)]


def effective(weights):
    """How many keys are read: the exponential of the entropy of the weights."""
    return math.exp(-sum(w * math.log(w) for w in weights if w > 0))


def _points(start):
    point = traitlets.List(traitlets.Float(min=-REACH, max=REACH), minlen=2, maxlen=2)
    return traitlets.List(point, default_value=start, minlen=5, maxlen=5).tag(sync=True)


# -- the lab ------------------------------------------------------------------------------

class DictionaryLab(Lab):
    """Left the plane of the keys with the query, right the plane of the values with the output.

    query: [x, y]. k, v: five keys and five values, [x, y] each. heat: power of ten of the temperature, -1.5 to 1.
    hard: the best key takes all. tied: the values are the keys.
    """

    module = "dictionary"
    shown = ("heat", "hard", "tied")
    title = bilingual("A dictionary that blends", "会混合的字典")
    query = traitlets.List(traitlets.Float(min=-REACH, max=REACH), [1.2, 0.6], minlen=2, maxlen=2).tag(sync=True)
    k = _points([[2.1, 1.0], [0.2, 2.3], [-2.1, 1.1], [-1.3, -1.8], [1.5, -1.7]])
    v = _points([[-1.9, 1.6], [2.4, 2.0], [1.9, -1.2], [-0.4, -2.4], [-2.5, -0.9]])
    heat = traitlets.Float(0.0, min=COLD, max=WARM).tag(sync=True)
    hard = traitlets.Bool(False).tag(sync=True)
    tied = traitlets.Bool(False).tag(sync=True)

    def _now(self):
        values = self.k if self.tied else self.v
        return values, *look_up(self.query, self.k, values, 10**self.heat, self.hard)

    def picture(self, label):
        values, weights, output = self._now()
        return _svg.beside(label, _svg.picture(340, 330, _match(self.query, self.k, weights)),
                           _svg.picture(340, 330, _read(values, weights, output)))

    def caption(self):
        _, weights, output = self._now()
        best = weights.index(max(weights)) + 1
        w, n = _svg.fix(max(weights)), _svg.fix(effective(weights), 1)
        at = f"({_svg.fix(output[0])}, {_svg.fix(output[1])})"
        t = _svg.fmt(10**self.heat)
        kind = ("hard choice", "硬选择") if self.hard else (f"temperature {t}", f"温度 {t}")
        return (
            f"Left, the query among the keys, lines as thick as the weights; right, the values and the output. With "
            f"{kind[0]} key {best} gets weight {w}, {n} keys are read in effect, and the output is {at}.",
            f"左：键之间的查询，线的粗细表示权重；右：值与输出。{kind[1]}下，键 {best} 的权重为 {w}，"
            f"有效读取 {n} 个键，输出为 {at}。",
        )


def _place(p):
    return CENTRE[0] + UNIT * p[0], CENTRE[1] - UNIT * p[1]


def _plane(en, zh):
    return _svg.tag("path", d="M14 165H326M170 9V321", stroke=_svg.LINE) + _svg.text(6, 14, en, zh)


def _match(query, keys, weights):
    x, y = _place(query)
    parts = [_plane("keys and query", "键与查询")]
    for key, w in zip(keys, weights):
        parts.append(_svg.tag("path", d=_line(query, key), stroke=_svg.WEIGHTS, stroke_width=round(0.4 + 9 * w, 2),
                              stroke_linecap="round", opacity=0.75, fill="none"))
    for j, (key, w) in enumerate(zip(keys, weights)):
        kx, ky = _place(key)
        parts.append(_svg.mark("key", kx, ky) + _svg.text(kx + 11, ky - 8, f"k{SUBSCRIPTS[j]} {_svg.fix(w)}"))
    return "".join(parts) + _svg.mark("query", x, y, 8) + _svg.text(x + 11, y + 16, "q")


def _line(query, key):
    (x, y), (kx, ky) = _place(query), _place(key)
    return f"M{x:.1f} {y:.1f}L{kx:.1f} {ky:.1f}"


def _read(values, weights, output):
    x, y = _place(output)
    hull = " ".join(f"{px:.1f},{py:.1f}" for px, py in map(_place, hull_of(values)))
    parts = [_plane("values and output", "值与输出"),
             _svg.tag("polygon", points=hull, fill=_svg.VALUE, fill_opacity=0.12, stroke=_svg.VALUE,
                      stroke_dasharray="5 4")]
    for j, (value, w) in enumerate(zip(values, weights)):
        vx, vy = _place(value)
        parts.append(_svg.mark("value", vx, vy, 4 + 7 * math.sqrt(w)) + _svg.text(vx + 12, vy - 8, f"v{SUBSCRIPTS[j]}"))
    diamond = f"M{x - 7:.1f} {y:.1f}L{x:.1f} {y - 7:.1f}L{x + 7:.1f} {y:.1f}L{x:.1f} {y + 7:.1f}Z"
    return ("".join(parts) + _svg.tag("path", d=diamond, fill=_svg.INK)
            + _svg.text(x - 10, y + 18, "output", "输出", text_anchor="end", font_weight=600))


def hull_of(points):
    """Corners of the convex hull, counter-clockwise (the monotone chain)."""
    ordered = sorted(map(tuple, points))

    def half(sequence):
        chain = []
        for p in sequence:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return half(ordered) + half(ordered[::-1])


def _turn(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
