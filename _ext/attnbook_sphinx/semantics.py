"""HTML that docutils writes and that screen readers stumble over."""

import re

from docutils import nodes

EMPTY_HEADER = re.compile(r'<th class="head">(?:<p></p>)?</th>')


def _visit_citation(self, node):
    """An entry of the references without the role doc-biblioentry, deprecated and not allowed on a <div>."""
    self.body.append(self.starttag(node, "div", CLASS="citation"))


def _depart_citation(self, node):
    self.body.append("</div>\n")


def mend_tables(app, pagename, templatename, context, doctree):
    """The empty corner of a table is no header of anything."""
    if "body" in context:
        context["body"] = EMPTY_HEADER.sub('<td class="head"></td>', context["body"])


def setup(app):
    app.add_node(nodes.citation, override=True, html=(_visit_citation, _depart_citation))
    app.connect("html-page-context", mend_tables)
