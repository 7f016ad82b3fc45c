"""ScaleLab: width, number of keys and factor against the spread of scores, one row of weights, and dead rows.

A query of width d_k has scores with independent standard normal keys that are exactly its length times standard normal
numbers, and its squared length is a sum of d_k squared ones. So a row costs d_k + keys random numbers, and no product.
The numbers come from a small generator that Python and JavaScript share (mulberry32, then Box and Muller), so that the
page and the picture show the same sample.
"""

import math
from functools import lru_cache

import traitlets

from attnbook.widgets import _svg
from attnbook.widgets._lab import Lab, bilingual

ROWS, WIDEST, MOST = 60, 1024, 512
DEAD = 1e-3
EDGE = 30  # the histogram has a bar for each whole number from -EDGE to EDGE; the outer two hold all that lies beyond
BARS = 16  # weights shown, the largest first
WIDE, HISTOGRAM, TALL = 300, {"top": 26, "base": 130}, 232


# -- arithmetic, the same as in scale.js --------------------------------------------------

def mulberry(seed: int):
    """Uniform numbers in [0, 1), the same in Python and JavaScript."""
    a = seed & 0xFFFFFFFF
    while True:
        a = (a + 0x6D2B79F5) & 0xFFFFFFFF
        t = ((a ^ (a >> 15)) * (a | 1)) & 0xFFFFFFFF
        t = (t ^ (t + (((t ^ (t >> 7)) * (t | 61)) & 0xFFFFFFFF))) & 0xFFFFFFFF
        yield (t ^ (t >> 14)) / 4294967296


def normals(uniform, count: int) -> list[float]:
    """An even count of standard normal numbers out of uniform ones, by Box and Muller."""
    found = []
    while len(found) < count:
        r, angle = math.sqrt(-2 * math.log(1 - next(uniform))), 2 * math.pi * next(uniform)
        found += [r * math.cos(angle), r * math.sin(angle)]
    return found


@lru_cache(maxsize=4)
def sample(seed: int) -> tuple[list[list[float]], list[list[float]]]:
    """For each of ROWS queries: its squared length at widths 0..WIDEST, and MOST standard normal numbers."""
    uniform = mulberry(seed)
    squares, keys = [], []
    for _ in range(ROWS):
        total, sums = 0.0, [0.0]
        for x in normals(uniform, WIDEST):
            total += x * x
            sums.append(total)
        squares.append(sums)
        keys.append(normals(uniform, MOST))
    return squares, keys


def factor(scale: str, d_k: int) -> float:
    """What multiplies the scores: "none", "sqrt" or "d"."""
    return {"none": 1.0, "sqrt": 1 / math.sqrt(d_k), "d": 1 / d_k}[scale]


def rows_of(seed: int, d_k: int, keys: int, scale: str) -> list[list[float]]:
    """Scores of ROWS queries with `keys` keys each, scaled."""
    squares, normals = sample(seed)
    c = factor(scale, d_k)
    return [[c * math.sqrt(length[d_k]) * z for z in row[:keys]] for length, row in zip(squares, normals)]


def softmax(row: list[float]) -> list[float]:
    """Weights of one row."""
    peak = max(row)
    e = [math.exp(x - peak) for x in row]
    total = sum(e)
    return [x / total for x in e]


def jacobian_norm(p: list[float]) -> float:
    """Frobenius norm of diag(p) - p p^T."""
    top = max(range(len(p)), key=p.__getitem__)
    others = sum(x for i, x in enumerate(p) if i != top)  # 1 - p of the largest, without cancellation
    squares = sum(x * x for i, x in enumerate(p) if i != top)
    total = p[top] ** 2 * (others * others + squares)
    for i, x in enumerate(p):
        if i != top:
            total += x * x * ((1 - x) ** 2 + squares - x * x + p[top] ** 2)
    return math.sqrt(total)


def statistics(seed: int, d_k: int, keys: int, scale: str) -> dict:
    """std of all scores, sorted weights of the first row, Jacobian norms, share of dead rows, root mean square norm."""
    rows = rows_of(seed, d_k, keys, scale)
    flat = [x for row in rows for x in row]
    norms = [jacobian_norm(softmax(row)) for row in rows]
    return {"std": math.sqrt(sum(x * x for x in flat) / len(flat)), "weights": sorted(softmax(rows[0]), reverse=True),
            "norms": norms, "dead": sum(x < DEAD for x in norms) / ROWS,
            "jacobian": math.sqrt(sum(x * x for x in norms) / ROWS), "counts": histogram(flat)}


def histogram(values: list[float]) -> list[float]:
    """Share of the values at each whole number from -EDGE to EDGE, rounded half up; the ends hold all beyond."""
    counts = [0] * (2 * EDGE + 1)
    for x in values:
        counts[min(2 * EDGE, max(0, math.floor(x + 0.5) + EDGE))] += 1
    return [c / len(values) for c in counts]


