"""RelayLab: what is left of the first word after a chain of hops, and after one hop.

The chain is a linear orthogonal recurrence scaled by a gain, its spectral radius. Every hop multiplies the length
of each vector, and of each gradient, by the gain, so after d hops exactly gain**d is left. Read directly
(all-to-all), the first word is one hop away at any distance. Weights of a trained model come on top of both.
"""

import math

import traitlets

from attnbook.widgets import _svg
from attnbook.widgets._lab import Lab, bilingual

NEAR, FAR = 2, 64  # words
WEAK, STRONG = 0.7, 1.1  # gain per step
WIDE = 300  # both pictures, in the viewBox, as in relay.js
LEFT, BAR = 16, 42  # margin of a lane, height of its tallest bar
LOW, HIGH = -11, 3  # powers of ten at the ends of the axis; 0.7**64 is 1.2e-10 and 1.1**64 is 446
PLOT = {"left": 40, "right": 288, "top": 26, "bottom": 208}
DASHES = ("6 3", "2 3", "9 3 2 3", "1 5")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


# -- arithmetic, the same as in relay.js --------------------------------------------------

def what_is_left(gain: float, hops: int) -> float:
    """Share of the first word after a number of hops that each multiply by the gain."""
    return gain**hops


def hops_of(lane: str, distance: int) -> int:
    """Hops from the first word to the last one, `distance` words away; lane is "chain" or "all"."""
    return distance if lane == "chain" else 1


def steps_of(lane: str, distance: int) -> int:
    """Steps that must wait for each other until all distance + 1 words are read."""
    return distance + 1 if lane == "chain" else 1


def log_place(value: float) -> float:
    """Height of a positive value on the log axis: 0 at its top (10**HIGH), 1 at its bottom (10**LOW)."""
    return (HIGH - math.log10(value)) / (HIGH - LOW)


# -- the lab ------------------------------------------------------------------------------

class RelayLab(Lab):
    """Distance and gain per step are set by the reader; both lanes and the gradient answer at once.

    measured: optional curves of real cells, {name: [v0, v1, ...]} with v_d the gradient norm at distance d, at most 65
        values of at least 0 (kept to 3 significant digits): gradient_through_time(...).flip(0).tolist() for 64 steps.
    measured_names: {name: [en, zh]} for the legend.
    """

    module = "relay"
    shown = ("distance", "gain")
    title = bilingual("The relay and the meeting", "接力与会议")
    distance = traitlets.Int(45, min=NEAR, max=FAR).tag(sync=True)
    gain = traitlets.Float(0.95, min=WEAK, max=STRONG).tag(sync=True)
    measured = traitlets.Dict().tag(sync=True)
    measured_names = traitlets.Dict().tag(sync=True)

    @traitlets.validate("measured")
    def _compact(self, proposal):
        return {name: _curve(name, values) for name, values in proposal["value"].items()}

    def picture(self, label):
        lanes = [*_lane(24, self.distance, self.gain, "chain"), *_ends(), *_lane(140, self.distance, self.gain, "all")]
        plot = [*_axes(), *_curves(self), *_legend(self)]
        rows = math.ceil((2 + len(self.measured)) / 2)
        one, two = (_svg.tag("svg", *children, viewBox=f"0 0 {WIDE} {height}", font_family="inherit",
                             style="flex:1 1 17rem;min-width:0;height:auto")
                    for children, height in ((lanes, 256), (plot, 252 + 18 * rows)))
        return (f'<div role="img" aria-labelledby="{label}" style="display:flex;flex-wrap:wrap;gap:.5rem 1rem;'
                f'align-items:flex-start;max-width:44rem">{one}{two}</div>')

    def caption(self):
        left, n = _svg.fmt(what_is_left(self.gain, self.distance)), self.distance + 1
        return (f"Chain: {self.distance} hops at {self.gain:.2f} each leave {left} of the first word. "
                f"All-to-all: one hop leaves {self.gain:.2f} (times the weight it is given), at any distance. "
                f"For {n} words the chain needs {n} steps in turn, all-to-all 1.",
                f"链式：{self.distance} 跳，每跳乘 {self.gain:.2f}，第一个词只剩 {left}。全连接：一跳之后剩 {self.gain:.2f}"
                f"（再乘以分给它的权重），与距离无关。读 {n} 个词，链式要依次走 {n} 步，全连接只要 1 步。")


def _curve(name, values):
    values = [float(v) for v in values]
    if len(values) > FAR + 1:
        raise traitlets.TraitError(f"measured[{name!r}] has {len(values)} values; expected at most {FAR + 1}")
    wrong = [v for v in values if not (math.isfinite(v) and v >= 0)]
    if wrong:
        raise traitlets.TraitError(f"measured[{name!r}] holds {wrong[0]}; expected finite norms of at least 0")
    return [float(f"{v:.3g}") for v in values]


# -- its static picture, the geometry of relay.js -----------------------------------------

def _place(k, distance):
    return LEFT + k * (WIDE - 2 * LEFT) / distance


