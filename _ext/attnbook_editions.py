"""Links of the Chinese edition to pages that exist in English only lead to the English page.

The build script passes `attn_elsewhere` in html_context: label or page name -> [page, title].
"""

import posixpath
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform


class LinkToOtherEdition(SphinxPostTransform):
    """Turn such links into plain ones before Sphinx and MyST would report them as broken."""
    default_priority = 4  # MystReferenceResolver is 9, ReferencesResolver 10

    def run(self, **kwargs) -> None:
        places = self.config.html_context.get("attn_elsewhere", {})
        if not places:
            return
        for node in list(self.document.findall(addnodes.pending_xref)):
            target = self.target(node)
            if target in places:
                node.replace_self(self.link(node, target, places))
        for node in list(self.document.findall(addnodes.download_reference)):
            target = self.page(re.sub(r"\.(ipynb|md)$", "", node["reftarget"].lstrip("/")))
            if target in places:
                node.replace_self(self.link(node, target, places))

    def page(self, name: str) -> str:
        """A page name relative to the present page as one relative to the root."""
        if name.startswith("/"):
            return name[1:]
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.env.docname), name))

    def target(self, node) -> str:
        """Label or page that the node points to."""
        name = node["reftarget"]
        if node.get("refdomain") == "doc" or node["reftype"] == "doc":
            return node.get("reftargetid") or (name if node["reftype"] == "myst" else self.page(name))
        return name.lstrip("#")

    def link(self, node, target: str, places: dict):
        """A reference with the text the author gave, or else the title of the place."""
        page, title = places[target]
        anchor = "" if page == target else "#" + nodes.make_id(target)
        up = "../" * (self.env.docname.count("/") + 1)
        reference = nodes.reference("", "", internal=False, refuri=f"{up}en/{page}.html{anchor}", hreflang="en")
        if node.get("refexplicit") or isinstance(node, addnodes.download_reference):
            reference += [child.deepcopy() for child in node.children]
        else:
            reference += nodes.inline(title, title, classes=["std", "std-ref"])
        return reference


def setup(app):
    app.add_post_transform(LinkToOtherEdition)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
