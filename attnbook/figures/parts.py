"""Parts that figures of several chapters share: the cells of a map, its words, and the line of chance."""

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba

from attnbook.figures.style import INK, WEIGHTS


def chance_line(axes, chance):
    """A dashed line at the share that guessing reaches."""
    axes.axhline(chance, color=INK, lw=0.8, ls=(0, (2, 2)), alpha=0.6)
    axes.annotate("chance", (0.99, chance), xycoords=("axes fraction", "data"), xytext=(0, 3),
                  textcoords="offset points", ha="right", alpha=0.8)


def cells(axes, weights, mask=None):
    """Filled squares, not an image: they stay sharp, follow the theme's colours and can be hatched.

    weights: (rows, columns) from 0 to 1. mask: boolean of the same shape, False = hatched.
    """
    n_rows, n_columns = weights.shape
    seen = np.ones(weights.shape, dtype=bool) if mask is None else np.asarray(mask, dtype=bool)
    shades = [to_rgba(WEIGHTS, weight) for weight in weights[seen].clip(0, 1)]
    axes.add_collection(PolyCollection(_squares(seen), facecolors=shades, lw=0))
    hidden = {"facecolors": "none", "edgecolors": INK, "hatch": "////", "alpha": 0.35}
    axes.add_collection(PolyCollection(_squares(~seen), lw=0, **hidden))
    axes.set(xlim=(0, n_columns), ylim=(n_rows, 0))
    axes.hlines(range(n_rows + 1), 0, n_columns, color=INK, lw=0.4, alpha=0.2)
    axes.vlines(range(n_columns + 1), 0, n_rows, color=INK, lw=0.4, alpha=0.2)


def _squares(chosen):
    """The corners of each chosen cell, row by row."""
    return [[(j, i), (j + 1, i), (j + 1, i + 1), (j, i + 1)] for i, j in np.argwhere(chosen)]


def word_axes(axes, rows, columns):
    """The words of a map's rows and columns beside its cells."""
    axes.set_xticks(np.arange(len(columns)) + 0.5, columns, rotation=50, ha="right", rotation_mode="anchor")
    axes.set_yticks(np.arange(len(rows)) + 0.5, rows)
    axes.tick_params(length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
