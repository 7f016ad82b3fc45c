"""Figures of chapter 2: roles, soft lookup, ranges over seeds, shared heads, and caches."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, Polygon, Rectangle

from attnbook.figures.style import INK, KEY, QUERY, SERIES, STREAM, VALUE, WARN, WEIGHTS, bare, label_end, new_figure

# -- drawings -----------------------------------------------------------------------------

def three_roles(asks: str, answers: Sequence[str]) -> Figure:
    """One word asks with its query; the others are matched by their keys and hand over their values."""
    figure, axes = new_figure(2.7)
    bare(axes)
    for j, word in enumerate(answers):
        y = 1.1 * (len(answers) - 1 - j)
        axes.text(3.1, y, word, ha="left", va="center")
        axes.add_patch(Rectangle((2.45, y - 0.16), 0.32, 0.32, color=KEY))
        axes.add_patch(Polygon([(4.85, y - 0.16), (5.25, y - 0.16), (5.05, y + 0.2)], color=VALUE))
        _arrow(axes, (0.65, 1.1), (2.35, y), WEIGHTS)
        _arrow(axes, (5.35, y), (6.75, 1.1), WEIGHTS)
    axes.add_patch(Circle((0.4, 1.1), 0.19, color=QUERY))
    axes.text(0.05, 1.1, asks, ha="right", va="center")
    axes.text(6.9, 1.1, "output", ha="left", va="center")
    for x, name in ((0.4, "query"), (2.6, "keys"), (5.05, "values")):
        axes.text(x, 2.75, name, ha="center")
    axes.set(xlim=(-0.7, 8.2), ylim=(-0.4, 3.1))
    return figure


def shared_heads(groups: Mapping[str, int], n_heads: int = 8) -> Figure:
    """Which query head reads which head of keys and values; groups[title]: heads of keys, 0 for one latent."""
    figure, panels = new_figure(2.9, 2, 2)
    for axes, (title, n_kv) in zip(panels.flat, groups.items(), strict=True):
        bare(axes)
        axes.set_title(title)
        shared = max(n_kv, 1)
        place = [(h + 0.5) * n_heads / shared - 0.5 for h in range(shared)]
        for h in range(n_heads):
            axes.plot([h, place[h * shared // n_heads]], [1.6, 0.3], color=STREAM, lw=0.9)
            axes.add_patch(Circle((h, 1.6), 0.27, color=QUERY, zorder=3))
        for x in place:
            if n_kv:
                axes.add_patch(Rectangle((x - 0.32, 0), 0.34, 0.45, color=KEY, zorder=3))
                axes.add_patch(Rectangle((x + 0.02, 0), 0.34, 0.45, color=VALUE, zorder=3))
            else:
                axes.add_patch(Rectangle((x - 0.95, 0), 1.9, 0.45, color=WARN, zorder=3))
        axes.set(xlim=(-0.6, n_heads - 0.4), ylim=(-0.2, 2.05))
    return figure


def _arrow(axes, start, end, colour):
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=10, color=colour, lw=1.3,
                                   shrinkA=0, shrinkB=0))


# -- measurements -------------------------------------------------------------------------

def sharpness(betas: Sequence[float], weights) -> Figure:
    """Weights of a few keys as the scores are stretched; weights: (betas, keys)."""
    figure, axes = new_figure(2.9)
    for j, (colour, dash, _) in zip(range(np.shape(weights)[1]), SERIES):
        curve = np.asarray(weights)[:, j]
        axes.semilogx(betas, curve, color=colour, ls=dash)
        label_end(axes, betas[-1], [1.0, 0.07, 0.0, -0.07][j], f"key {j + 1}")
    axes.set(xlabel="what multiplies the scores", ylabel="weight", ylim=(-0.1, 1.05))
    return figure


def score_and_weight_maps(maps: Mapping[str, Sequence], words: Sequence[str]) -> Figure:
    """Small matrices side by side with their numbers in the cells; rows are queries, columns are keys."""
    figure, panels = new_figure(2.5, 1, len(maps))
    for axes, (title, matrix) in zip(panels, maps.items(), strict=True):
        matrix = np.asarray(matrix, dtype=float)
        for i, row in enumerate(matrix):
            for j, number in enumerate(row):
                axes.add_patch(Rectangle((j, i), 1, 1, fc=WEIGHTS, lw=0, alpha=0.55 * number / matrix.max()))
                axes.text(j + 0.5, i + 0.5, f"{number:.2f}", ha="center", va="center")
        axes.set(xlim=(0, len(words)), ylim=(len(words), 0), title=title, aspect="equal", xlabel="key")
        axes.set_xticks(np.arange(len(words)) + 0.5, words)
        axes.set_yticks(np.arange(len(words)) + 0.5, words)
        axes.tick_params(length=0)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
    panels[0].set_ylabel("query")
    return figure


def seed_ranges(results: Mapping[str, Sequence[float]], chance: float, *, label: str) -> Figure:
    """One row a set-up: a bar from the worst to the best seed, a dot for each seed; a line at chance."""
    figure, axes = new_figure(0.36 * len(results) + 0.9)
    for y, shares in enumerate(results.values()):
        axes.plot([min(shares), max(shares)], [y, y], color=WEIGHTS, lw=7, alpha=0.3, solid_capstyle="round")
        axes.plot(shares, [y] * len(shares), "o", color=WEIGHTS, ms=5)
    axes.axvline(chance, color=INK, lw=0.8, ls=(0, (2, 2)), alpha=0.6)
    axes.text(chance + 0.01, -0.75, "chance", alpha=0.8)
    axes.set_yticks(range(len(results)), list(results))
    axes.set(xlim=(0, 1.04), ylim=(len(results) - 0.5, -1.05), xlabel=label)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    return figure


def cache_bars(kib: Mapping[str, float]) -> Figure:
    """Cache per token in KiB, a bar a model, on a logarithmic axis."""
    figure, axes = new_figure(0.4 * len(kib) + 0.8)
    for y, size in enumerate(kib.values()):
        axes.barh(y, size, 0.6, left=0, color=STREAM, alpha=0.75)
        axes.text(size * 1.1, y, f"{size:.0f}" if size >= 100 else f"{size:.1f}", va="center")
    axes.set_xscale("log")
    axes.set(xlim=(20, 12000), ylim=(len(kib) - 0.5, -0.5), xlabel="KiB per token, 16 bits a number")
    axes.set_xticks([100, 1000, 10000], ["100", "1000", "10000"])
    axes.xaxis.minorticks_off()
    axes.set_yticks(range(len(kib)), list(kib))
    axes.tick_params(axis="y", length=0)
    return figure


def cut_in_steps(shares: Mapping[str, float]) -> Figure:
    """What is left of a cache after each step, as shares of the first."""
    figure, axes = new_figure(0.42 * len(shares) + 0.8)
    for y, share in enumerate(shares.values()):
        axes.barh(y, 1, 0.6, color=INK, alpha=0.07)
        axes.barh(y, share, 0.6, color=STREAM, alpha=0.8)
        axes.text(share + 0.015, y, f"{share:.1%}", va="center")
    axes.set_yticks(range(len(shares)), list(shares))
    axes.set(xlim=(0, 1.2), xticks=[0, 0.5, 1], ylim=(len(shares) - 0.5, -0.5),
             xlabel="bytes per token, DeepSeek 67B = 1")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    return figure
