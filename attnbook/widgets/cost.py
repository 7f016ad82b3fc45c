"""CostLab: what attention to n tokens costs, in time and in memory, for each way to compute it.

Counts come from attnbook.costs (one head of width 64, forward pass, no mask for the full methods); time is the count divided by
a round number of products a second, memory is 16-bit numbers alive besides q, k, v and the output.
"""

import math

import traitlets

from attnbook import costs
from attnbook.widgets import _svg
from attnbook.widgets._lab import Lab, bilingual

WIDTH, BYTES = 64, 2
RATES = {"core": 1e10, "accelerator": 1e14}  # products a second: one core of a laptop, one large accelerator; round numbers
FEW, MANY = 100, 10_000_000
NAMES = {"dense": ("with the matrix", "存下矩阵"), "tiled": ("tiles, exact", "分块（精确）"),
         "ring": ("ring, exact, each", "环（精确），每台"), "window": ("window", "窗口"),
         "sinks": ("window + 4 sinks", "窗口 + 4 个汇"), "linear": ("linear state", "线性状态")}
TIMES = ((1e-6, 1e-9, "ns", "纳秒"), (1e-3, 1e-6, "µs", "微秒"), (1.0, 1e-3, "ms", "毫秒"), (60.0, 1.0, "s", "秒"),
         (3600.0, 60.0, "min", "分钟"), (172800.0, 3600.0, "h", "小时"), (63115200.0, 86400.0, "days", "天"),
         (math.inf, 31557600.0, "years", "年"))
SIZES = ((1e3, 1.0, "B", "B"), (1e6, 1e3, "kB", "kB"), (1e9, 1e6, "MB", "MB"), (1e12, 1e9, "GB", "GB"),
         (math.inf, 1e12, "TB", "TB"))
WIDE, ROW, TOP = 330, 34, 34  # the geometry of cost.js
TALL = TOP + ROW * len(NAMES) + 24
AXES = {"time": (-9, 8, ((1e-6, "1 µs", "1 微秒"), (1e-3, "1 ms", "1 毫秒"), (1.0, "1 s", "1 秒"), (3600.0, "1 h", "1 小时"),
                         (31557600.0, "1 year", "1 年"))),
        "size": (2, 15, ((1e3, "1 kB", "1 kB"), (1e6, "1 MB", "1 MB"), (1e9, "1 GB", "1 GB"), (1e12, "1 TB", "1 TB")))}


# -- arithmetic, the same as in cost.js ---------------------------------------------------

def bill(n: int, window: int, block: int, ranks: int, rate: str) -> dict[str, tuple[float, float]]:
    """(seconds, bytes) of each method."""
    return {name: (costs.products(name, n, WIDTH, window=window, ranks=ranks) / RATES[rate],
                   BYTES * costs.numbers(name, n, WIDTH, window=window, block=block, ranks=ranks)) for name in NAMES}


def in_words(value: float, units) -> tuple[str, str]:
    """A time or a size in the unit that suits it: (en, zh)."""
    for below, unit, en, zh in units:
        if value < below:
            number = _svg.fmt(value / unit)
            return f"{number} {en}", f"{number} {zh}"
    raise ValueError(f"value is {value!r}; expected a finite number")


def place(value: float, axis: str) -> float:
    """Where a value stands on its logarithmic axis, 0 to 1."""
    low, high, _ = AXES[axis]
    return min(1.0, max(0.0, (math.log10(value) - low) / (high - low)))


# -- the lab ------------------------------------------------------------------------------

class CostLab(Lab):
    """Length, window, tile and ranks are set by the reader; time and memory of six ways answer at once."""

    module = "cost"
    shown = ("n", "rate")
    title = bilingual("What n tokens cost", "n 个词元要多少代价")
    n = traitlets.Int(1_000_000, min=FEW, max=MANY).tag(sync=True)
    window = traitlets.Int(256, min=16, max=65536).tag(sync=True)
    block = traitlets.Int(128, min=16, max=1024).tag(sync=True)
    ranks = traitlets.Int(64, min=1, max=512).tag(sync=True)
    rate = traitlets.Enum(list(RATES), default_value="core").tag(sync=True)

    def bill(self):
        """(seconds, bytes) of each method in the present state."""
        return bill(self.n, self.window, self.block, self.ranks, self.rate)

    def picture(self, label):
        found = self.bill()
        return _svg.beside(label, *(_svg.picture(WIDE, TALL, *_bars({name: both[i] for name, both in found.items()}, axis))
                                    for i, axis in enumerate(("time", "size"))))

    def caption(self):
        found = self.bill()
        (dense, matrix), tiles, ring = found["dense"], found["tiled"][1], found["ring"][0]
        words = [in_words(value, units) for value, units in ((matrix, SIZES), (tiles, SIZES), (dense, TIMES), (ring, TIMES),
                                                             (found["window"][0], TIMES))]
        en, zh = ([pair[i] for pair in words] for i in (0, 1))
        n = f"{self.n:,}".replace(",", " ")
        return (f"{n} tokens, one head: the matrix takes {en[0]}, tiles hold {en[1]}. Both take {en[2]}; "
                f"spread over a ring of {self.ranks}, {en[3]} each. A window of {self.window} takes {en[4]}, "
                "and does not see the rest.",
                f"{n} 个词元，一个头：矩阵要占 {zh[0]}，分块只需 {zh[1]}。两者都要 {zh[2]}；"
                f"分摊到 {self.ranks} 台组成的环上，每台 {zh[3]}。宽 {self.window} 的窗口要 {zh[4]}，但看不到其余部分。")


# -- its static picture -------------------------------------------------------------------

def _bars(values, axis):
    units = {"time": TIMES, "size": SIZES}[axis]
    yield _svg.text(4, 14, *{"time": ("time", "时间"), "size": ("memory besides q, k, v", "q、k、v 之外的内存")}[axis],
                    font_weight=600)
    bottom = TOP + ROW * len(values)
    for value, en, zh in AXES[axis][2]:
        x = 4 + (WIDE - 8) * place(value, axis)
        yield _svg.tag("path", d=f"M{x:.1f} {TOP - 10}V{bottom}", stroke=_svg.LINE)
        yield _svg.text(x, bottom + 16, en, zh, text_anchor="end" if x > WIDE - 30 else "middle", font_size=12)
    for i, (name, value) in enumerate(values.items()):
        y, exact = TOP + ROW * i, name in ("dense", "tiled", "ring")
        yield _svg.text(4, y + 8, *NAMES[name])
        yield _svg.text(WIDE - 4, y + 8, *in_words(value, units), text_anchor="end", font_weight=600)
        yield _svg.tag("rect", x=4, y=y + 13, width=max(1.0, (WIDE - 8) * place(value, axis)), height=9,
                       fill=_svg.WEIGHTS if exact else "none", stroke=_svg.WEIGHTS if exact else _svg.STREAM,
                       stroke_width=1.5)
