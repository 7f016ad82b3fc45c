"""The icons that pages use, out of the thousands that the theme ships.

Font Awesome comes as one script of 1.5 MB and as fonts of 300 kB, which show the icons until the
script has run, and without JavaScript. A page uses a few dozen of them.
"""

import pathlib
import re

from fontTools import subset as font_tools
from fontTools.ttLib import TTFont

ICON = re.compile(r'("?)([a-z0-9][a-z0-9-]*)\1:\[\d+,\d+,\[([^\]]*)\],"[0-9a-f]*","[^"]*"\],?')
CLASS = re.compile(r"\bfa-([a-z0-9][a-z0-9-]*)")
LETTER = re.compile(r"((?:\.fa-[a-z0-9-]+::?before,?)+)\{content:\"\\([0-9a-f]+)\"\}")
SOURCE = re.compile(r'src:url\(([^()]*/fa-[a-z]+-\d+)\.woff2\) format\("woff2"\),url\(\1\.ttf\) format\("truetype"\)')


def subset(edition: pathlib.Path) -> None:
    """Reduce script and fonts of a built edition to the icons of its pages; a second time nothing is left to do."""
    static, names = edition / "_static", _used(edition)
    script = static / "scripts" / "fontawesome.js"
    if script.exists():
        script.write_text(_of_script(script.read_text(encoding="utf-8"), names), encoding="utf-8")
    style = static / "styles" / "pydata-sphinx-theme.css"
    if style.exists():
        text = style.read_text(encoding="utf-8")
        _subset_fonts(static / "vendor" / "fontawesome" / "webfonts", _letters(text, names))
        style.write_text(SOURCE.sub(r'src:url(\1.woff) format("woff")', text), encoding="utf-8")


def _used(folder):
    """Names of the icons that pages and scripts of the folder mention."""
    names = set()
    for path in folder.rglob("*"):
        if path.suffix in (".html", ".js") and path.name != "fontawesome.js":
            names.update(CLASS.findall(path.read_text(encoding="utf-8", errors="replace")))
    return names


def _of_script(script, names):
    """Font Awesome's script with the named icons (or those with such an alias) only."""
    def keep(match) -> str:
        aliases = re.findall(r'"([a-z0-9-]+)"', match[3])
        return match[0] if names & {match[2], *aliases} else ""
    return ICON.sub(keep, script).replace(",}", "}")


def _letters(style, names):
    """Code points of the named icons, as the theme's style sheet gives them."""
    return {int(code, 16) for classes, code in LETTER.findall(style) if names & set(CLASS.findall(classes))}


def _subset_fonts(folder, letters):
    """A .woff of the letters in place of each .ttf and .woff2."""
    for path in folder.glob("*.ttf"):
        with TTFont(path) as font:
            chosen = font_tools.Subsetter()
            chosen.populate(unicodes=letters)
            chosen.subset(font)
            font.flavor = "woff"
            font.save(path.with_suffix(".woff"))
        path.unlink()
        path.with_suffix(".woff2").unlink(missing_ok=True)
