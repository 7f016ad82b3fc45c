"""Small SVG pictures drawn in plain Python: what a reader sees before, or without, JavaScript.

Colours are the page's variables with the light palette as fallback, so the same picture serves the book in
light and dark, JupyterLab, GitHub and print.
"""

import html
import math

QUERY = "var(--attn-query, #0072B2)"
KEY = "var(--attn-key, #D55E00)"
VALUE = "var(--attn-value, #009E73)"
WEIGHTS = "var(--attn-weights, #8E4585)"
STREAM = "var(--attn-stream, #5B7083)"
WARN = "var(--attn-warn, #B8860B)"
INK = "var(--attn-ink, currentColor)"
PAPER = "var(--attn-paper, #FFFFFF)"
LINE = "var(--attn-line, #C9CED6)"
MUTED = "var(--attn-muted, #57606A)"


def fmt(x: float, digits: int = 3) -> str:
    """Significant digits with a true minus sign, as `fmt` of shared.js: 0.620, 12.3, 1230, 1.20×10⁻⁵."""
    if not math.isfinite(x):
        return "–" if math.isnan(x) else "∞" if x > 0 else "−∞"
    y = float(f"{x:.{digits - 1}e}")
    if y == 0:
        return "0"
    head, power = f"{y:.{digits - 1}e}".split("e")
    if 1e-3 <= abs(y) < 1e6:
        return f"{y:.{max(0, digits - 1 - int(power))}f}".replace("-", "−")
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{head}×10{raised}".replace("-", "−")


def fix(x: float, decimals: int = 2) -> str:
    """A fixed number of decimals, never "−0.00"."""
    text = f"{x:.{decimals}f}"
    return text.replace("-", "" if float(text) == 0 else "−")


def tag(name: str, *children: str, **attributes) -> str:
    """One element: tag("rect", x=1, stroke_width=2). Numbers are rounded to 2 decimals, None is left out.

    A trailing underscore is dropped (class_), other underscores become hyphens. Children are markup, not text.
    """
    parts = "".join(f' {_name(k)}="{_value(v)}"' for k, v in attributes.items() if v is not None)
    return f"<{name}{parts}>{''.join(children)}</{name}>" if children else f"<{name}{parts}/>"


def _name(key):
    return key if key == "viewBox" else key.rstrip("_").replace("_", "-")


def _value(value):
    return f"{round(value, 2):g}" if isinstance(value, float) else html.escape(str(value))


def text(x: float, y: float, en: str, zh: str | None = None, **attributes) -> str:
    """Words or a symbol at a place; with zh, both languages, of which the page shows its own."""
    attributes = {"x": x, "y": y, "font_size": 13, "fill": INK, **attributes}
    if zh is None:
        return tag("text", html.escape(en), **attributes)
    return (tag("text", html.escape(en), class_="lang-en", **attributes)
            + tag("text", html.escape(zh), class_="lang-zh", lang="zh-CN", display="none", **attributes))


def mark(role: str, x: float, y: float, r: float = 7) -> str:
    """The shape of a role at a place: query circle, key square, value triangle."""
    if role == "query":
        return tag("circle", cx=x, cy=y, r=r, fill=QUERY)
    if role == "key":
        return tag("rect", x=x - r, y=y - r, width=2 * r, height=2 * r, fill=KEY)
    d = f"M{x:.4g} {y - 1.2 * r:.4g}L{x + 1.15 * r:.4g} {y + .8 * r:.4g}H{x - 1.15 * r:.4g}Z"
    return tag("path", d=d, fill=VALUE)


def arrow(x1: float, y1: float, x2: float, y2: float, colour: str, head: float = 7) -> str:
    """An arrow with a filled head; nothing when it would have no length."""
    length = math.hypot(x2 - x1, y2 - y1)
    if length < 1:
        return ""
    ux, uy = (x2 - x1) / length * head, (y2 - y1) / length * head
    bx, by = x2 - ux, y2 - uy
    corners = ((x2, y2), (bx - uy / 2, by + ux / 2), (bx + uy / 2, by - ux / 2))
    points = " ".join(f"{x:.2f},{y:.2f}" for x, y in corners)
    return (tag("line", x1=float(x1), y1=float(y1), x2=bx, y2=by, stroke=colour, stroke_width=2)
            + tag("polygon", points=points, fill=colour))


def picture(width: int, height: int, *children: str, labelled_by: str | None = None) -> str:
    """The whole SVG; labelled_by is the id of the element that says what it shows (None: part of `beside`)."""
    named = {"role": "img", "aria_labelledby": labelled_by} if labelled_by else {"aria_hidden": "true"}
    return tag("svg", *children, xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}", **named,
               style=f"flex:1 1 17rem;width:100%;max-width:{width * 1.4:.0f}px;height:auto", font_family="inherit")


def beside(labelled_by: str, *pictures: str) -> str:
    """Several pictures as one image, side by side where there is room."""
    return tag("div", *pictures, role="img", aria_labelledby=labelled_by, style="display:flex;flex-wrap:wrap;gap:1rem")
