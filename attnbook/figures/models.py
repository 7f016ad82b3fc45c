"""Figures of what was measured on trained models and real words (chapters 1, 2, 4 to 7)."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from attnbook.figures.style import INK, SERIES, WEIGHTS, label_end, new_figure

PALEST = 0.02  # share of a colour below which a cell is not drawn


def error_by_length(runs: Mapping[str, Sequence[Sequence[float]]], bands: Sequence[tuple[int, int]]) -> Figure:
    """Share of wrong sounds over the length of the word; a line is the mean of the seeds, its band their range.

    runs[name][seed]: (bands,) error rates.
    """
    figure, axes = new_figure(3.0)
    x = np.arange(len(bands))
    for (name, rates), (colour, dash, marker) in zip(runs.items(), SERIES):
        rates = np.asarray(rates)
        axes.fill_between(x, rates.min(0), rates.max(0), color=colour, alpha=0.25, lw=0)
        axes.plot(x, rates.mean(0), color=colour, ls=dash, marker=marker)
        label_end(axes, x[-1], rates.mean(0)[-1], name)
    axes.set_xticks(x, [f"{first}–{last}" for first, last in bands])
    axes.set(xlabel="letters of the word", ylabel="wrong sounds per sound", ylim=(0, None), xlim=(-0.2, len(bands) - 0.1))
    return figure


def alignments(words: Mapping[str, tuple[Sequence[str], Sequence[Sequence[float]]]], columns: int = 3) -> Figure:
    """For each word a map: rows are the sounds that were said, columns its letters; words[word] = (sounds, weights)."""
    rows = -(-len(words) // columns)
    figure, panels = new_figure(1.75 * rows, rows, columns)
    for axes in np.ravel(panels)[len(words):]:
        axes.set_axis_off()
    for axes, (word, (sounds, weights)) in zip(np.ravel(panels), words.items(), strict=False):
        _cells(axes, np.asarray(weights, dtype=float).reshape(len(sounds), len(word)))
        axes.set_xticks(np.arange(len(word)) + 0.5, list(word))
        axes.set_yticks(np.arange(len(sounds)) + 0.5, sounds)
        axes.tick_params(labelsize=7, length=0)
    return figure


def head_grid(values: Sequence[Sequence[float]], *, low: float, high: float, marked: Sequence[tuple[int, int]] = (),
              form: str = "{:.0f}") -> Figure:
    """A cell for each head, rows are layers from 1, columns heads from 0; colour from low (none) to high (half of full).

    marked: (layer, head), both from 0, that get a frame.
    """
    values = np.asarray(values, dtype=float)
    figure, axes = new_figure(0.3 * len(values) + 0.8)
    shares = ((values - low) / (high - low)).clip(0, 1)
    _cells(axes, shares / 2)  # on more colour the numbers could not be read in both themes
    for (layer, head), value in np.ndenumerate(values):
        axes.text(head + 0.5, layer + 0.52, form.format(value), ha="center", va="center", fontsize=8, color=INK)
    for layer, head in marked:
        axes.add_patch(_frame(head, layer))
    axes.set_xticks(np.arange(values.shape[1]) + 0.5, [str(h) for h in range(values.shape[1])])
    axes.set_yticks(np.arange(len(values)) + 0.5, [str(layer + 1) for layer in range(len(values))])
    axes.tick_params(length=0)
    axes.set(xlabel="head", ylabel="layer")
    return figure


def losses(values: Mapping[str, Sequence[float]], *, x: str = "loss in nats per token") -> Figure:
    """A row of dots for each change, one dot a passage, and a stroke at their mean."""
    figure, axes = new_figure(0.32 * len(values) + 0.8)
    for i, numbers in enumerate(values.values()):
        axes.plot(numbers, [i] * len(numbers), "o", color=WEIGHTS, alpha=0.6, mew=0)
        axes.plot([np.mean(numbers)] * 2, [i - 0.3, i + 0.3], color=INK, lw=1.4)
    axes.set_yticks(range(len(values)), list(values))
    axes.set(xlabel=x, ylim=(len(values) - 0.5, -0.5))
    return figure


def _cells(axes, shares):
    """Filled squares, not an image: they stay sharp and follow the theme's colours. Those too pale to see are left out."""
    rows, columns = shares.shape
    seen = [(i, j) for i in range(rows) for j in range(columns) if shares[i, j] >= PALEST]
    squares = [[(j, i), (j + 1, i), (j + 1, i + 1), (j, i + 1)] for i, j in seen]
    shades = [to_rgba(WEIGHTS, min(shares[cell], 1)) for cell in seen]
    axes.add_collection(PolyCollection(squares, facecolors=shades, lw=0))
    axes.set(xlim=(0, columns), ylim=(rows, 0))


def _frame(x, y):
    return Rectangle((x + 0.04, y + 0.04), 0.92, 0.92, fill=False, ec=INK, lw=1.6)
