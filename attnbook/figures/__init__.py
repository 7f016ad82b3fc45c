"""Figures of the book: code in the chapters teaches, it does not draw.

`style` holds the look (colours, sizes, how a figure leaves a notebook) and one module per chapter holds
its figures. Each figure function takes plain data, returns a matplotlib Figure and changes no state.
"""

from attnbook.figures.style import KEY, QUERY, STREAM, VALUE, WARN, WEIGHTS, new_figure, use_book_style

__all__ = ["KEY", "QUERY", "STREAM", "VALUE", "WARN", "WEIGHTS", "new_figure", "use_book_style"]
