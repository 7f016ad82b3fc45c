"""Figures of chapter 4: choices, slopes, temperatures, and what a temperature does to text."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from attnbook.figures.style import INK, SERIES, STREAM, WEIGHTS, new_figure


def step_and_slope(scores: Sequence[float], hard: Sequence[float], soft: Sequence[float], rival: float) -> Figure:
    """The weight of one key as its score passes the best of its rivals: a step for argmax, a slope for softmax."""
    figure, axes = new_figure(2.7)
    for values, name, (colour, dash, _) in ((hard, "argmax", SERIES[0]), (soft, "softmax", SERIES[1])):
        axes.plot(scores, values, color=colour, ls=dash, label=name)
    axes.axvline(rival, color=INK, lw=0.7, alpha=0.4)
    axes.set(xlabel="score of the first key", ylabel="its weight", ylim=(-0.05, 1.05))
    axes.legend(loc="upper left")
    return figure


def jacobian_maps(maps: Mapping[str, Sequence]) -> Figure:
    """Jacobians of softmax side by side, each number written in its cell; maps[title]: (n, n).

    The fill says how large a number is and the hatching that it is negative.
    """
    figure, panels = new_figure(2.3, 1, len(maps), sharey=True)
    for axes, (title, J) in zip(panels, maps.items()):
        J = np.asarray(J, dtype=float)
        for i, row in enumerate(J):
            for j, value in enumerate(row):
                axes.add_patch(Rectangle((j, i), 1, 1, fc=WEIGHTS if value > 0 else STREAM, lw=0,
                                         alpha=min(0.5, 2 * abs(value))))
                if value < -0.005:
                    axes.add_patch(Rectangle((j, i), 1, 1, fill=False, hatch="////", ec=INK, lw=0, alpha=0.25))
                axes.text(j + 0.5, i + 0.5, f"{value:.2f}".replace("-", "−").replace("−0.00", "0.00"),
                          ha="center", va="center", fontsize=9)
        places = np.arange(len(J)) + 0.5
        axes.set(xlim=(0, len(J)), ylim=(len(J), 0), title=title, aspect="equal", xlabel="score j")
        axes.set_xticks(places, [str(i + 1) for i in range(len(J))])
        axes.set_yticks(places, [str(i + 1) for i in range(len(J))])
        axes.tick_params(length=0)
    panels[0].set_ylabel("weight i")
    return figure


def saturation(scales: Sequence[float], norms: Sequence[Sequence[float]]) -> Figure:
    """Slopes of many rows of softmax over the size of their scores: median, middle 80 percent, and mean.

    norms[i]: the norms of all rows at scales[i].
    """
    norms = np.asarray(norms, dtype=float)
    low, median, high = np.quantile(norms, [0.1, 0.5, 0.9], axis=1)
    figure, axes = new_figure(3.0)
    axes.fill_between(scales, np.maximum(low, 1e-16), high, color=STREAM, alpha=0.18, lw=0)
    for values, name, (colour, dash, marker) in ((norms.mean(1), "mean over rows", SERIES[1]), (median, "median row", SERIES[0])):
        axes.loglog(scales, values, color=colour, ls=dash, marker=marker, label=name)
    axes.set(xlabel="size of the scores (standard deviation)", ylabel="norm of the Jacobian", ylim=(1e-12, 2))
    _ticks(axes, scales)
    axes.yaxis.set_major_locator(FixedLocator([1, 1e-3, 1e-6, 1e-9, 1e-12]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.legend(loc="lower left")
    return figure


def weights_over_temperature(temperatures: Sequence[float], weights: Mapping[str, Sequence[float]],
                             marked: Sequence[float]) -> Figure:
    """Each weight over the temperature on a logarithmic axis; `marked` temperatures have a thin line."""
    figure, axes = new_figure(2.9)
    for T in marked:
        axes.axvline(T, color=INK, lw=0.6, alpha=0.3)
    for (name, values), (colour, dash, _) in zip(weights.items(), SERIES):
        axes.semilogx(temperatures, values, color=colour, ls=dash, label=name)
    axes.set(xlabel="temperature T", ylabel="weight", ylim=(-0.03, 1.03))
    _ticks(axes, [0.05, *marked, 10, 100])
    axes.legend(title="score")
    return figure


def training_curves(losses: Mapping[str, Sequence[Sequence[float]]], guess: float) -> Figure:
    """Loss over training steps, one line a kind: mean over seeds, band from the best to the worst seed.

    losses[name]: (steps, seeds). guess: the loss of knowing nothing.
    """
    figure, axes = new_figure(3.0)
    for (name, loss), (colour, dash, _) in zip(losses.items(), SERIES):
        smooth = _smooth(np.asarray(loss, dtype=float))
        steps = np.arange(len(smooth))
        axes.fill_between(steps, smooth.min(1), smooth.max(1), color=colour, alpha=0.16, lw=0)
        axes.plot(steps, smooth.mean(1), color=colour, ls=dash, label=name)
    axes.axhline(guess, color=INK, lw=0.8, ls=(0, (2, 2)), alpha=0.6)
    axes.annotate("a guess", (0.99, guess), xycoords=("axes fraction", "data"), xytext=(0, 3),
                  textcoords="offset points", ha="right", alpha=0.8)
    axes.set(xlabel="training steps", ylabel="loss in nats", ylim=(-0.05, 3.15))
    axes.legend(loc="center right")
    return figure


def _smooth(loss, width=10):
    """Running mean over steps, so that the noise of single batches does not hide the line."""
    kernel = np.ones(width) / width
    return np.stack([np.convolve(column, kernel, mode="valid") for column in loss.T], axis=1)


def written_text(temperatures: Sequence[float], measures: Mapping[str, Mapping[str, Sequence]]) -> Figure:
    """Four panels over the temperature: mean and band over seeds, and a dotted line for the book itself.

    measures[title]: low, mean, high (one value a temperature) and book (one number).
    """
    figure, panels = new_figure(4.6, 2, 2, sharex=True)
    for axes, (title, one) in zip(panels.flat, measures.items()):
        axes.fill_between(temperatures, one["low"], one["high"], color=WEIGHTS, alpha=0.18, lw=0)
        axes.plot(temperatures, one["mean"], color=WEIGHTS, marker="o")
        axes.axhline(one["book"], color=INK, lw=0.9, ls=(0, (2, 2)), alpha=0.7)
        axes.set_title(title)
        axes.set_ylim(0, None)
    for axes in panels[1]:
        axes.set_xlabel("temperature T")
        axes.xaxis.set_major_locator(FixedLocator(list(temperatures)))
        axes.xaxis.set_major_formatter(FixedFormatter([f"{T:g}" for T in temperatures]))
    panels[0, 0].annotate("the book", (0.02, measures[next(iter(measures))]["book"]), xycoords=("axes fraction", "data"),
                          xytext=(0, 3), textcoords="offset points", alpha=0.8)
    return figure


def _ticks(axes, ticks):
    axes.xaxis.set_major_locator(FixedLocator(list(ticks)))
    axes.xaxis.set_major_formatter(FixedFormatter([f"{t:g}" for t in ticks]))
    axes.xaxis.set_minor_locator(NullLocator())
