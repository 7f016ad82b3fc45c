"""Parts of a page that are folded: native <details>, closed on load, no script needed.

They come from class `dropdown` on admonitions and solutions, and from the tags hide-input, hide-output, hide-cell.
"""

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.locale import admonitionlabels
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_exercise.nodes import solution_node


class details(nodes.General, nodes.Element):
    """A part of the page that the reader unfolds; its first child is a `summary`."""


class summary(nodes.General, nodes.TextElement):
    """The line of a folded part that is always seen."""


class UniqueContentIds(SphinxTransform):
    """sphinx-exercise gives the body of every exercise and solution one and the same id."""

    default_priority = 950

    def apply(self, **kwargs):
        for section in self.document.findall(nodes.section):
            if section["ids"] in (["exercise-content"], ["solution-content"]):
                owner = section.parent["ids"]
                section["ids"] = [f"{owner[0]}-content"] if owner else []


class Fold(SphinxPostTransform):
    """Boxes that fold become <details>, with a title that keyboards and screen readers know as a switch."""

    default_priority = 210  # after sphinx-exercise has resolved the titles, and after MyST-NB has folded cells
    formats = ("html",)

    def run(self, **kwargs):
        for node in list(self.document.findall(_is_dropdown)):
            title, body = _title_and_body(node)
            node.replace_self(_folded(node, _kind(node), title, body))
        for node in list(self.document.findall(nodes.container)):
            for child in node.children:
                child.parent = node  # MyST-NB sets the children of a hidden cell without their parent
        for node in list(self.document.findall(HideCodeCellNode)):
            node.replace_self(_folded(node, ["hide"], [nodes.Text(node["prompt_show"])], node.children))


def _folded(node, kind, title, body):
    attributes = {key: node[key] for key in ("ids", "names", "classes")}
    fold = details("", **attributes)
    fold["classes"] = ["admonition", *kind, *node["classes"]]
    fold += summary("", "", *_without_links(title), classes=["admonition-title"])
    fold += body
    return fold


def _without_links(title):
    """A summary is a control; a link inside it would be a control within a control."""
    for node in title:
        yield from node.children if isinstance(node, nodes.reference) else [node]


def _is_dropdown(node) -> bool:
    foldable = isinstance(node, (nodes.Admonition, solution_node))
    return foldable and "dropdown" in node.get("classes", ())


def _kind(node) -> list[str]:
    """The class that HTML gives a specific admonition by its name: note, tip, warning."""
    return [node.tagname] if node.tagname in admonitionlabels else []


def _title_and_body(node):
    if node.children and isinstance(node[0], nodes.title):
        return node[0].children, node.children[1:]
    return [nodes.Text(admonitionlabels.get(node.tagname, node.tagname))], node.children


def _visit_details(self, node):
    self.body.append(self.starttag(node, "details"))


def _depart_details(self, node):
    self.body.append("</details>\n")


def _visit_summary(self, node):
    self.body.append(self.starttag(node, "summary", ""))


def _depart_summary(self, node):
    self.body.append("</summary>\n")


def setup(app):
    app.add_node(details, html=(_visit_details, _depart_details))
    app.add_node(summary, html=(_visit_summary, _depart_summary))
    app.add_transform(UniqueContentIds)
    app.add_post_transform(Fold)
