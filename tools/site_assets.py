"""What the site needs besides Sphinx's own output, and what it does not need.

MathJax comes from a pinned package on PyPI, so that no page asks a foreign host. The theme ships
every icon of Font Awesome as one script of 1.5 MB; a page uses a few dozen of them.
"""

import importlib.util
import pathlib
import re
import shutil

from environment import BUILD, SITE

ICON = re.compile(r'("?)([a-z0-9][a-z0-9-]*)\1:\[\d+,\d+,\[([^\]]*)\],"[0-9a-f]*","[^"]*"\],?')
CLASS = re.compile(r"\bfa-([a-z0-9][a-z0-9-]*)")


def copy_mathjax() -> None:
    """Put MathJax's one script, its fonts and its small extensions into _build/vendor/mathjax."""
    package = importlib.util.find_spec("sphinx-mathjax-offline")
    origin = pathlib.Path(package.origin).parent / "static" / "mathjax"
    target = BUILD / "vendor" / "mathjax"
    if (target / "complete").exists():
        return
    shutil.rmtree(target, ignore_errors=True)
    for part in ("output/chtml/fonts/woff-v2", "input/tex/extensions"):
        shutil.copytree(origin / part, target / part)
    (target / "input/tex/extensions/all-packages.js").unlink()
    shutil.copy(origin / "tex-chtml.js", target)
    (target / "complete").touch()


def used_icons(folder: pathlib.Path) -> set[str]:
    """Names of the icons that pages, scripts and styles of the folder mention."""
    names = set()
    for path in folder.rglob("*"):
        if path.suffix in (".html", ".js") and path.name != "fontawesome.js":
            names.update(CLASS.findall(path.read_text(encoding="utf-8", errors="replace")))
    return names


def subset_icons(script: str, names: set[str]) -> str:
    """Font Awesome's script with the named icons (or those with such an alias) only."""
    def keep(match) -> str:
        aliases = re.findall(r'"([a-z0-9-]+)"', match[3])
        return match[0] if names & {match[2], *aliases} else ""
    return ICON.sub(keep, script).replace(",}", "}")


def slim(edition: str) -> None:
    """Replace the icon script of a built edition by its subset and remove source maps."""
    static = SITE / edition / "_static"
    for path in static.rglob("*.map"):
        path.unlink()
    script = static / "scripts" / "fontawesome.js"
    if script.exists():
        whole = script.read_text(encoding="utf-8")
        script.write_text(subset_icons(whole, used_icons(SITE / edition)), encoding="utf-8")


def front_page(pages: dict[str, list[str]]) -> None:
    """The root of the site: on to the reader's language, without a script if there is none."""
    links = {"en": "The Atom of Intelligence: Attention, Taken Apart and Measured", "zh": "智能的原子：拆解并测量注意力"}
    tags = {"en": "en", "zh": "zh-CN"}
    items = "\n".join(f'<li><a lang="{tags[e]}" hreflang="{tags[e]}" href="{e}/index.html">{links[e]}</a></li>'
                      for e in pages)
    choose = "navigator.language.startsWith('zh') ? 'zh' : 'en'" if "zh" in pages else "'en'"
    (SITE / "index.html").write_text(f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The Atom of Intelligence</title>
<link rel="icon" href="en/_static/favicon.svg">
<script>location.replace(({choose}) + "/index.html");</script>
</head>
<body>
<main>
<h1>The Atom of Intelligence</h1>
<ul>
{items}
</ul>
</main>
</body>
</html>
""", encoding="utf-8")
