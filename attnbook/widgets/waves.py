"""WaveLab: the map of sinusoids, one of its columns as a wave, and how far ALiBi's heads reach on the same axis."""

import math

import traitlets

from attnbook.widgets import _svg
from attnbook.widgets._lab import Lab, bilingual

BASE, WIDEST, ROWS, HEADS, STEPS = 10000.0, 64, 40, 8, 4
WIDE, TALL, MAP_TOP, MAP_HIGH, LEFT, RIGHT = 320, 300, 24, 240, 26, 314  # the geometry of waves.js
WAVE_MIDDLE, WAVE_HIGH, SEEN, AXIS, SPAN = 70, 38, 100, 262, 5.0  # positions drawn; powers of ten on the axis


# -- arithmetic, the same as in waves.js --------------------------------------------------

def entry(position: float, column: int, d_model: int) -> float:
    """Sinusoid of a position in a column: sine in the even ones, cosine of the same angle in the odd ones."""
    angle = position * BASE ** (-2 * (column // 2) / d_model)
    return math.cos(angle) if column % 2 else math.sin(angle)


def wavelength(pair: int, d_model: int) -> float:
    """Positions after which a pair is back where it was."""
    return 2 * math.pi * BASE ** (2 * pair / d_model)


def slope(head: int) -> float:
    """ALiBi's slope of head 1 to 8 of eight."""
    return 2.0 ** -head


def level(value: float) -> int:
    """A value of -1 to 1 as one of nine shades, -4 to 4; rounded half up."""
    return math.floor(value * STEPS + 0.5)


# -- the lab ------------------------------------------------------------------------------

class WaveLab(Lab):
    """Width and column are chosen, and a head of ALiBi; map, wave and lengths answer.

    d_model: even, 4 to 64. column: 0 to d_model - 1, a larger one counts as the last. head: 1 to 8.
    """

    module = "waves"
    shown = ("d_model", "column", "head")
    title = bilingual("Waves of many lengths", "长短不一的波")
    d_model = traitlets.Int(32, min=4, max=WIDEST).tag(sync=True)
    column = traitlets.Int(4, min=0, max=WIDEST - 1).tag(sync=True)
    head = traitlets.Int(1, min=1, max=HEADS).tag(sync=True)

    @traitlets.validate("d_model")
    def _even(self, proposal):
        if proposal.value % 2:
            raise traitlets.TraitError(f"d_model is {proposal.value}; expected an even number from 4 to {WIDEST}")
        return proposal.value

    def picture(self, label):
        column = min(self.column, self.d_model - 1)
        return _svg.beside(label, _svg.picture(WIDE, TALL, *_map(self.d_model, column)),
                           _svg.picture(WIDE, TALL, *_wave(self.d_model, column, self.head)))

    def caption(self):
        column, d = min(self.column, self.d_model - 1), self.d_model
        pair, longest, fmt = column // 2, d // 2 - 1, _svg.fmt
        one, last, steps = fmt(wavelength(pair, d)), fmt(wavelength(longest, d)), 2 ** self.head
        return (f"Width {d}, column {column}: pair {pair}, one wave in {one} positions. The longest wave spans {last}. "
                f"ALiBi's head {self.head} loses one unit of score in {steps} steps.",
                f"维度 {d}，第 {column} 列：第 {pair} 对，一个波长 {one} 个位置。最长的波有 {last} 个位置。"
                f"ALiBi 的第 {self.head} 个头每 {steps} 步减去 1 分。")


# -- its static picture -------------------------------------------------------------------

def _map(d, column):
    """Rows are positions, columns are features; one path a shade."""
    wide, high = (RIGHT - LEFT) / d, MAP_HIGH / ROWS
    shades = {}
    for p in range(ROWS):
        for c in range(d):
            shades.setdefault(level(entry(p, c, d)), []).append(
                f"M{LEFT + c * wide:.1f} {MAP_TOP + p * high:g}h{wide:.1f}v{high:g}h-{wide:.1f}z")
    yield _svg.text(4, 14, "rows: positions 0 to 39, columns: features", "行：位置 0 到 39，列：特征")
    for shade, cells in sorted(shades.items()):
        if shade:
            yield _svg.tag("path", d="".join(cells), fill=_svg.WEIGHTS if shade > 0 else _svg.STREAM,
                           fill_opacity=round(0.85 * abs(shade) / STEPS, 3))
    yield _svg.tag("rect", x=LEFT + column * wide, y=MAP_TOP - 2, width=wide, height=MAP_HIGH + 4, fill="none",
                   stroke=_svg.INK, stroke_width=2)
    yield _svg.text(LEFT, TALL - 18, "purple: above 0, grey: below", "紫：大于 0，灰：小于 0", font_size=12)


def _at(length):
    return LEFT + (RIGHT - LEFT) * math.log10(length) / SPAN


def _wave(d, column, head):
    """The column over 100 positions, and below all lengths on one logarithmic axis."""
    points = "L".join(f"{LEFT + (RIGHT - LEFT) * p / SEEN:.1f} {WAVE_MIDDLE - WAVE_HIGH * entry(p, column, d):.1f}"
                      for p in range(SEEN + 1))
    yield _svg.text(4, 14, f"column {column} over positions 0 to {SEEN}", f"第 {column} 列，位置 0 到 {SEEN}")
    yield _svg.tag("path", d=f"M{LEFT} {WAVE_MIDDLE}H{RIGHT}", stroke=_svg.LINE)
    yield _svg.tag("path", d=f"M{points}", stroke=_svg.WEIGHTS, stroke_width=1.5, fill="none")
    yield _svg.text(4, 146, "wavelengths of the pairs", "各对的波长")
    yield _svg.text(4, 202, "ALiBi: steps for one unit of score", "ALiBi：减 1 分要走的步数")
    for i in range(d // 2):
        chosen = i == column // 2
        yield _svg.tag("circle", cx=_at(wavelength(i, d)), cy=164, r=7 if chosen else 3,
                       fill=_svg.WEIGHTS if chosen else _svg.MUTED)
    for h in range(1, HEADS + 1):
        r = 7 if h == head else 4
        yield _svg.tag("rect", x=_at(1 / slope(h)) - r, y=220 - r, width=2 * r, height=2 * r,
                       fill=_svg.KEY if h == head else _svg.MUTED)
    yield _svg.tag("path", d=f"M{LEFT} {AXIS - 18}H{RIGHT}", stroke=_svg.LINE)
    for power in range(6):
        yield _svg.text(_at(10**power), AXIS, f"10{'⁰¹²³⁴⁵'[power]}", font_size=12, text_anchor="middle")
    yield _svg.text((LEFT + RIGHT) / 2, AXIS + 18, "positions", "位置数", font_size=12, text_anchor="middle")
