"""PatternLab: who sees whom in a sparse pattern, what it costs, and how far a token's news travel over layers."""

import traitlets

from attnbook.widgets import _svg
from attnbook.widgets._lab import Lab, bilingual

N, SINKS, MOST = 24, 2, 8  # tokens, sinks, layers drawn
NAMES = {"full": ("everything", "全部"), "window": ("window", "窗口"), "sinks": ("window + 2 sinks", "窗口 + 2 个汇"),
         "strided": ("window + strides", "窗口 + 跨步"), "global": ("window + 1 global token", "窗口 + 1 个全局词元")}
ORDERS = {"causal": ("causal", "因果"), "both": ("both ways", "双向")}
CELL, LEFT, TOP = 12, 26, 26  # the geometry of pattern.js
WIDE, TALL = LEFT + CELL * N + 8, TOP + CELL * N + 8
STRIP, GAP = 300, 22


# -- arithmetic, the same as in pattern.js ------------------------------------------------

def mask_of(pattern: str, width: int, order: str) -> list[list[bool]]:
    """(N, N), True = may attend. A window of `width` counts the own token; strides are `width` long, too."""
    def sees(i, j):
        near = abs(i - j) < width
        far = {"full": True, "window": False, "sinks": j < SINKS, "strided": (i - j) % width == 0,
               "global": i == 0 or j == 0}[pattern]
        return (near or far) and (order == "both" or j <= i)
    return [[sees(i, j) for j in range(N)] for i in range(N)]


def edges_of(mask: list[list[bool]]) -> int:
    """How many entries are True: the number of scores to compute."""
    return sum(map(sum, mask))


def reach_of(mask: list[list[bool]], row: int, layers: int) -> list[list[bool]]:
    """For 0, 1, ... layers: which tokens can have reached the one in that row. Its own stays, on the residual stream."""
    found = [[j == row for j in range(N)]]
    for _ in range(layers):
        last = found[-1]
        found.append([last[j] or any(last[i] and mask[i][j] for i in range(N)) for j in range(N)])
    return found


def hops_of(mask: list[list[bool]], order: str) -> int | None:
    """Layers until each token has been reached by all it may ever hear of (all earlier ones if causal); None if never."""
    worst = 0
    for row in range(N):
        wanted = row + 1 if order == "causal" else N
        counts = [sum(one) for one in reach_of(mask, row, N)]
        if max(counts) < wanted:
            return None
        worst = max(worst, counts.index(wanted))
    return worst


# -- the lab ------------------------------------------------------------------------------

class PatternLab(Lab):
    """Pattern, width, order and a row are chosen by the reader; map, entries, reach and hops answer at once."""

    module = "pattern"
    shown = ("pattern", "width", "order")
    title = bilingual("Who may look at whom", "谁可以看谁")
    pattern = traitlets.Enum(list(NAMES), default_value="window").tag(sync=True)
    width = traitlets.Int(4, min=1, max=12).tag(sync=True)
    order = traitlets.Enum(list(ORDERS), default_value="causal").tag(sync=True)
    row = traitlets.Int(N - 1, min=0, max=N - 1).tag(sync=True)

    def picture(self, label):
        mask = mask_of(self.pattern, self.width, self.order)
        return _svg.beside(label, _svg.picture(WIDE, TALL, *_map(mask, self.row)),
                           _svg.picture(STRIP, TOP + GAP * (MOST + 1), *_reach(reach_of(mask, self.row, MOST), self.row)))

    def caption(self):
        mask = mask_of(self.pattern, self.width, self.order)
        edges, hops = edges_of(mask), hops_of(mask, self.order)
        counts = [sum(one) for one in reach_of(mask, self.row, 2)]
        full = N * (N + 1) // 2 if self.order == "causal" else N * N
        share = f"{100 * edges / full:.0f}"
        en = (f"{edges} of {full} scores ({share} %). Token {self.row + 1} hears {counts[1]} in one layer and {counts[2]} in two. "
              + (f"Every pair is joined after {hops} layers." if hops else "Some pairs are never joined."))
        zh = (f"{full} 个得分里算 {edges} 个（{share}%）。第 {self.row + 1} 个词元一层能听到 {counts[1]} 个，两层 {counts[2]} 个。"
              + (f"经过 {hops} 层，所有的对都连通。" if hops else "有些对永远连不通。"))
        return en.replace("after 1 layers", "after 1 layer"), zh


# -- its static picture -------------------------------------------------------------------

def _map(mask, row):
    """The cells as three paths: hidden ones, seen ones, and those seen by the chosen row."""
    yield _svg.text(LEFT, 14, "key →, query ↓", "键 →，查询 ↓", font_size=12)
    cells = [(i, j) for i in range(N) for j in range(N)]
    yield _svg.tag("path", d=_squares(cells), fill="none", stroke=_svg.LINE, stroke_width=0.5)
    for here, opacity in ((False, 0.6), (True, 1)):
        chosen = [(i, j) for i, j in cells if mask[i][j] and (i == row) == here]
        yield _svg.tag("path", d=_squares(chosen), fill=_svg.WEIGHTS, opacity=opacity)
    yield _svg.tag("rect", x=LEFT - 2, y=TOP + row * CELL - 2, width=CELL * N + 3, height=CELL + 3, fill="none",
                   stroke=_svg.INK, stroke_width=1.5)
    yield _svg.text(LEFT - 5, TOP + row * CELL + 10, str(row + 1), font_size=12, text_anchor="end")


def _squares(cells):
    side = CELL - 1
    return "".join(f"M{LEFT + j * CELL} {TOP + i * CELL}h{side}v{side}h-{side}z" for i, j in cells)


def _reach(found, row):
    """A line of dots for each layer: large ones have arrived."""
    yield _svg.text(4, 14, "what has reached it, layer by layer", "逐层到达它的词元", font_size=12)
    step, dots = (STRIP - 70) / N, {True: "", False: ""}
    for layer, heard in enumerate(found):
        y = TOP + GAP * layer + 8
        yield _svg.text(4, y + 4, str(layer), font_size=12)
        yield _svg.text(STRIP - 4, y + 4, str(sum(heard)), font_size=12, text_anchor="end")
        for j, there in enumerate(heard):
            dots[there] += f"M{26 + j * step:.1f} {y}h0"
    for there, colour, size in ((True, _svg.VALUE, 7.5), (False, _svg.MUTED, 2)):
        yield _svg.tag("path", d=dots[there], stroke=colour, stroke_width=size, stroke_linecap="round", fill="none")
