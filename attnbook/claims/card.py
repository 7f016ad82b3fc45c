"""Claims as cards: verdict, statement, what was measured, what is true, references, in both languages."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from html import escape

from attnbook.claims.bibliography import references
from attnbook.claims.ledger import VERDICTS, Claim, find, measured, sentence
from attnbook.claims.measurement import Measurement

# :where() has no weight, so any rule of a page wins; without one (Jupyter) the card is plain and in English.
_STYLE = """<style>
:where(.attn-claim){border:1px solid var(--attn-line,#b8c0c8);border-left-width:.3rem;padding:.5rem 1rem;margin:1rem 0}
:where(.attn-claim p){margin:.3rem 0}
:where(.attn-claim-verdict){font-weight:600}
:where(.attn-claim-references){font-size:.9em;margin:.3rem 0;padding-left:1.2rem}
:where(.attn-claim .lang-zh){display:none}
html[lang^=zh] .attn-claim .lang-zh{display:revert}
html[lang^=zh] .attn-claim .lang-en{display:none}
</style>"""
LEDGER = "../ledger.ipynb"  # seen from a chapter; the built book has pages in place of notebooks
_WORDS = {
    "en": {"head": "Claim {id}: {verdict}", "statement": "Claim.", "shows": "Measured.",
           "correct": "What is true.", "fails": "This run does not back the verdict.", "gap": " "},
    "zh": {"head": "说法 {id}：{verdict}", "statement": "说法：", "shows": "实测：",
           "correct": "正解：", "fails": "本次运行的结果不支持这一判定。", "gap": ""},
}


def claim(claim_id: str) -> "Card":
    """The card of one claim, for example claim("2.1.1-h"); its checks are measured now or read from the cache.

    Raises ValueError for an unknown id, and suggests near ones.
    """
    return claims(claim_id)


def claims(*claim_ids: str) -> "Card":
    """Several claims in one output, in the order given. Raises ValueError for an unknown id or none at all."""
    if not claim_ids:
        raise ValueError("claim_ids is empty; expected at least one id, for example claims('2.1.1-g', '2.1.1-h')")
    found = [find(claim_id) for claim_id in claim_ids]
    return Card(tuple((one, measured(one)) for one in found))


@dataclass(frozen=True, repr=False)
class Card:
    """Claims with their measurements (or None), shown as HTML in a page and as one short line each in a terminal."""

    entries: tuple[tuple[Claim, Measurement | None], ...]

    def __repr__(self):
        return "\n".join(_line(*entry) for entry in self.entries)

    def _repr_mimebundle_(self, include=None, exclude=None):
        html = "\n".join([_STYLE, *(_article(*entry) for entry in self.entries)])
        return {"text/html": html, "text/plain": repr(self)}


def _fails(measurement):
    return measurement is not None and not measurement.holds


def _line(one, measurement):
    """No measured number here: the line must be the same on every machine."""
    verdict = VERDICTS[one.verdict].en
    return f"[{one.id}] {verdict}" + (" (not backed by this run)" if _fails(measurement) else "")


def _article(one, measurement):
    parts = [verdict_line(one, link=f"{LEDGER}#claim-{one.id}"),
             bilingual("div", one, partial(body, one, measurement, ("statement", "shows", "correct")))]
    if one.references:
        parts.append(reference_list(one.references))
    inside = "\n".join(parts)
    return f'<article class="attn-claim attn-claim--{one.verdict}" id="claim-{one.id}">\n{inside}\n</article>'


# -- pieces of HTML, which the ledger's page is made of, too ----------------------------------

def verdict_line(one: Claim, link: str) -> str:
    """Symbol, id and verdict of a claim as a paragraph that leads to another place where the claim stands."""
    symbol = f'<span aria-hidden="true">{VERDICTS[one.verdict].symbol}</span>'
    head = bilingual("span", one, lambda language: f'<a href="{link}">{name(one, language)}</a>')
    return f'<p class="attn-claim-verdict">{symbol} {head}</p>'


def name(one: Claim, language: str) -> str:
    """Claim 2.1.1-h: holds under a condition"""
    return escape(_WORDS[language]["head"].format(id=one.id, verdict=getattr(VERDICTS[one.verdict], language)))


def body(one: Claim, measurement: Measurement | None, parts: tuple[str, ...], language: str) -> str:
    """Some of the parts statement, shows (what was measured) and correct (what is true), a paragraph each."""
    words = _WORDS[language]
    texts = {"statement": one.statement[language], "shows": sentence(one, measurement, language),
             "correct": one.correct[language]}
    lines = [f'<p class="attn-claim-{part}"><strong>{words[part]}</strong>{words["gap"]}{marked(texts[part])}</p>'
             for part in parts if texts[part]]
    if _fails(measurement):
        lines.append(f'<p class="attn-claim-fails"><strong>{words["fails"]}</strong></p>')
    return "\n" + "\n".join(lines) + "\n"


def bilingual(tag: str, one: Claim, content: Callable[[str], str]) -> str:
    """content("en") and content("zh") in elements of their languages; without a translation, one that is never hidden."""
    languages = [language for language in ("en", "zh") if language in one.statement]
    return "".join(in_language(tag, language, content(language), alone=len(languages) == 1) for language in languages)


def in_language(tag: str, language: str, content: str, alone: bool = False) -> str:
    """An element in one language, hidden from the other edition unless it stands alone."""
    code = {"en": "en", "zh": "zh-CN"}[language]
    hook = "" if alone else f' class="lang-{language}"'
    return f'<{tag}{hook} lang="{code}">{content}</{tag}>'


def marked(text: str) -> str:
    """Plain text as HTML; `backticks` mark code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))


def reference_list(keys: tuple[str, ...]) -> str:
    """References as a list: who, when, title, and a link."""
    items = []
    for key in keys:
        reference = references()[key]
        title = reference.title if reference.title[-1] in ".?!" else f"{reference.title}."
        where = ' <a href="{1}">{0}</a>'.format(*reference.link) if reference.link else ""
        items.append(f"<li>{escape(reference.label)}. {escape(title)}{where}</li>")
    return '<ul class="attn-claim-references" lang="en">\n' + "\n".join(items) + "\n</ul>"
