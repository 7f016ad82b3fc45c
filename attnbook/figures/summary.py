"""Figures of chapter 8: what each part is worth, and what one head and two bring from two places."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from matplotlib.figure import Figure

from attnbook.figures.style import INK, SERIES, STREAM, WEIGHTS, new_figure


def parts(shares: Mapping[str, Sequence[float]], guess: float) -> Figure:
    """A line for each variant: the mean as a point, from the worst to the best seed as a bar.

    shares[variant]: low, mean and high of what it names right. guess: the share of knowing nothing.
    """
    figure, axes = new_figure(0.36 * len(shares) + 0.9)
    _ranges(axes, shares)
    for row, (_, mean, high) in enumerate(shares.values()):
        axes.annotate(f"{mean:.0%}", (high, row), xytext=(8, 0), textcoords="offset points", va="center", fontsize=9)
    axes.axvline(guess, color=INK, lw=0.8, ls=(0, (2, 2)), alpha=0.6)
    axes.annotate("a guess", (guess, len(shares) - 0.55), xytext=(4, 0), textcoords="offset points", alpha=0.8, fontsize=9)
    axes.set_xlabel("symbols named right")
    return figure


def _ranges(axes, shares):
    """A row for each name, from above: low, mean and high of a share."""
    for row, (low, mean, high) in enumerate(shares.values()):
        axes.plot([low, high], [row, row], color=STREAM, lw=5, alpha=0.4, solid_capstyle="butt")
        axes.plot([mean], [row], color=STREAM, marker="o")
    axes.set(xlim=(0, 1.08), ylim=(len(shares) - 0.4, -0.6))
    axes.set_xticks([0, 0.5, 1], ["0%", "50%", "100%"])
    axes.set_yticks(range(len(shares)), list(shares))
    axes.tick_params(axis="y", length=0)


def learning(curves: Mapping[str, Sequence[float]], guess: float) -> Figure:
    """Loss over training steps, one line a model, smoothed over ten steps."""
    figure, axes = new_figure(2.6)
    for (name, loss), (colour, dash, _) in zip(curves.items(), SERIES):
        axes.plot(_smooth(np.asarray(loss, dtype=float)[:, None])[:, 0], color=colour, ls=dash, label=name)
    axes.axhline(guess, color=INK, lw=0.8, ls=(0, (2, 2)), alpha=0.6)
    axes.annotate("a guess", (0.99, guess), xycoords=("axes fraction", "data"), xytext=(0, 3),
                  textcoords="offset points", ha="right", alpha=0.8)
    axes.set(xlabel="training steps", ylabel="loss in nats", ylim=(0, None))
    axes.legend(loc="upper right", bbox_to_anchor=(1, 0.85))
    return figure


def two_places(copying: Mapping[str, Sequence[Sequence[float]]], naming: Mapping[str, Sequence[float]], wall: float) -> Figure:
    """Left, loss of copying features over training steps, with a line at the wall; right, share of names told right.

    wall: a fraction with a small denominator, which names the line.
    copying[name]: (steps, seeds), drawn as the mean and a band from best to worst. naming[name]: low, mean, high.
    """
    figure, (left, right) = new_figure(3.0, 1, 2)
    for (name, loss), (colour, dash, _) in zip(copying.items(), (SERIES[1], SERIES[0])):
        smooth = _smooth(np.asarray(loss, dtype=float))
        steps = np.arange(len(smooth))
        left.fill_between(steps, smooth.min(1), smooth.max(1), color=colour, alpha=0.16, lw=0)
        left.semilogy(steps, smooth.mean(1), color=colour, ls=dash, label=name)
    left.axhline(wall, color=INK, lw=0.8, ls=(0, (2, 2)), alpha=0.6)
    share = str(Fraction(wall).limit_denominator(20))
    left.annotate(share, (0.99, wall), xycoords=("axes fraction", "data"), xytext=(0, 3), textcoords="offset points",
                  ha="right", alpha=0.8)
    left.set(title="copying: loss", xlabel="training steps", ylim=(1e-4, 6))
    left.legend(loc="lower left")
    _ranges(right, naming)
    right.set_title("naming: both right")
    return figure


def head_maps(maps: Mapping[str, Sequence], symbols: str, looked_at: Sequence[int | None]) -> Figure:
    """Weights of heads side by side, darker for more; a ring marks the place looked_at[i] that row i should find.

    maps[title]: (n, n), rows are queries. looked_at: for each row a column, or None where nothing can be known.
    """
    figure, panels = new_figure(3.1, 1, len(maps), sharey=True)
    for axes, (title, weights) in zip(panels, maps.items()):
        weights = np.asarray(weights, dtype=float)
        n = len(weights)
        for i, row in enumerate(weights):
            for j in range(i + 1):
                if row[j] > 0.02:
                    axes.fill([j, j + 1, j + 1, j], [i, i, i + 1, i + 1], color=WEIGHTS, lw=0, alpha=min(1.0, float(row[j])))
            if looked_at[i] is not None:
                axes.plot([looked_at[i] + 0.5], [i + 0.5], marker="o", mfc="none", mec=INK, ms=7, mew=0.8, ls="none")
        places = np.arange(n) + 0.5
        axes.set(xlim=(0, n), ylim=(n, 0), title=title, aspect="equal", xlabel="key")
        axes.set_xticks(places, list(symbols), fontsize=7)
        axes.set_yticks(places, list(symbols), fontsize=7)
        axes.tick_params(length=0)
    panels[0].set_ylabel("query")
    return figure


def _smooth(loss, width=10):
    """Running mean over steps, so that the noise of single batches does not hide the line."""
    kernel = np.ones(width) / width
    return np.stack([np.convolve(column, kernel, mode="valid") for column in loss.T], axis=1)
