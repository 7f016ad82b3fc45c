"""Links to notebooks in what a cell shows: in the built book they lead to the page, and files of the package to their source.

A card says `../ledger.ipynb#claim-2.1.1-h`, which JupyterLab can open. A page that the edition does not have
is looked for in the other one; where no edition has it, only the words stay.
"""

import posixpath
import re
from pathlib import Path

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

LINK = re.compile(r'<a\b(?P<before>[^>]*?) ?(?P<name>(?:xlink:)?href)="(?!\w+:|//|#)(?P<path>[^"#]+\.(?:ipynb|py))'
                  r'(?P<place>#[^"]*)?"(?P<after>[^>]*)>(?P<text>.*?)</a>', re.S)


class NotebookLinks(SphinxPostTransform):
    """Rewrite such links in the raw HTML of the page."""

    default_priority = 210  # after figures have become part of the page
    formats = ("html",)

    def run(self, **kwargs):
        for node in list(self.document.findall(nodes.raw)):
            if "html" in node.get("format", "") and re.search(r"\.(?:ipynb|py)\b", node.astext()):
                html = rewrite(node.astext(), self.app, self.env.docname)
                node.replace_self(nodes.raw("", html, **_attributes(node)))


def rewrite(html: str, app, here: str) -> str:
    """The HTML of page `here` with its links to notebooks and to files of the package rewritten."""
    def link(found):
        path = posixpath.normpath(posixpath.join(posixpath.dirname(here), found["path"]))
        address = _source(app, path) if path.endswith(".py") else _page(app, here, path.removesuffix(".ipynb"))
        if address is None:
            return found["text"]
        address += found["place"] or ""
        return f'<a{found["before"]} {found["name"]}="{address}"{found["after"]}>{found["text"]}</a>'

    return LINK.sub(link, html)


def _page(app, here, page):
    if page in app.env.found_docs:
        return app.builder.get_relative_uri(here, page)
    if page in app.config.html_context.get("attn_elsewhere", {}):
        return f"{'../' * (here.count('/') + 1)}en/{page}.html"
    return None


def _source(app, path):
    options = app.config.html_theme_options
    repository = options.get("repository_url")
    if not repository or not Path(app.srcdir, path).exists():
        return None
    return f"{repository}/blob/{options.get('repository_branch', 'main')}/{path}"


def _attributes(node):
    return {name: node[name] for name in ("format", "classes") if name in node}


def setup(app):
    app.add_post_transform(NotebookLinks)
