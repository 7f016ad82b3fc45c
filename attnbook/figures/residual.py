"""Figures of chapter 5: the stream as a belt, curves over layers, ranges over seeds, and the depth of published models."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

from attnbook.figures.style import INK, KEY, PAPER, SERIES, STREAM, VALUE, WARN, WEIGHTS, bare, new_figure

MORE = (*SERIES, (KEY, (0, (1, 2.5)), "P"), (INK, (0, (9, 2)), "X"), (STREAM, (0, (2, 4)), "*"), (WEIGHTS, "-", "h"))


# -- drawings --------------------------------------------------------------------------------

def belt(parcels: Sequence[str], entry: str, exit: str) -> Figure:
    """The stream as a line from left to right; each sublayer reads it, and adds a parcel to it at a plus sign."""
    figure, axes = new_figure(1.9)
    bare(axes)
    axes.set_aspect("auto")
    end = 2 * len(parcels) + 1
    axes.annotate("", (end, 0), (-0.2, 0), arrowprops={"arrowstyle": "-|>", "color": STREAM, "lw": 5})
    axes.text(-0.2, -0.35, entry, ha="left", va="top")
    axes.text(end, -0.35, exit, ha="right", va="top")
    for i, name in enumerate(parcels):
        x = 2 * i + 0.2
        axes.add_patch(Rectangle((x, 0.95), 1.4, 0.55, fc=PAPER, ec=INK, lw=0.8))
        axes.text(x + 0.7, 1.22, name, ha="center", va="center", fontsize=8.5)
        for start, stop in (((x + 0.3, 0.08), (x + 0.3, 0.95)), ((x + 1.1, 0.95), (x + 1.1, 0.22))):
            axes.add_patch(FancyArrowPatch(start, stop, arrowstyle="-|>", mutation_scale=9, lw=0.9, color=INK))
        axes.plot([x + 1.1], [0.04], "o", color=PAPER, mec=STREAM, ms=11, mew=1.4, zorder=3)
        axes.text(x + 1.1, 0.03, "+", ha="center", va="center", zorder=4)
    axes.set(xlim=(-0.4, end + 0.2), ylim=(-0.8, 1.7))
    return figure


def chain(steps: Sequence[tuple[str, str]]) -> Figure:
    """Boxes joined by arrows; each holds what is wanted, with the part that gives it underneath."""
    figure, axes = new_figure(1.2)
    bare(axes)
    axes.set_aspect("auto")
    for i, (wanted, part) in enumerate(steps):
        axes.add_patch(Rectangle((i, 0.1), 0.86, 0.8, fc=PAPER, ec=STREAM, lw=1.2))
        axes.text(i + 0.43, 0.62, wanted, ha="center", va="center", fontsize=9)
        axes.text(i + 0.43, 0.32, part, ha="center", va="center", fontsize=8, style="italic")
        if i + 1 < len(steps):
            axes.annotate("", (i + 1, 0.5), (i + 0.86, 0.5), arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 0.9})
    axes.set(xlim=(-0.05, len(steps) - 0.1), ylim=(0, 1))
    return figure


# -- curves over layers ----------------------------------------------------------------------

def over_layers(curves: Mapping[str, Sequence[float]], *, y: str, x: str = "layer", log: bool = False,
                bottom: float | None = None, height: float = 3.0, layers: Sequence[float] | None = None) -> Figure:
    """One line a name over the layers 0, 1, 2 ...; layers: other places, one a value; zeros of a log axis are left out."""
    figure, axes = new_figure(height)
    _lines(axes, curves, log, layers)
    axes.set(xlabel=x, ylabel=y)
    if bottom is not None:
        axes.set_ylim(bottom=bottom)
    axes.legend(loc="best", ncols=2 if len(curves) > 4 else 1)
    return figure


def _lines(axes, curves, log, layers=None):
    for (name, values), (colour, dash, marker) in zip(curves.items(), MORE, strict=False):
        values = np.asarray(values, dtype=float)
        at = np.arange(len(values)) if layers is None else np.asarray(layers)
        axes.plot(at, np.where(values > 0, values, np.nan) if log else values, color=colour, ls=dash, label=name,
                  marker=marker, markevery=max(1, len(values) // 6), ms=4)
    if log:
        axes.set_yscale("log")


def invented_and_measured(invented: Mapping[str, Mapping[int, float]],
                          measured: Mapping[str, Mapping[int, float]]) -> Figure:
    """Two panels over the same layers: what a table claims, and what was measured; shares by name and layer."""
    figure, panels = new_figure(2.7, 1, 2, sharey=True)
    for axes, title, lines in zip(panels, ("claimed", "measured"), (invented, measured), strict=True):
        for (name, by_layer), (colour, dash, marker) in zip(lines.items(), SERIES, strict=False):
            axes.plot(list(by_layer), [100 * v for v in by_layer.values()], color=colour, ls=dash, marker=marker,
                      label=name, ms=4)
        axes.set(xlabel="layer", title=title, ylim=(-5, 200))
        axes.legend(fontsize=8, loc="upper left")
    panels[0].set_ylabel("percent")
    return figure


# -- over seeds ------------------------------------------------------------------------------

def seed_dots(results: Mapping[str, Sequence[float]], *, x: str, guess: float | None = None) -> Figure:
    """One row a name, one dot a seed, a line from the lowest to the highest; guess: where a guess would lie."""
    figure, axes = new_figure(0.34 * len(results) + 0.75)
    for row, values in enumerate(results.values()):
        axes.plot([min(values), max(values)], [row, row], color=STREAM, lw=4, alpha=0.35, solid_capstyle="round")
        axes.plot(values, [row] * len(values), "o", color=WEIGHTS, ms=5, alpha=0.8)
    axes.set_yticks(range(len(results)), list(results))
    axes.invert_yaxis()
    axes.set_xlabel(x)
    if guess is not None:
        axes.axvline(guess, color=INK, lw=0.9, ls=(0, (2, 2)))
        axes.annotate("guessing", (guess, 1.0), xycoords=("data", "axes fraction"), xytext=(4, -2),
                      textcoords="offset points", va="bottom", alpha=0.8)
    return figure


# -- depth -----------------------------------------------------------------------------------

def depths(points: Sequence[tuple[str, float, int, bool]], rule: Sequence[tuple[float, int, int]],
           named: Sequence[str] = ()) -> Figure:
    """Published models as (name, billions of parameters, layers, inside) against the boxes of a rule (limit, low, high)."""
    figure, axes = new_figure(3.4)
    left = 0.08
    for limit, low, high in rule:
        right = min(limit, 1200)
        axes.add_patch(Rectangle((left, low), right - left, high - low, fc=STREAM, alpha=0.22, ec=STREAM, lw=0.8))
        left = right
    for inside, colour, marker, label in ((True, VALUE, "o", "inside"), (False, WARN, "^", "outside")):
        shown = [(b, n) for _, b, n, ok in points if ok == inside]
        axes.plot(*zip(*shown, strict=True), marker, color=colour, ms=5, label=label)
    for name, billions, layers, _ in points:
        if name in named:
            small = billions < 1  # to the left, for others lie above
            axes.annotate(name, (billions, layers), xytext=(-6, -3) if small else (0, 6), textcoords="offset points",
                          ha="right" if small else "center", fontsize=8)
    axes.set(xscale="log", xlabel="parameters in billions", ylabel="layers", ylim=(0, 140), xlim=(0.08, 1200))
    axes.set_xticks([0.1, 1, 10, 100, 1000], ["0.1", "1", "10", "100", "1000"])
    axes.legend(loc="upper left")
    return figure
