"""What the site needs besides Sphinx's own output, and what it does not need.

MathJax comes from a pinned package on PyPI, so that no page asks a foreign host.
"""

import importlib.util
import pathlib
import shutil

import icons
from environment import BUILD, SITE

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


def slim(edition: str) -> None:
    """Remove from a built edition the source maps and the icons that no page uses."""
    for path in (SITE / edition / "_static").rglob("*.map"):
        path.unlink()
    icons.subset(SITE / edition)


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
