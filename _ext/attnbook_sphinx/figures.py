"""Figures from code cells: SVG goes into the page itself, and words follow the page's language."""

import re
from pathlib import Path

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from attnbook_sphinx import labels, svg, words

LOGGER = logging.getLogger(__name__)
HAN = re.compile(r"[\u3400-\u9fff]")


class InlineFigures(SphinxPostTransform):
    """Replace SVG images by their text; translate labels and descriptions where there is a catalogue."""

    default_priority = 205  # after the choice of an output's form, before images are copied
    formats = ("html",)

    def run(self, **kwargs):
        self.words = words.load(self.app, "figures")
        for number, image in enumerate(list(self.document.findall(nodes.image)), 1):
            alt = self._alt(image)
            file = Path(self.env.srcdir, image["uri"])
            if file.suffix == ".svg" and file.exists():
                image.replace_self(self._inlined(image, file.read_text("utf-8"), f"fig{number}-", alt))
            elif alt:
                image["alt"] = alt

    def _inlined(self, image, text, prefix, alt):
        if self.words is not None:
            self._warn(svg.missing(text, self.words), image)
        html = svg.inline(text, prefix=prefix, alt=alt, words=self.words, width=image.get("width", ""))
        return nodes.raw("", f'<div class="attn-figure-box">{html}</div>', format="html")

    def _alt(self, image):
        """The image's description; one from a cell's metadata is in English and is looked up."""
        alt = image.get("alt", "")
        if self.words is None or not alt or HAN.search(alt):
            return alt
        said = labels.translate(alt, self.words)
        self._warn([alt] if said is None else [], image)
        return said or alt

    def _warn(self, missing, image):
        for label in dict.fromkeys(missing):
            LOGGER.warning('figures.yml has no translation of "%s"', label, location=image, type="attnbook")


def setup(app):
    app.add_post_transform(InlineFigures)
