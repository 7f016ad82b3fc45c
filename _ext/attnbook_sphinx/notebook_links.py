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
                node.replace_self(nodes.raw("", LINK.sub(self._link, node.astext()), **_attributes(node)))

    def _link(self, found):
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self.env.docname), found["path"]))
        address = self._source(path) if path.endswith(".py") else self._page(path.removesuffix(".ipynb"))
        if address is None:
            return found["text"]
        return f'<a{found["before"]} {found["name"]}="{address}{found["place"] or ""}"{found["after"]}>{found["text"]}</a>'

    def _page(self, page):
        here, builder = self.env.docname, self.app.builder
        if page in self.env.found_docs:
            return builder.get_relative_uri(here, page)
        if page in self.config.html_context.get("attn_elsewhere", {}):
            return f"{'../' * (here.count('/') + 1)}en/{page}.html"
        return None

    def _source(self, path):
        options = self.config.html_theme_options
        repository = options.get("repository_url")
        if not repository or not Path(self.env.srcdir, path).exists():
            return None
        return f"{repository}/blob/{options.get('repository_branch', 'main')}/{path}"


def _attributes(node):
    return {name: node[name] for name in ("format", "classes") if name in node}


def setup(app):
    app.add_post_transform(NotebookLinks)
