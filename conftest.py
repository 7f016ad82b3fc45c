"""How notebooks are compared with their stored outputs: text strictly, pictures and pages not at all.

Image bytes, SVG ids and HTML differ between library releases, and a new deprecation message on
stderr says nothing about a number. Whatever a cell prints or returns as text must be the same.
"""

NOT_COMPARED = ("stderr", "text/html", "text/latex", "image/svg+xml", "application/javascript")


def pytest_itemcollected(item):
    """Extend what nbval leaves out; it already leaves out image/png and widget views."""
    if type(item).__name__ == "IPyNbCell":
        notebook = item.parent
        notebook.skip_compare = tuple(dict.fromkeys([*notebook.skip_compare, *NOT_COMPARED]))
