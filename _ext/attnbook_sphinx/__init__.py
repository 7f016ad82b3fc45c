"""What a two-language Jupyter Book 1.x needs beyond its own extensions.

- `captions`: translated part captions and exercise titles, which gettext does not reach
- `search`: Chinese search without a word list
- `figures` and `svg`: figures as inline SVG that follows the page's theme and language
- `folding`: class `dropdown` as a native <details>
- `notebook_links`: links to notebooks in what a cell shows
- `semantics`: HTML without outdated roles and empty headers
- `solutions`: an edition without solutions
- `editions`: links between the editions
- `words`: interface words that the theme leaves in English
"""

from attnbook_sphinx import captions, editions, figures, folding, notebook_links, search, semantics, solutions, words


def setup(app):
    for module in (words, captions, search, figures, folding, notebook_links, semantics, solutions, editions):
        module.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
