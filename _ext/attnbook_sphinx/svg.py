"""matplotlib's SVG made part of a page: the page's colours, font and language, and ids that do not collide."""

import re
import xml.etree.ElementTree as ET

from attnbook_sphinx import labels

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
TEXT, TSPAN = f"{{{SVG}}}text", f"{{{SVG}}}tspan"
PALETTE = {
    "#0072b2": "query", "#d55e00": "key", "#009e73": "value",
    "#8e4585": "weights", "#5b7083": "stream", "#b8860b": "warn",
}
GREYS = ((0x50, "ink"), (0xA0, "muted"), (0xF5, "line"), (0x100, "paper"))  # darkest channel below -> variable
FIXED = "attn-fixed"  # artists whose gid starts so keep their colours: text on a coloured cell
HEX = re.compile(r"#[0-9a-fA-F]{6}\b")
URL = re.compile(r"url\(#")
RAISE = {1: -0.38, 0: 0.0, -1: 0.2}  # of the font size, downwards
SMALL = 0.7  # size of an index against its base
WIDTH = 0.6  # of a usual glyph, against the font size

ET.register_namespace("", SVG)
ET.register_namespace("xlink", XLINK)


def read(text: str) -> ET.Element:
    """The tree of an SVG file, with its comments: matplotlib writes the source of each formula as a comment."""
    return ET.fromstring(text, ET.XMLParser(target=ET.TreeBuilder(insert_comments=True)))


def inline(text: str, *, prefix: str, alt: str, words: dict[str, str] | None = None, width: str = "") -> str:
    """HTML of one figure. prefix starts all its ids; words translate its labels, None leaves them."""
    root = read(text)
    _drop_preamble(root)
    _set_root(root, alt, width)
    _set_labels(root, words)
    _recolour(root)
    _prefix_ids(root, prefix)
    _squeeze_tree(root)
    return ET.tostring(root, encoding="unicode")


def missing(text: str, words: dict[str, str]) -> list[str]:
    """Labels of a figure that hold a word and have no translation."""
    return [label for label in _labels(read(text)) if labels.translate(label, words) is None]


def _labels(root):
    return [label for _, label in _texts(root)]


def _texts(root):
    """Pairs of a <text> and its label: its own text, or the source of the formula from the comment before it."""
    pairs = []
    for parent in root.iter():
        comment = None
        for child in parent:
            if child.tag is ET.Comment:
                comment = _squeeze(child.text)
            elif child.tag == TEXT and _squeeze(child.text):
                pairs.append((child, _squeeze(child.text)))
            elif comment is not None and child.tag == f"{{{SVG}}}g":
                pairs += [(text, comment) for text in child.findall(TEXT)]
                comment = None
    return pairs


def _squeeze(text):
    return " ".join((text or "").split())


def _squeeze_tree(node):
    """Drop comments and the space between elements."""
    for child in list(node):
        if child.tag is ET.Comment:
            node.remove(child)
        else:
            _squeeze_tree(child)
            child.tail = None
    if node.tag not in (TEXT, TSPAN):
        node.text = None


def _drop_preamble(root):
    for child in list(root):
        if child.tag == f"{{{SVG}}}metadata" or child.find(f"{{{SVG}}}style") is not None:
            root.remove(child)


def _set_root(root, alt, width):
    """Scale with the column up to the drawn size (points to CSS pixels), or take the width asked for."""
    drawn = float(root.attrib.pop("width").removesuffix("pt")) * 4 / 3
    root.attrib.pop("height"), root.attrib.pop("version", None)
    root.set("class", "attn-figure")
    root.set("style", f"width: {width or '100%'}; max-width: {drawn:.0f}px")
    root.set("role", "img")
    if alt:
        root.set("aria-label", alt)


def _set_labels(root, words):
    legends = {text for node in root.iter() if node.get("id", "").startswith("legend") for text in node.iter()}
    for text, label in _texts(root):
        said = (labels.translate(label, words) if words is not None else label) or label
        if text.find(TSPAN) is None:
            text.text = said
        else:
            _set_formula(text, said, translated=said != label, start=text in legends)
        for node in text.iter():
            if "style" in node.attrib:
                node.set("style", re.sub(r"font-family:[^;]*;?\s*", "", node.get("style")))


def _set_formula(text, label, translated, start):
    """Set simple mathematics anew in the page's font, where matplotlib put its start or else its centre."""
    runs = labels.pieces(label)
    if runs is None and not translated:
        return
    size, centre, base = _extent(text)
    for span in list(text):
        text.remove(span)
    text.text = None
    text.set("x", "0" if start else f"{centre:.2f}")
    text.set("y", f"{base:.2f}")
    text.set("style", f"font-size: {size:g}px; text-anchor: {'start' if start else 'middle'}")
    level = 0
    for run in runs or [labels.Piece(label)]:
        text.append(_span(run, size, (RAISE[run.level] - RAISE[level]) * size))
        level = run.level


def _extent(text):
    """Font size, horizontal centre and base line of a formula that matplotlib laid out glyph by glyph."""
    spans = [(span, _size(span) or _size(text)) for span in text]
    size = max(size for _, size in spans)
    end = max(float(span.get("x").split()[-1]) + WIDTH * size for span, size in spans)
    base = next(float(span.get("y").split()[0]) for span, s in spans if s == size)
    return size, end / 2, base


def _size(node):
    found = re.search(r"font-size: ([\d.]+)px", node.get("style", ""))
    return float(found[1]) if found else None


def _span(run, size, shift):
    span = ET.Element(TSPAN)
    span.text = run.text
    style = ["font-style: italic"] * run.italic + [f"font-size: {SMALL * size:g}px"] * (run.level != 0)
    if style:
        span.set("style", "; ".join(style))
    if shift:
        span.set("dy", f"{shift:.2f}")
    return span


def _recolour(node):
    """Replace the palette, black, white and greys by the page's variables; words take the tone for words."""
    if node.get("id", "").startswith(FIXED):
        return
    words = node.tag in (TEXT, TSPAN) or node.find(TEXT) is not None
    if "style" in node.attrib:
        node.set("style", HEX.sub(lambda found: _variable(found[0].lower(), words), node.get("style")))
    for child in node:
        _recolour(child)


def _variable(colour, words):
    if colour in PALETTE:
        return f"var(--attn-{PALETTE[colour]}{'-ink' if words else ''})"
    channels = [int(colour[i:i + 2], 16) for i in (1, 3, 5)]
    if max(channels) - min(channels) > 8:
        return colour
    return next(f"var(--attn-{name})" for limit, name in GREYS if max(channels) < limit)


def _prefix_ids(root, prefix):
    """matplotlib numbers ids from 1 in each figure, and equal markers get equal ids."""
    for node in root.iter():
        for key, value in node.attrib.items():
            if key == "id":
                node.set(key, prefix + value)
            elif key == f"{{{XLINK}}}href" and value.startswith("#"):
                node.set(key, "#" + prefix + value[1:])
            elif "url(#" in value:
                node.set(key, URL.sub(f"url(#{prefix}", value))
