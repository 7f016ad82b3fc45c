"""Figures of chapter 3: spread of scores, what softmax lets through, and trainings compared."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from attnbook.figures.style import INK, SERIES, STREAM, WARN, WEIGHTS, new_figure


# -- spread -------------------------------------------------------------------------------

def score_spread(dots: Mapping[str, Sequence[float]], limit: float = 60) -> Figure:
    """Outlines of histograms of scores, one panel a name, with one and two standard deviations marked."""
    figure, panels = new_figure(0.95 * len(dots) + 0.7, len(dots), 1, sharex=True)
    bins = np.linspace(-limit, limit, 81)
    for axes, (name, values), (colour, _, _) in zip(panels, dots.items(), SERIES, strict=False):
        values = np.asarray(values, dtype=float)
        axes.stairs(np.histogram(values, bins, density=True)[0], bins, fill=True, color=colour, alpha=0.35)
        for width, dash in ((values.std(), "-"), (2 * values.std(), (0, (2, 2)))):
            for x in (-width, width):
                axes.axvline(x, color=INK, lw=0.9, ls=dash)
        axes.set_title(f"{name}: standard deviation {values.std():.1f}")
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
    panels[-1].set_xlabel("score q · k")
    return figure


# -- maps ---------------------------------------------------------------------------------

def key_maps(maps: Mapping[str, np.ndarray], widths: Sequence[int], keys: Sequence[int], ratio: str = "") -> Figure:
    """One table of numbers a panel, rows = widths d_k, columns = numbers of keys, shaded by size.

    maps[title]: (widths, keys), numbers from 0 to 1. The panel named `ratio` holds ratios: below 1 it is shaded in one
    colour, above 1 in another and hatched.
    """
    figure, panels = new_figure(1.9 * len(maps), len(maps), 1, sharex=True)
    for axes, (title, values) in zip(np.atleast_1d(panels), maps.items()):
        _table(axes, np.asarray(values, dtype=float), title == ratio)
        axes.set_title(title)
        axes.set_xticks(np.arange(len(keys)) + 0.5, [str(n) for n in keys])
        axes.set_yticks(np.arange(len(widths)) + 0.5, [str(d) for d in widths])
        axes.set_ylabel("width dₖ")
        axes.tick_params(length=0)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
    np.atleast_1d(panels)[-1].set_xlabel("number of keys n")
    return figure


def _table(axes, values, is_ratio):
    rows, columns = values.shape
    for i in range(rows):
        for j in range(columns):
            value = values[i, j]
            if is_ratio:
                above, strength = value > 1, min(abs(np.log(value)) / np.log(8), 1)
            else:
                above, strength = False, value
            colour = WARN if above else STREAM if is_ratio else WEIGHTS
            axes.add_patch(Rectangle((j, i), 1, 1, fc=colour, lw=0, alpha=0.6 * float(np.clip(strength, 0, 1))))
            if above:
                axes.add_patch(Rectangle((j, i), 1, 1, fill=False, hatch="///", ec=WARN, lw=0, alpha=0.5))
            axes.text(j + 0.5, i + 0.5, f"{value:.2f}", ha="center", va="center", fontsize=9)
    axes.set(xlim=(0, columns), ylim=(rows, 0))


# -- training -----------------------------------------------------------------------------

def loss_bands(runs: Mapping[str, Sequence[Sequence[float]]], guess: float, window: int = 10) -> Figure:
    """Training loss over steps, smoothed: a line for the mean over seeds, a band from the best to the worst seed.

    runs[name][seed][step]. guess: the loss of guessing, drawn as a line.
    """
    figure, axes = new_figure(3.3)
    for (name, seeds), (colour, dash, _) in zip(runs.items(), SERIES):
        curves = np.array([np.convolve(one, np.ones(window) / window, "valid") for one in seeds])
        steps = np.arange(window, window + curves.shape[1])
        axes.fill_between(steps, curves.min(0), curves.max(0), color=colour, alpha=0.16, lw=0)
        axes.plot(steps, curves.mean(0), color=colour, ls=dash, label=name)
    axes.axhline(guess, color=INK, lw=0.8, ls=(0, (2, 2)), alpha=0.6)
    axes.annotate("guessing", (0.99, guess), xycoords=("axes fraction", "data"), xytext=(0, 4),
                  textcoords="offset points", ha="right", alpha=0.8)
    axes.set(xlabel="training step", ylabel="loss in nats", ylim=(0, guess + 1.2))
    axes.legend(loc="lower left")
    return figure


def seed_bands(results: Mapping[str, Mapping[float, Sequence[float]]], *, x: str, y: str) -> Figure:
    """Results over a setting, one line a name: mean over seeds, band from worst to best seed. x, y: axis labels.

    results[name][setting]: one number a seed.
    """
    figure, axes = new_figure(3.0)
    for (name, by_setting), (colour, dash, marker) in zip(results.items(), SERIES):
        settings, found = list(by_setting), list(by_setting.values())
        axes.fill_between(settings, [min(f) for f in found], [max(f) for f in found], color=colour, alpha=0.16, lw=0)
        axes.plot(settings, [sum(f) / len(f) for f in found], color=colour, ls=dash, marker=marker, label=name)
    ticks = sorted({setting for by_setting in results.values() for setting in by_setting})
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FixedFormatter([f"{t:g}" for t in ticks]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_ylim(bottom=0)
    axes.set(xlabel=x, ylabel=y)
    axes.legend()
    return figure
