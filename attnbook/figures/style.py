"""The look of every figure: one palette, one type size, thin axes, and two picture formats.

Figures are made without pyplot: nothing is global, nothing is shown twice, and no window system is needed.
"""

from io import BytesIO, StringIO

import matplotlib
from matplotlib.figure import Figure

# One colour per role, the same in formulas, figures and widgets. The built page replaces each of them, and
# black and white, by a CSS variable, so that figures follow the light or dark theme.
QUERY = "#0072B2"
KEY = "#D55E00"
VALUE = "#009E73"
WEIGHTS = "#8E4585"
STREAM = "#5B7083"
WARN = "#B8860B"
INK = "black"
PAPER = "white"

# Never colour alone: the n-th series also has the n-th dash and the n-th marker.
SERIES = ((STREAM, "-", "o"), (WEIGHTS, (0, (5, 2)), "s"), (WARN, (0, (1.5, 1.5)), "^"),
          (QUERY, (0, (7, 2, 1.5, 2)), "D"), (VALUE, (0, (3, 3)), "v"))

WIDTH = 5.4  # inches; narrow enough that 10 pt text stays readable on a phone
SIZES = {"font.size": 10, "axes.titlesize": 10, "axes.labelsize": 10, "legend.fontsize": 9,
         "xtick.labelsize": 9, "ytick.labelsize": 9}
STYLE = SIZES | {
    "svg.fonttype": "none",  # text stays text: it can be translated, searched and read aloud
    "svg.hashsalt": "attnbook",  # the same figure gives the same file
    "font.family": "sans-serif",
    "axes.spines.top": False, "axes.spines.right": False,
    "axes.linewidth": 0.7, "xtick.major.width": 0.7, "ytick.major.width": 0.7,
    "lines.linewidth": 1.8, "lines.markersize": 5, "hatch.linewidth": 0.5,
    "axes.facecolor": "none", "legend.frameon": False, "axes.titlelocation": "left",
}


def use_book_style() -> None:
    """Set the book's defaults and, in a notebook, let figures leave it as SVG with real text and as PNG."""
    matplotlib.rcParams.update(STYLE)
    try:
        from IPython import get_ipython
    except ImportError:
        return
    shell = get_ipython()
    if shell is not None:
        formatters = shell.display_formatter.formatters
        formatters["image/svg+xml"].for_type(Figure, to_svg)
        formatters["image/png"].for_type(Figure, to_png)


def to_svg(figure: Figure) -> str:
    """The figure as an SVG document with a transparent background, without date, comments or doctype."""
    text = StringIO()
    figure.savefig(text, format="svg", facecolor="none", metadata={"Date": None, "Creator": None})
    svg = text.getvalue()
    return svg[svg.index("<svg"):]


def to_png(figure: Figure) -> bytes:
    """The figure as a PNG picture on white, for viewers that show no SVG."""
    data = BytesIO()
    figure.savefig(data, format="png", facecolor=PAPER, dpi=110, metadata={"Software": None})
    return data.getvalue()


def new_figure(height: float, rows: int = 1, columns: int = 1, *, width: float = WIDTH, **grid):
    """(figure, axes) in the book's width; height in inches; axes as of Figure.subplots."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, **grid)


def bare(axes) -> None:
    """Take frame and ticks away, for drawings that have no scale."""
    axes.set_axis_off()
    axes.set_aspect("equal")


def label_end(axes, x, y, text) -> None:
    """Write a series' name beside its last point."""
    axes.annotate(text, (x, y), xytext=(6, 0), textcoords="offset points", va="center", annotation_clip=False)
