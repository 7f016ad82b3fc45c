"""Labels of figures: which need a translation, their Chinese, and the little mathematics they hold.

A label is what was given to matplotlib: plain text, or text with TeX between dollar signs.
"""

import re
from typing import NamedTuple

NUMBER = re.compile(r"[-\u2212]?\d+(?:[.,]\d+)*")
WORD = re.compile(r"[A-Za-z\u00c0-\u024f]{2,}")
TEX = re.compile(r"\$[^$]*\$")
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[^\s]")
SYMBOLS = {
    r"\partial": "∂", r"\|": "‖", r"\times": "×", r"\cdot": "·", r"\sqrt": "√", r"\rho": "ρ", r"\sigma": "σ",
    r"\alpha": "α", r"\beta": "β", r"\gamma": "γ", r"\lambda": "λ", r"\theta": "θ", r"\mu": "μ", r"\pi": "π",
    r"\leq": "≤", r"\geq": "≥", r"\approx": "≈", r"\to": "→", r"\infty": "∞",
    r"\ ": " ", r"\,": "\u2009", r"\%": "%",
}
UPRIGHT = (r"\mathdefault", r"\mathrm", r"\text")


class Piece(NamedTuple):
    """A run of characters set alike: level 1 is a superscript, -1 a subscript."""

    text: str
    italic: bool = False
    level: int = 0


def needs_words(label: str) -> bool:
    """Whether a label holds a word: two letters or more outside formulas."""
    return bool(WORD.search(TEX.sub(" ", label)))


def translate(label: str, words: dict[str, str]) -> str | None:
    """The label in the other language, None if it holds a word that the catalogue lacks.

    A catalogue entry may write {} for each number: "seed {}" answers for "seed 3".
    """
    if label in words:
        return words[label]
    pattern = NUMBER.sub("{}", label)
    if pattern in words:
        return words[pattern].format(*NUMBER.findall(label))
    return None if needs_words(label) else label


def pieces(label: str) -> list[Piece] | None:
    """Text and simple TeX as runs of characters; None if it holds a command not known here."""
    out = []
    for i, part in enumerate(label.split("$")):
        found = _formula(part) if i % 2 else [Piece(part)]
        if found is None:
            return None
        out += found
    return [piece for piece in out if piece.text]


def _formula(tex: str) -> list[Piece] | None:
    out, levels, upright, level = [], [0], [False], 0
    roman = False
    for token in TOKEN.findall(tex):
        if token in UPRIGHT:
            roman = True
        elif token == "{":
            levels.append(level or levels[-1])
            upright.append(roman or upright[-1])
            level, roman = 0, False
        elif token == "}":
            levels.pop(), upright.pop()
        elif token in "_^":
            level = 1 if token == "^" else -1
        elif len(token) > 1 and token not in SYMBOLS:
            return None
        else:
            text = SYMBOLS.get(token, "−" if token == "-" else token)
            out.append(Piece(text, text.isascii() and text.isalpha() and not upright[-1], level or levels[-1]))
            level = 0
    return out
