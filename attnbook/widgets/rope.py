"""RopeLab: a query and a key at two positions, the hands of their pairs, and the score, which sees the distance only."""

import math

import traitlets

from attnbook.widgets import _svg
from attnbook.widgets._lab import Lab, bilingual

QUERY = [1.0, 0.6, 0.9, -0.5, 0.4, 0.8, 0.2, 0.7]  # one vector each, the same for every reader
KEY = [0.9, 0.3, 0.7, 0.6, 0.5, -0.6, 0.6, 0.4]
FAR = 127  # positions 0 to FAR
BASES = (100, 10000)
WIDE, TALL, RADIUS = 320, 300, 44  # the geometry of rope.js
CENTRES = [(80, 56), (240, 56), (80, 164), (240, 164)]
LINE, LEFT, RIGHT, MIDDLE, HIGH = 256, 20, 300, 150, 105


# -- arithmetic, the same as in rope.js ---------------------------------------------------

def frequencies(base: float) -> list[float]:
    """Radians a step of the four pairs."""
    n = len(QUERY) // 2
    return [base ** (-i / n) for i in range(n)]


def pairs_of(layout: str) -> list[tuple[int, int]]:
    """Which features form each pair: i and i + 4 ("half"), or 2i and 2i + 1 ("interleaved")."""
    n = len(QUERY) // 2
    return [(i, i + n) if layout == "half" else (2 * i, 2 * i + 1) for i in range(n)]


def hands(vector: list[float], position: float, base: float, layout: str) -> list[tuple[float, float]]:
    """Each pair of a vector, turned by its position."""
    found = []
    for (a, b), w in zip(pairs_of(layout), frequencies(base)):
        c, s = math.cos(position * w), math.sin(position * w)
        found.append((vector[a] * c - vector[b] * s, vector[a] * s + vector[b] * c))
    return found


def score(query: float, key: float, base: float, layout: str) -> float:
    """Dot product of the turned vectors."""
    turned = zip(hands(QUERY, query, base, layout), hands(KEY, key, base, layout))
    return sum(a * c + b * d for (a, b), (c, d) in turned)


def limit() -> float:
    """No score of either layout is larger than this, whatever the angles."""
    return max(sum(math.hypot(QUERY[a], QUERY[b]) * math.hypot(KEY[a], KEY[b]) for a, b in pairs_of(layout))
               for layout in ("half", "interleaved"))


# -- the lab ------------------------------------------------------------------------------

class RopeLab(Lab):
    """Two positions are dragged, or both together; pairs turn as clock hands, and the score follows the distance.

    query, key: positions 0 to 127. pairing: "half" or "interleaved". base: 100 or 10000.
    """

    module = "rope"
    shown = ("query", "key", "pairing", "base")
    title = bilingual("Hands that turn, and the score between them", "转动的指针，与它们之间的得分")
    query = traitlets.Int(9, min=0, max=FAR).tag(sync=True)
    key = traitlets.Int(4, min=0, max=FAR).tag(sync=True)
    pairing = traitlets.Enum(("half", "interleaved"), "half").tag(sync=True)
    base = traitlets.Enum(BASES, BASES[0]).tag(sync=True)

    def picture(self, label):
        return _svg.beside(label, _svg.picture(WIDE, TALL, *_clocks(self.query, self.key, self.base, self.pairing)),
                           _svg.picture(WIDE, TALL, *_curve(self.query, self.key, self.base, self.pairing)))

    def caption(self):
        value = _svg.fix(score(self.query, self.key, self.base, self.pairing))
        far = self.query - self.key
        return (f"Query at position {self.query}, key at {self.key}: distance {_svg.fix(far, 0)}, score {value}. "
                "Any two positions with this distance have this score.",
                f"查询在位置 {self.query}，键在位置 {self.key}：距离 {_svg.fix(far, 0)}，得分 {value}。"
                "任何相距这么远的两个位置，得分都是这个数。")


# -- its static picture -------------------------------------------------------------------

def _clocks(query, key, base, layout):
    """Four circles with a hand for the query and one for the key, and the line of positions."""
    turned = zip(CENTRES, hands(QUERY, query, base, layout), hands(KEY, key, base, layout), pairs_of(layout),
                 frequencies(base))
    for (x, y), q, k, (a, b), w in turned:
        yield _svg.tag("circle", cx=x, cy=y, r=RADIUS, fill="none", stroke=_svg.LINE)
        for (u, v), role, colour in ((q, "query", _svg.QUERY), (k, "key", _svg.KEY)):
            end = x + RADIUS * u / 1.3, y - RADIUS * v / 1.3
            yield _svg.tag("path", d=f"M{x} {y}L{end[0]:.1f} {end[1]:.1f}", stroke=colour, stroke_width=2)
            yield _svg.mark(role, *end, r=5)
        yield _svg.text(x, y + RADIUS + 15, f"{a + 1}, {b + 1}: {_svg.fmt(w)} rad", text_anchor="middle", font_size=12)
    yield _svg.tag("path", d=f"M{LEFT} {LINE}H{RIGHT}", stroke=_svg.LINE)
    yield _svg.text(LEFT, TALL - 2, "0", font_size=12, text_anchor="middle")
    yield _svg.text(RIGHT, TALL - 2, str(FAR), font_size=12, text_anchor="middle")
    yield _svg.text(WIDE / 2, TALL - 2, "position", "位置", font_size=12, text_anchor="middle")
    yield _svg.mark("query", _place(query), LINE - 15) + _svg.mark("key", _place(key), LINE + 15, r=6)


def _place(position):
    return LEFT + (RIGHT - LEFT) * position / FAR


def _curve(query, key, base, layout):
    """Score over distance, and the present distance as a dot."""
    def at(far):
        return LEFT + (RIGHT - LEFT) * (far + FAR) / (2 * FAR), MIDDLE - HIGH * score(far, 0, base, layout) / limit()

    points = "L".join("{:.1f} {:.1f}".format(*at(far)) for far in range(-FAR, FAR + 1))
    x, y = at(query - key)
    yield _svg.text(4, 14, "score", "得分")
    yield _svg.tag("path", d=f"M{LEFT} {MIDDLE}H{RIGHT}M{WIDE / 2:g} {MIDDLE - HIGH}V{MIDDLE + HIGH}", stroke=_svg.LINE)
    yield _svg.tag("path", d=f"M{points}", stroke=_svg.STREAM, stroke_width=1.5, fill="none")
    yield _svg.tag("circle", cx=x, cy=y, r=7, fill=_svg.WEIGHTS)
    yield _svg.text(LEFT, TALL - 2, f"−{FAR}", font_size=12, text_anchor="middle")
    yield _svg.text(RIGHT, TALL - 2, str(FAR), font_size=12, text_anchor="middle")
    yield _svg.text(WIDE / 2, TALL - 2, "distance, query − key", "距离，查询 − 键", font_size=12, text_anchor="middle")
