"""Translate part captions, exercise titles and tables in boxes, which Sphinx's own Locale transform does not reach."""

from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.locale import init as init_locale
from sphinx.transforms import SphinxTransform
from sphinx.util.i18n import docname_to_domain
from sphinx_exercise.directive import ExerciseDirective


class TranslateCaptions(SphinxTransform):
    """Part captions of the table of contents.

    sphinx-external-toc inserts its toctrees (priority 100) after the Locale transform has run.
    """

    default_priority = 110

    def apply(self, **kwargs):
        if self.app.builder.name == "gettext":
            return
        catalogue = _catalogue(self.env)
        for toctree in self.document.findall(addnodes.toctree):
            for message in toctree.extract_original_messages():
                toctree.apply_translated_message(message, catalogue.gettext(message))


class LocateCells(SphinxTransform):
    """Cells of tables inside a directive: MyST gives them no source, and gettext skips what has none."""

    default_priority = 5  # before Sphinx keeps the messages (10) and translates them (20)

    def apply(self, **kwargs):
        for table in self.document.findall(nodes.table):
            for cell in table.findall(nodes.paragraph):
                if not cell.source:
                    cell.source, cell.line = self.document["source"], table.line


def _catalogue(env):
    """The messages of the page being read; gives every message back unchanged if it has none."""
    folders = [str(Path(env.srcdir, folder)) for folder in env.config.locale_dirs]
    domain = docname_to_domain(env.docname, env.config.gettext_compact)
    return init_locale(folders, env.config.language, domain)[0]


def _with_title(run):
    """Extend a directive's run: its title becomes a message for gettext, and is translated early.

    sphinx-exercise builds the title without a source line, so that gettext skips it, and keeps a copy
    of the node for the titles of solutions before any translation.
    """
    def run_with_title(self):
        if not self.arguments:
            return run(self)
        title = self.arguments[0]
        if self.env.app.builder.name == "gettext":
            message = nodes.paragraph(title, title)
            message.source, message.line = self.env.doc2path(self.env.docname), self.lineno
            return [*run(self), message]
        self.arguments = [_catalogue(self.env).gettext(title)]
        return run(self)

    return run_with_title


def setup(app):
    app.add_transform(TranslateCaptions)
    app.add_transform(LocateCells)
    if not hasattr(ExerciseDirective, "attn_run"):
        ExerciseDirective.attn_run = ExerciseDirective.run
        ExerciseDirective.run = _with_title(ExerciseDirective.run)
