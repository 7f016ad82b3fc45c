"""Links between the editions: from each page to its counterpart, and to places the other edition alone has.

html_context: `attn_languages` lists the editions, `attn_pages` the pages of each (all, if it says nothing), and
`attn_elsewhere` the places (label -> page, title) that this edition must look for in the English one.
"""

from docutils import nodes

SPHINX_PAGES = ("genindex", "search")
WHOLE = "en"  # the edition that has every page


def add_links(app, pagename, templatename, context, doctree):
    """Leave in the template's `attn_languages` the editions that have this page; none if it has no counterpart."""
    pages = context.get("attn_pages") or {}
    here = [edition for edition in context.get("attn_languages") or []
            if pagename in SPHINX_PAGES or edition["dir"] not in pages or pagename in pages[edition["dir"]]]
    context["attn_languages"] = here if len(here) > 1 else []


def link_elsewhere(app, env, node, contnode):
    """Resolve a reference to a page that this edition does not have yet: it leads to the English page."""
    place = (app.config.html_context.get("attn_elsewhere") or {}).get(node["reftarget"].lstrip("/"))
    if place is None:
        return None
    page, title = place
    up = "../" * (node.get("refdoc", "").count("/") + 1)
    anchor = "" if node["reftarget"] == page else f"#{nodes.make_id(node['reftarget'])}"
    link = nodes.reference("", "", internal=False, refuri=f"{up}{WHOLE}/{page}.html{anchor}", hreflang=WHOLE)
    link += contnode if node.get("refexplicit") else nodes.inline("", title)
    return link


def setup(app):
    app.connect("html-page-context", add_links)
    app.connect("missing-reference", link_elsewhere)
