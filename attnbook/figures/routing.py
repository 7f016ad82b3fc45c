"""Figures of chapter 1: graphs, gradients, recall, and attention maps."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from attnbook.figures.parts import cells, chance_line, word_axes
from attnbook.figures.style import INK, QUERY, SERIES, STREAM, WEIGHTS, bare, label_end, new_figure


SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"


# -- drawings of graphs -------------------------------------------------------------------

def relay_chain(words: Sequence[str]) -> Figure:
    """A recurrent network unrolled: each word enters one state, and the state is passed on."""
    figure, axes = new_figure(1.9)
    bare(axes)
    for t, word in enumerate(words):
        _box(axes, t * 2, 1.4, f"h{SUBSCRIPTS[t + 1]}", STREAM)
        _box(axes, t * 2, 0, word, QUERY, edge=False)
        _arrow(axes, (t * 2, 0.35), (t * 2, 1.0), QUERY)
        if t:
            _arrow(axes, (t * 2 - 1.5, 1.4), (t * 2 - 0.5, 1.4), STREAM)
    last = 2 * (len(words) - 1)
    _arrow(axes, (last + 0.5, 1.4), (last + 1.4, 1.4), STREAM)
    axes.text(last + 1.55, 1.4, "answer", va="center")
    axes.set(xlim=(-0.8, last + 3.0), ylim=(-0.45, 1.95))
    return figure


def two_graphs(words: Sequence[str]) -> Figure:
    """The same words joined as a chain and joined all to all."""
    figure, (chain, full) = new_figure(3.1, 2, 1, gridspec_kw={"height_ratios": [1, 2.1]})
    n = len(words)
    for axes, title in ((chain, "Relay: each word tells the next"), (full, "Broadcast: each word can read all others")):
        bare(axes)
        axes.set_title(title)
        for i, word in enumerate(words):
            axes.text(i, -0.32, word, ha="center", va="center")
    for i in range(n - 1):
        _arrow(chain, (i + 0.12, 0), (i + 0.88, 0), STREAM)
    for i in range(n):
        for j in range(i + 1, n):
            full.add_patch(FancyArrowPatch((i, 0.05), (j, 0.05), arrowstyle="<|-|>", mutation_scale=7, color=WEIGHTS,
                                           lw=1, alpha=0.75, connectionstyle="arc3,rad=-0.38", shrinkA=1, shrinkB=1))
    for axes in (chain, full):
        axes.plot(range(n), [0] * n, "o", color=STREAM, ms=7)
    chain.set(xlim=(-0.6, n - 0.4), ylim=(-0.5, 0.25))
    full.set(xlim=(-0.6, n - 0.4), ylim=(-0.5, 0.22 * (n - 1)))
    return figure


def _box(axes, x, y, text, colour, edge=True):
    if edge:
        axes.add_patch(Rectangle((x - 0.5, y - 0.4), 1, 0.8, fill=False, ec=colour, lw=1.4))
    axes.text(x, y, text, ha="center", va="center", color=INK)


def _arrow(axes, start, end, colour):
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=11, color=colour, lw=1.4,
                                   shrinkA=0, shrinkB=0))


# -- curves -------------------------------------------------------------------------------

def gradient_norms(curves: Mapping[str, Sequence[float]]) -> Figure:
    """How much gradient is left after k steps back, on a logarithmic axis; curves[name][k - 1]."""
    figure, axes = new_figure(3.2)
    for (name, norms), (colour, dash, _) in zip(curves.items(), SERIES):
        steps = np.arange(1, len(norms) + 1)
        axes.semilogy(steps, norms, color=colour, ls=dash)
        label_end(axes, steps[-1], norms[-1], name)
    axes.axhline(1, color=INK, lw=0.7, alpha=0.4)
    axes.set(xlabel="steps back in time", ylabel="gradient left, first step = 1")
    _log_ticks_that_fit(axes)
    return figure


def _log_ticks_that_fit(axes, at_most=7):
    """Whole powers of ten only, few enough not to crowd."""
    low, high = np.floor(np.log10(axes.get_ylim()[0])), np.ceil(np.log10(axes.get_ylim()[1]))
    step = max(1, int(np.ceil((high - low) / at_most)))
    powers = np.arange(step * np.ceil(low / step), high + 1, step)
    axes.yaxis.set_major_locator(FixedLocator(10.0 ** powers))
    axes.yaxis.set_minor_locator(NullLocator())


def recall_bands(recalled: Mapping[str, Mapping[int, Sequence[float]]], chance: float = 0.5) -> Figure:
    """Accuracy over sequence length, one line a network: mean over seeds, band from worst to best seed.

    recalled[name][T]: the accuracy of each seed.
    """
    figure, axes = new_figure(3.1)
    for (name, by_length), (colour, dash, marker) in zip(recalled.items(), SERIES):
        lengths, shares = list(by_length), list(by_length.values())
        axes.fill_between(lengths, [min(s) for s in shares], [max(s) for s in shares], color=colour, alpha=0.16, lw=0)
        axes.plot(lengths, [sum(s) / len(s) for s in shares], color=colour, ls=dash, marker=marker, label=name)
    _length_axis(axes, sorted({T for by_length in recalled.values() for T in by_length}))
    chance_line(axes, chance)
    axes.set(xlabel="length of the sequence T", ylabel="share of first bits recalled", ylim=(0.4, 1.05))
    axes.legend(loc="center left")
    return figure


def probe_accuracy(widths: Sequence[int], accuracy: Mapping[str, Sequence[float]], chance: float) -> Figure:
    """How often a linear probe names an earlier word from the last state, over the width of the state."""
    figure, axes = new_figure(2.9)
    for (name, values), (colour, dash, marker) in zip(accuracy.items(), SERIES):
        axes.plot(widths, values, color=colour, ls=dash, marker=marker, label=name)
    _length_axis(axes, widths)
    chance_line(axes, chance)
    axes.set(xlabel="width of the state d", ylabel="share of words read back", ylim=(0, 1.05))
    axes.legend(loc="lower right", bbox_to_anchor=(1, 0.12))
    return figure


def path_and_steps(
    lengths: Sequence[int], path: Mapping[str, Sequence[int]], steps: Mapping[str, Sequence[int]]
) -> Figure:
    """Two panels over the number of words: the longest path, and the steps that must wait for each other."""
    figure, panels = new_figure(5.0, 2, 1, sharex=True)
    titles = ("Longest path between two words", "Steps that wait for each other")
    for axes, curves, title in zip(panels, (path, steps), titles):
        for (name, values), (colour, dash, marker) in zip(curves.items(), SERIES):
            axes.plot(lengths, values, color=colour, ls=dash, marker=marker, label=name)
        axes.set_yscale("log", base=2)
        axes.set(title=title, ylabel="hops" if axes is panels[0] else "steps")
        ticks = [2**p for p in range(0, int(np.log2(max(lengths))) + 1, 2)]
        axes.yaxis.set_major_locator(FixedLocator(ticks))
        axes.yaxis.set_major_formatter(FixedFormatter([str(t) for t in ticks]))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.legend(loc="upper left")
    _length_axis(panels[1], lengths)
    panels[1].set_xlabel("number of words n")
    return figure


def dilution(lengths: Sequence[int], kept: Mapping[str, Sequence[float]]) -> Figure:
    """The weight that one key keeps against n - 1 equal rivals, for fixed leads of its score."""
    figure, axes = new_figure(2.9)
    for (name, values), (colour, dash, _) in zip(kept.items(), SERIES):
        axes.semilogx(lengths, values, color=colour, ls=dash, label=name)
    axes.set(xlabel="number of keys n", ylabel="weight of the best key", ylim=(0, 1.03))
    axes.legend(title="lead of its score")
    return figure


def _length_axis(axes, ticks):
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(list(ticks)))
    axes.xaxis.set_major_formatter(FixedFormatter([str(t) for t in ticks]))
    axes.xaxis.set_minor_locator(NullLocator())


# -- attention maps -----------------------------------------------------------------------

def heat_map(weights, queries: Sequence[str], keys: Sequence[str] | None = None, *, mask=None,
             title: str = "") -> Figure:
    """An attention map: one row a query, one column a key, stronger colour = more weight; hidden cells are hatched.

    weights: (L, S), rows sum to 1. mask: (L, S) boolean, True = may attend.
    """
    weights = np.asarray(weights, dtype=float)
    figure, axes = new_figure(0.36 * weights.shape[0] + 1.5)
    cells(axes, weights, mask)
    word_axes(axes, queries, keys or queries)
    axes.set(xlabel="key: the word that is read", ylabel="query: the word that reads", title=title)
    return figure


def heat_maps(maps: Mapping[str, Sequence], words: Sequence[str]) -> Figure:
    """Two or more attention maps over the same words, side by side; maps[title]: (n, n), rows are queries."""
    n = len(words)
    figure, panels = new_figure(0.2 * n + 1.5, 1, len(maps), sharey=True)
    for axes, (title, weights) in zip(panels, maps.items()):
        cells(axes, np.asarray(weights, dtype=float))
        word_axes(axes, words, words)
        axes.tick_params(labelsize=8)
        axes.set(xlabel="key: the word that is read", title=title)
    panels[0].set_ylabel("query: the word that reads")
    return figure


def row_bars(rows: Mapping[str, Sequence[float]], keys: Sequence[str], *, label: str = "") -> Figure:
    """One row of weights from each of several runs, as bars over the same words, in percent.

    rows[name]: (S,) weights that sum to 1. label: what the names of the rows are.
    """
    figure, axes = new_figure(0.52 * len(rows) + 1.1)
    for i, row in enumerate(reversed(list(rows.values()))):
        axes.bar(np.arange(len(keys)) + 0.5, np.asarray(row) * 0.68, 0.7, bottom=i, color=WEIGHTS)
        axes.hlines(i, 0, len(keys), color=INK, lw=0.5, alpha=0.4)
        for j, weight in enumerate(row):
            if weight >= 0.005:
                top = i + 0.68 * float(weight) + 0.05
                axes.text(j + 0.5, top, f"{100 * float(weight):.0f}", ha="center", fontsize=8)
    axes.set(xlim=(0, len(keys)), ylim=(-0.05, len(rows)))
    word_axes(axes, list(rows)[::-1], keys)
    axes.set_yticks(np.arange(len(rows)) + 0.3, list(rows)[::-1])
    axes.set(xlabel="key: the word that is read (weight in percent)", ylabel=label)
    return figure
