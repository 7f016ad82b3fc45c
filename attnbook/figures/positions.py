"""Figures of chapter 6: waves, scores over distance, reach, and what is left beyond the length of training."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from attnbook.figures.style import INK, SERIES, STREAM, WARN, WEIGHTS, new_figure


def waves(table: np.ndarray, pairs: Sequence[int]) -> Figure:
    """Sine (line) and cosine (dashes) of some pairs of a sinusoidal table (n, d), a row each, over the position."""
    figure, rows = new_figure(0.72 * len(pairs) + 0.6, len(pairs), 1, sharex=True, sharey=True)
    for axes, pair in zip(rows, pairs):
        axes.plot(table[:, 2 * pair], color=STREAM, lw=1.4)
        axes.plot(table[:, 2 * pair + 1], color=WEIGHTS, lw=1.2, ls=(0, (4, 2)))
        axes.set_yticks([-1, 1])
        axes.set_ylabel(f"i = {pair}", rotation=0, ha="right", va="center")
    rows[-1].set_xlabel("position p")
    rows[-1].set_xlim(0, len(table) - 1)
    return figure


def over_distance(curves: Mapping[str, np.ndarray], y: str, *, seen: int | None = None, height: float = 2.8,
                  mark: Mapping[str, int] | None = None) -> Figure:
    """Curves over the distance of two positions, 0 at the left. seen: largest distance met in training, as a border.

    mark[name]: a distance at which a dot is set on that curve.
    """
    figure, axes = new_figure(height)
    for (name, values), (colour, dash, marker) in zip(curves.items(), SERIES):
        values = np.asarray(values, dtype=float)
        axes.plot(np.arange(len(values)), values, color=colour, ls=dash, lw=1.4, label=name)
        if mark and name in mark:
            axes.plot(mark[name], values[mark[name]], color=colour, marker=marker, ls="none")
    if seen is not None:
        axes.axvline(seen, color=INK, lw=0.8, ls=(0, (2, 2)))
        axes.annotate("longest distance in training", (seen, 0.0), xycoords=("data", "axes fraction"), xytext=(4, 5),
                      textcoords="offset points", alpha=0.8)
    axes.set(xlabel="distance", ylabel=y, xlim=(0, None))
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, borderaxespad=0)
    return figure


def reach(weights: Mapping[str, np.ndarray]) -> Figure:
    """Share of the weight that lies within a distance, one curve a head; distance on a logarithmic axis from 1."""
    figure, axes = new_figure(2.8)
    for (name, values), (colour, dash, _) in zip(weights.items(), SERIES):
        axes.plot(np.arange(1, len(values) + 1), np.cumsum(values), color=colour, ls=dash, label=name)
    axes.set_xscale("log", base=2)
    ticks = [2**i for i in range(0, 13, 2)]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FixedFormatter([str(t) for t in ticks]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel="nearest tokens", ylabel="share of the weight", ylim=(0, 1.03))
    axes.legend(loc="lower right")
    return figure


def accuracy_by_length(results: Mapping[str, Mapping[str, Mapping[int, tuple]]], chance: float) -> Figure:
    """One panel a task, one line a scheme: mean over seeds, band from the worst to the best.

    results[task][scheme][length]: (low, mean, high).
    """
    figure, panels = new_figure(3.1, 1, len(results), sharey=True)
    for axes, (task, schemes) in zip(panels, results.items()):
        for (name, by_length), (colour, dash, marker) in zip(schemes.items(), SERIES):
            lengths, (low, mean, high) = list(by_length), zip(*by_length.values())
            axes.fill_between(lengths, low, high, color=colour, alpha=0.15, lw=0)
            axes.plot(lengths, mean, color=colour, ls=dash, marker=marker, label=name)
        axes.axhline(chance, color=INK, lw=0.8, ls=(0, (2, 2)), alpha=0.6)
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_locator(FixedLocator(lengths))
        axes.xaxis.set_major_formatter(FixedFormatter([str(n) for n in lengths]))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set(title=task, xlabel="length of the sequence", ylim=(0, 1.04))
    panels[0].set_ylabel("share of right copies")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def ranges(results: Mapping[str, Mapping[str, tuple]], chance: float) -> Figure:
    """One panel a task, one row a method: a dot for the mean over seeds, a line from the worst to the best.

    results[task][method]: (low, mean, high).
    """
    rows = list(next(iter(results.values())))
    figure, panels = new_figure(0.3 * len(rows) + 1.0, 1, len(results), sharex=True, sharey=True)
    for axes, (task, methods), (colour, _, marker) in zip(panels, results.items(), (SERIES[1], SERIES[3])):
        for y, (low, mean, high) in enumerate(methods.values()):
            axes.plot([low, high], [y, y], color=colour, lw=2.4, alpha=0.45, solid_capstyle="butt")
            axes.plot(mean, y, color=colour, marker=marker)
        axes.axvline(chance, color=INK, lw=0.8, ls=(0, (2, 2)), alpha=0.6)
        axes.set(title=task, xlim=(0, 1.03), ylim=(len(rows) - 0.5, -0.5))
        axes.set_yticks(range(len(rows)), rows)
        axes.tick_params(axis="y", length=0)
    figure.supxlabel("share of right copies", fontsize=10)
    return figure


def slowdown(methods: Mapping[str, np.ndarray], turns: np.ndarray) -> Figure:
    """How many times more slowly each pair turns (upper panel), and turns it makes in training (lower panel)."""
    figure, (above, below) = new_figure(3.8, 2, 1, sharex=True)
    pairs = np.arange(len(turns))
    for (name, values), (colour, dash, _) in zip(methods.items(), SERIES):
        above.plot(pairs, values, color=colour, ls=dash, label=name)
    above.set_ylabel("times slower")
    above.set_ylim(0, None)
    above.legend()
    below.semilogy(pairs, turns, color=INK, lw=1.2)
    below.axhline(1, color=WARN, lw=1, ls=(0, (4, 2)))
    below.annotate("one turn", (0.01, 1), xycoords=("axes fraction", "data"), xytext=(0, 3), textcoords="offset points")
    below.set(xlabel="pair i", ylabel="turns in training", xlim=(0, len(turns) - 1))
    return figure