def _lane(top, distance, gain, name):
    """Title, what is left, bars, links and dots of one lane; each kind is one path of many strokes."""
    chain, everyone = name == "chain", range(distance + 1)
    left, gap, base = what_is_left(gain, hops_of(name, distance)), _place(1, distance) - LEFT, top + 10 + BAR
    colour = _svg.WARN if gain > 1 else _svg.STREAM if chain else _svg.WEIGHTS
    title = (f"Chain: {distance} hops", f"链式：{distance} 跳") if chain else ("All-to-all: 1 hop", "全连接：1 跳")
    yield _svg.text(4, top - 4, *title)
    yield _svg.text(WIDE - 4, top - 4, f"{_svg.fmt(left)} left", f"剩 {_svg.fmt(left)}", text_anchor="end")
    bars = [(_place(k, distance), max(BAR * what_is_left(gain, i) / max(1.0, left), 0.5))
            for i, k in enumerate(everyone if chain else (0, distance))]
    yield _strokes([f"M{x:.2f} {base}v-{tall:.2f}" for x, tall in bars], colour, min(9.0, max(2.0, gap * 0.6)))
    if chain:
        yield _strokes([f"M{LEFT} {base + 10}H{WIDE - LEFT}"], colour, 2)
    else:
        yield _strokes([_direct(k, base + 10, distance) for k in everyone[1:-1]], _svg.WEIGHTS, 0.7, opacity=0.55)
        yield _strokes([_direct(0, base + 10, distance)], _svg.WEIGHTS, 3)
    yield _strokes([f"M{_place(k, distance):.2f} {base + 10}h0" for k in everyone], _svg.STREAM, min(7.0, gap * 0.7),
                   stroke_linecap="round")


def _strokes(parts, colour, width, **more):
    return _svg.tag("path", d="".join(parts), fill="none", stroke=colour, stroke_width=width, **more)


def _direct(k, y, distance):
    """The line by which the last word reads word k directly."""
    x, end = _place(k, distance), WIDE - LEFT
    deep, bend = y + 50 * (end - x) / (end - LEFT), (end - x) / 4
    return f"M{x:.2f} {y}C{x + bend:.2f} {deep:.2f} {end - bend:.2f} {deep:.2f} {end} {y}"


def _ends():
    small = {"font_size": 12, "fill": _svg.MUTED}
    yield _svg.text(4, 106, "first word", "第一个词", **small)
    yield _svg.text(WIDE - 4, 106, "last word", "最后一个词", text_anchor="end", **small)


def _across(d):
    return PLOT["left"] + d / FAR * (PLOT["right"] - PLOT["left"])


def _down(share):
    return PLOT["top"] + share * (PLOT["bottom"] - PLOT["top"])


def _axes():
    for p in range(HIGH, LOW, -3):
        y = _down(log_place(10.0**p))
        yield _svg.tag("path", d=f"M{PLOT['left']} {y:.1f}H{PLOT['right']}", stroke=_svg.LINE)
        power = "10" + str(p).translate(RAISED) if p else "1"
        yield _svg.text(PLOT["left"] - 5, y + 4, power, font_size=12, text_anchor="end")
    for d in range(0, FAR + 1, 16):
        yield _svg.text(_across(d), PLOT["bottom"] + 16, str(d), font_size=12, text_anchor="middle")
    yield _svg.text(4, 12, "gradient of the first word (log scale)", "第一个词的梯度（对数坐标）")
    yield _svg.text((PLOT["left"] + PLOT["right"]) / 2, PLOT["bottom"] + 33, "distance in words", "距离（词数）",
                    text_anchor="middle")


def _lines(lab):
    """Each curve once: (values by distance, label, stroke attributes)."""
    chain = [what_is_left(lab.gain, d) for d in range(FAR + 1)]
    yield chain, ("chain", "链式"), {"stroke": _svg.WARN if lab.gain > 1 else _svg.STREAM, "stroke_width": 2}
    yield ([0.0, *[lab.gain] * FAR], ("all-to-all", "全连接"),
           {"stroke": _svg.WEIGHTS, "stroke_width": 2, "stroke_dasharray": "5 4"})
    for i, (name, values) in enumerate(lab.measured.items()):
        yield (values, lab.measured_names.get(name, (name, name)),
               {"stroke": _svg.INK, "stroke_width": 1.5, "stroke_dasharray": DASHES[i % len(DASHES)]})


def _curves(lab):
    for values, _, stroke in _lines(lab):
        seen = [(d, log_place(v)) for d, v in enumerate(values) if v > 0]
        points = [f"{_across(d):.1f} {_down(share):.1f}" for d, share in seen if 0 <= share <= 1]
        if points:
            yield _svg.tag("path", d="M" + "L".join(points), fill="none", **stroke)
    share = log_place(what_is_left(lab.gain, lab.distance))
    yield _svg.tag("circle", cx=_across(lab.distance), cy=_down(share), r=6, fill=_svg.STREAM)


def _legend(lab):
    for i, (_, words, stroke) in enumerate(_lines(lab)):
        x, y = 8 + i % 2 * 145, 262 + 18 * (i // 2)
        yield _svg.tag("path", d=f"M{x} {y - 4}h26", **stroke)
        yield _svg.text(x + 32, y, *words, font_size=12)
