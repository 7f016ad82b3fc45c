"""Figures of chapter 7: what a map can and cannot show, and what long sequences cost."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, LogLocator, NullLocator

from attnbook.figures.parts import cells, chance_line, word_axes
from attnbook.figures.style import INK, SERIES, STREAM, VALUE, WARN, WEIGHTS, new_figure

RANKS = (STREAM, WARN, WEIGHTS, VALUE)


def map_with_sums(rows: Mapping[str, Sequence[float]], keys: Sequence[str]) -> Figure:
    """A drawn heat map with its numbers, and beside each row its sum; a sum above 1 is marked."""
    weights = np.array(list(rows.values()))
    figure, axes = new_figure(2.2)
    cells(axes, 0.55 * weights)  # paler than a map without numbers, so that these can be read
    word_axes(axes, list(rows), [*keys])
    for (i, j), weight in np.ndenumerate(weights):
        axes.text(j + 0.5, i + 0.5, f"{weight:g}", ha="center", va="center", fontsize=9)
    for i, total in enumerate(weights.sum(1)):
        impossible = total > 1 + 1e-9
        axes.text(len(keys) + 0.2, i + 0.5, f"sum {total:.2f}, above 1" if impossible else f"sum {total:.2f}", va="center",
                  fontweight="bold" if impossible else "normal")
    axes.set_xlim(0, len(keys) + 2.1)
    return figure


def two_orders(found: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> Figure:
    """Accuracy in the usual and in the swapped order, a line a model; found[name]: (usual, swapped), a value a seed."""
    figure, axes = new_figure(2.8)
    for (name, pair), (colour, dash, marker) in zip(found.items(), (SERIES[1], SERIES[2])):
        for i, (usual, swapped) in enumerate(zip(*pair)):
            axes.plot([0, 1], [usual, swapped], color=colour, ls=dash, marker=marker, label=name if i == 0 else None)
    chance_line(axes, 0.5)
    axes.set(xlim=(-0.25, 1.25), ylim=(-0.03, 1.05), ylabel="right noun of the two")
    axes.set_xticks([0, 1], ["usual order", "swapped order"])
    axes.legend(loc="lower left", title="trained on")
    return figure


def correlation_spread(found: Mapping[str, Sequence[float]], quoted: tuple[float, float]) -> Figure:
    """One row a meaning of "effect", a dot a head: correlation of weight and effect; the quoted range as a band."""
    figure, axes = new_figure(0.62 * len(found) + 1.0)
    axes.axvspan(*quoted, color=WARN, alpha=0.25, lw=0)
    jitter = np.random.default_rng(0)
    for i, (name, values) in enumerate(found.items()):
        values = np.asarray(values)
        axes.plot(values, i + jitter.uniform(-0.22, 0.22, len(values)), ls="", marker="o", ms=4, color=WEIGHTS, alpha=0.45)
        axes.vlines(np.median(values), i - 0.36, i + 0.36, color=INK, lw=1.6)
    axes.set(ylim=(len(found) - 0.45, -0.55), xlabel="correlation with the weight, one dot a head")
    axes.set_yticks(range(len(found)), list(found))
    return figure


def patterns(masks: Mapping[str, Sequence], costs: Mapping[str, str]) -> Figure:
    """Patterns as maps, two in a row, each with what it costs underneath; masks[title]: (n, n), True = may attend."""
    figure, panels = new_figure(5.6, 2, 2)
    for axes, (title, mask) in zip(panels.flat, masks.items()):
        mask = np.asarray(mask, dtype=bool)
        axes.add_collection(PolyCollection(_runs(mask), facecolors=WEIGHTS, alpha=0.75, lw=0))
        axes.add_collection(PolyCollection(_runs(~mask), facecolors="none", edgecolors=INK, hatch="////", alpha=0.25, lw=0))
        axes.set(title=title, aspect="equal", xlabel=costs[title], xlim=(0, len(mask)), ylim=(len(mask), 0))
        axes.set_xticks([])
        axes.set_yticks([])
    return figure


def _runs(chosen):
    """One rectangle for each run of chosen cells in a row: far fewer shapes than cells."""
    found = []
    for i, row in enumerate(chosen):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], row.astype(int), [0]])))
        found += [[(a, i + 0.04), (b, i + 0.04), (b, i + 0.96), (a, i + 0.96)] for a, b in edges.reshape(-1, 2)]
    return found


def growth(lengths: Sequence[int], panels: Mapping[str, Mapping[str, Sequence[float]]]) -> Figure:
    """Panels over the length, both axes logarithmic: panels[label][method] has one value a length."""
    figure, both = new_figure(3.4, 1, len(panels))
    for axes, (label, methods) in zip(both, panels.items()):
        for (name, values), (colour, dash, marker) in zip(methods.items(), SERIES):
            axes.loglog(lengths, values, color=colour, ls=dash, marker=marker, label=name)
        axes.set(xlabel="length n", title=label)
        axes.xaxis.set_major_locator(FixedLocator(list(lengths)[::2]))
        axes.xaxis.set_major_formatter(FixedFormatter([str(n) for n in lengths][::2]))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_locator(LogLocator(10, numticks=6))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(_power))
    figure.legend(*both[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _power(value, _):
    exponent = round(np.log10(value))
    return f"{value:g}" if -3 < exponent < 4 else f"$10^{{{exponent}}}$"


def accuracy_by_age(found: Mapping[str, Sequence[float]], chance: float, marked: Mapping[str, tuple[int, int]]) -> Figure:
    """Share of digits named over how far back they stand, a line a method; marked[words]: a range of ages."""
    figure, axes = new_figure(3.3)
    for words, (low, high) in marked.items():
        axes.axvspan(low - 0.5, high + 0.5, color=STREAM, alpha=0.12, lw=0)
        axes.text((low + high) / 2, 1.06, words, ha="center", fontsize=9)
    for (name, values), (colour, dash, marker) in zip(found.items(), SERIES):
        axes.plot(range(1, len(values) + 1), values, color=colour, ls=dash, marker=marker, ms=4, label=name)
    chance_line(axes, chance)
    axes.set(xlabel="pairs back from the question", ylabel="digits named", ylim=(-0.02, 1.14))
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    figure.legend(loc="outside lower center", ncols=4)
    return figure


def ring_shares(owners: Mapping[str, Sequence[int]], shares: Mapping[str, Sequence[float]]) -> Figure:
    """Who computes which part of the causal triangle; owners[title][i]: the rank that holds row i, shares in percent."""
    figure, panels = new_figure(3.1, 1, len(owners))
    for axes, (title, rows) in zip(panels, owners.items()):
        n = len(rows)
        for i, rank in enumerate(rows):
            axes.fill_between([0, i + 1], i, i + 1, color=RANKS[rank], alpha=0.75, lw=0)
        for start, stop in _pieces(rows):
            axes.text(-1.2, (start + stop) / 2, str(rows[start]), fontsize=9, ha="right", va="center")
        axes.set(xlim=(0, n), ylim=(n, 0), title=title, aspect="equal", xlabel="key")
        axes.text(n - 0.5, 1, "\n".join(f"rank {r}: {100 * s:.0f} %" for r, s in enumerate(shares[title])), ha="right",
                  va="top", fontsize=9)
        axes.set_xticks([])
        axes.set_yticks([])
    panels[0].set_ylabel("query", labelpad=14)
    return figure


def _pieces(rows):
    """(start, stop) of each run of equal entries."""
    edges = [0, *(np.flatnonzero(np.diff(rows)) + 1).tolist(), len(rows)]
    return list(zip(edges, edges[1:]))


def ring_times(measured: Mapping[int, Mapping[int, float]], model: Mapping[int, Mapping[int, float]]) -> Figure:
    """Seconds over the number of ranks, a line a length: dots are measured, lines are the fitted model."""
    figure, axes = new_figure(2.9)
    for (n, times), (colour, dash, marker) in zip(measured.items(), SERIES):
        axes.plot(list(times), [1000 * t for t in times.values()], ls="", marker=marker, color=colour, label=f"n = {n}")
        axes.plot(list(model[n]), [1000 * t for t in model[n].values()], color=colour, ls=dash)
    axes.set(xlabel="ranks", ylabel="time in ms")
    axes.set_ylim(0, None)
    axes.xaxis.set_major_locator(FixedLocator(sorted({r for times in measured.values() for r in times})))
    axes.legend()
    return figure
