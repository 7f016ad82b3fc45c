"""Build one edition, or its message catalogues, in a process of its own: python tools/one_edition.py EDITION [BUILDER].

The configuration must have been written by editions.write().
"""

import pathlib
import sys

import editions
import environment
from environment import BUILD, ROOT, SITE


def settings(toc: pathlib.Path) -> dict:
    """What the command line of Jupyter Book passes for -n, --toc and its defaults."""
    return {"nitpicky": True, "external_toc_path": toc.as_posix(), "latex_individualpages": False}


def build(edition: str, builder: str = "html") -> int:
    """Run Sphinx as `jupyter-book build -W -n --keep-going` does; returns the exit code."""
    from jupyter_book.sphinx import build_sphinx

    from sphinx.util.console import nocolor

    nocolor()
    config, toc = editions.paths(edition)
    # gettext must not share the pages parsed for html
    target = SITE / edition if builder == "html" else BUILD / builder
    result = build_sphinx(
        str(ROOT), str(target), path_config=str(config), noconfig=True, confoverrides=settings(toc),
        doctreedir=str(BUILD / "doctrees" / f"{builder}-{edition}"), builder=builder,
        force_all=builder == "gettext", warningiserror=builder == "html", keep_going=True)
    return 1 if isinstance(result, BaseException) else int(result or 0)


if __name__ == "__main__":
    environment.prepare()
    sys.exit(build(*sys.argv[1:]))