# -- the lab ------------------------------------------------------------------------------

NAMES = {"none": ("not scaled", "不缩放"), "sqrt": ("divided by √dₖ", "除以 √dₖ"), "d": ("divided by dₖ", "除以 dₖ")}


class ScaleLab(Lab):
    """Width, number of keys, factor and sample are set by the reader; scores, weights and dead rows answer at once."""

    module = "scale"
    shown = ("d_k", "n_keys", "scale")
    title = bilingual("Width, keys and the factor", "维数、键数与缩放因子")
    d_k = traitlets.Int(512, min=1, max=WIDEST).tag(sync=True)
    n_keys = traitlets.Int(8, min=2, max=MOST).tag(sync=True)
    scale = traitlets.Enum(list(NAMES), default_value="none").tag(sync=True)
    seed = traitlets.Int(1, min=1, max=9999).tag(sync=True)

    def picture(self, label):
        found = statistics(self.seed, self.d_k, self.n_keys, self.scale)
        return _svg.beside(label, _svg.picture(WIDE, 168, *_histogram(found["counts"])),
                           _svg.picture(WIDE, TALL, *_weights(found["weights"]), *_strip(found["norms"])))

    def caption(self):
        found = statistics(self.seed, self.d_k, self.n_keys, self.scale)
        with_root = statistics(self.seed, self.d_k, self.n_keys, "sqrt")["jacobian"]
        (en, zh), fmt = NAMES[self.scale], _svg.fmt
        dead = f"{100 * found['dead']:.0f}"
        return (f"Width {self.d_k}, {self.n_keys} keys, {en}: scores spread by {fmt(found['std'])}, and the first row "
                f"gives {fmt(found['weights'][0])} to one key. Dead rows: {dead} %. Jacobian norm {fmt(found['jacobian'])}; "
                f"with √dₖ it is {fmt(with_root)}.",
                f"维数 {self.d_k}，{self.n_keys} 个键，{zh}：得分的标准差为 {fmt(found['std'])}，第一行把 "
                f"{fmt(found['weights'][0])} 给了一个键。死行占 {dead} %。雅可比范数 {fmt(found['jacobian'])}；"
                f"除以 √dₖ 时为 {fmt(with_root)}。")


# -- its static picture, the geometry of scale.js -----------------------------------------

def _histogram(counts):
    yield _svg.text(4, 14, "scores of all rows", "所有行的得分")
    top, base, width = HISTOGRAM["top"], HISTOGRAM["base"], (WIDE - 20) / len(counts)
    tallest = max(counts)
    for i, share in enumerate(counts):
        if share:
            height = (base - top) * share / tallest
            yield _svg.tag("rect", x=10 + i * width, y=base - height, width=width, height=height, fill=_svg.STREAM)
    yield _svg.tag("path", d=f"M10 {base}H{WIDE - 10}", stroke=_svg.LINE)
    for value in (-EDGE, -15, 0, 15, EDGE):
        x = 10 + (value + EDGE + 0.5) * width
        words = {-EDGE: f"≤ −{EDGE}", EDGE: f"≥ {EDGE}"}.get(value, str(value).replace("-", "−"))
        anchor = {-EDGE: "start", EDGE: "end"}.get(value, "middle")
        edge = {-EDGE: 4, EDGE: WIDE - 4}.get(value, x)
        yield _svg.text(edge, base + 18, words, font_size=12, text_anchor=anchor)


def _weights(weights):
    yield _svg.text(4, 14, "largest weights of the first row", "第一行中最大的权重")
    top, base, width = 40, 130, (WIDE - 20) / BARS
    for i, w in enumerate(weights[:BARS]):
        height = (base - top) * w
        yield _svg.tag("rect", x=10 + i * width + 1, y=base - height, width=width - 2, height=height, fill=_svg.WEIGHTS)
    yield _svg.tag("path", d=f"M10 {base}H{WIDE - 10}", stroke=_svg.LINE)
    yield _svg.text(10 + width / 2, base - (base - top) * weights[0] - 5, _svg.fix(weights[0]), font_size=12,
                    text_anchor="middle")


def _strip(norms):
    yield _svg.text(4, 158, "rows: filled = alive, ring = dead", "各行：实心为活，空心为死")
    for i, norm in enumerate(norms):
        x, y, dead = 14 + i % 20 * 14.3, 174 + i // 20 * 20, norm < DEAD
        yield _svg.tag("circle", cx=x, cy=y, r=5, fill="none" if dead else _svg.STREAM,
                       stroke=_svg.WARN if dead else _svg.STREAM, stroke_width=2)
