"""Words from locale/<language>/*.yml: interface words the theme leaves in English, and words in figures."""

from pathlib import Path

import yaml
from sphinx import locale

DOMAINS = ("sphinx", "booktheme")


def load(app, name: str) -> dict[str, str] | None:
    """The words of locale/<language>/<name>.yml, from English; None for a language that has no such file.

    A list in the file holds words that stay as they are.
    """
    folders = [Path(app.srcdir, folder, app.config.language) for folder in app.config.locale_dirs]
    files = [folder / f"{name}.yml" for folder in folders if (folder / f"{name}.yml").exists()]
    return {k: v for file in files for k, v in read(file).items()} if files else None


def read(file: Path) -> dict[str, str]:
    """One file of words."""
    words = {}
    for key, value in (yaml.safe_load(file.read_text("utf-8")) or {}).items():
        words |= {str(word): str(word) for word in value} if isinstance(value, list) else {str(key): str(value)}
    return words


def complete_the_interface(app):
    """Put our words into the catalogues of Sphinx and of the theme, before theirs.

    The dictionary of a loaded catalogue is the one place that all of them look in: templates, writers, themes.
    """
    words = load(app, "interface") or {}
    for domain in DOMAINS:
        catalogue = locale.translators.get(("general", domain))
        if words and hasattr(catalogue, "_catalog"):
            catalogue._catalog.update(words)


def translate_options(app, config):
    """Words that are options of the configuration rather than messages."""
    words = load(app, "interface") or {}
    for option in ("nb_code_prompt_show", "nb_code_prompt_hide"):
        value = getattr(config, option, "")
        setattr(config, option, words.get(value, value))


def translate_buttons(app, pagename, templatename, context, doctree):
    """Words of the buttons in the head of the page, which the theme passes on as they are."""
    _translate_buttons(context.get("header_buttons") or [], load(app, "interface") or {})


def _translate_buttons(buttons, words):
    for button in buttons:
        for key in ("text", "tooltip"):
            if button.get(key) in words:
                button[key] = words[button[key]]
        _translate_buttons(button.get("buttons", []), words)


def setup(app):
    app.connect("config-inited", translate_options)
    app.connect("builder-inited", complete_the_interface, priority=900)
    app.connect("html-page-context", translate_buttons, priority=900)
