"""Chinese search without a word list: text is indexed by overlapping pairs of characters.

Sphinx's own splitter needs jieba, and the browser cannot cut a query the way jieba does, so phrases are not
found. Pairs are cut alike in Python and in the browser: every phrase of two or more characters is found.
"""

import re

from sphinx.search.zh import SearchChinese

HAN = "\u3400-\u9fff"
RUN = re.compile(f"[{HAN}]+|[A-Za-z0-9_]+")

SPLITTER = r"""
splitQuery = function (query) {
  const isHan = run => /[\u3400-\u9fff]/.test(run);
  const pairs = run => Array.from({ length: run.length - 1 }, (_, i) => run.slice(i, i + 2));
  const runs = query.match(/[\u3400-\u9fff]+|[A-Za-z0-9_]+/g) || [];
  return runs.flatMap(run => (isHan(run) && run.length > 1 ? pairs(run) : [run]));
};
"""


class SearchChinesePairs(SearchChinese):
    """Search in Chinese by pairs of characters, split the same way at build and in the page."""

    js_splitter_code = SPLITTER

    def split(self, input):
        """Words of a text: Latin runs whole, Chinese runs as overlapping pairs of characters."""
        words = []
        for run in RUN.findall(input):
            latin = run.isascii()
            if latin:
                self.latin_terms.append(run)
            words += [run] if latin or len(run) == 1 else [run[i:i + 2] for i in range(len(run) - 1)]
        return words


def setup(app):
    app.add_search_language(SearchChinesePairs)
