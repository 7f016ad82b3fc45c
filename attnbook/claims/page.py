"""The ledger as one list: every claim folded to its statement, with what was measured, what is true and where it stands.

The list is complete without a script. With one (static/ledger.js, part of the output) it can be filtered in the page.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cache, partial
from html import escape
from pathlib import Path

from attnbook.claims.card import bilingual, body, in_language, marked, name, reference_list
from attnbook.claims.ledger import VERDICTS, Claim, measured, select
from attnbook.claims.measurement import Measurement
from attnbook.claims.places import places
from attnbook.claims.sections import SECTIONS

_STATIC = Path(__file__).parent / "static"
_WORDS = {
    "en": {"place": "See it in its place: {pages}.", "chapter": "chapter {number}", "and": ", ", "check": "Measured by {checks}.",
           "again": "To measure it anew: {command}"},
    "zh": {"place": "在原处查看：{pages}。", "chapter": "第 {number} 章", "and": "、", "check": "由 {checks} 测量。", "again": "重新测量：{command}"},
}


def claim_list(*wanted: str, verdict: str | None = None, text: str = "") -> "ClaimList":
    """The claims of some ids or sections (all if none is named), of one verdict, with a text in their English words.

    claim_list("2.3", verdict="wrong") and claim_list(text="gradient") are lists to read; checks are measured now or read from
    the cache. Raises ValueError for an unknown id, section or verdict.
    """
    if verdict is not None and verdict not in VERDICTS:
        raise ValueError(f"verdict is {verdict!r}; expected one of {', '.join(VERDICTS)}")
    chosen = [one for one in select(*wanted) if verdict in (None, one.verdict) and text.lower() in _said(one)]
    return ClaimList(tuple((one, measured(one)) for one in chosen))


def _said(one):
    return f"{one.id} {one.statement['en']} {one.correct['en']}".lower()


@dataclass(frozen=True, repr=False)
class ClaimList:
    """Claims with their measurements (or None), shown as a list of folds in a page and as counts in a terminal."""

    entries: tuple[tuple[Claim, Measurement | None], ...]

    def __repr__(self):
        found = Counter(one.verdict for one, _ in self.entries)
        return "\n".join([f"{len(self.entries)} claims",
                          *(f"{found[key]:4} {verdict.en}" for key, verdict in VERDICTS.items() if found[key])])

    def _repr_mimebundle_(self, include=None, exclude=None):
        parts = [f"<style>{_static('ledger.css')}</style>", '<div class="attn-ledger">', *map(self._section, self._sections()),
                 "</div>", f"<script>{_static('ledger.js')}</script>"]
        return {"text/html": "\n".join(parts), "text/plain": repr(self)}

    def _sections(self):
        return dict.fromkeys(one.section for one, _ in self.entries)

    def _section(self, section):
        titles = "".join(in_language("span", language, escape(f"{section} {title}", quote=False))
                         for language, title in zip(("en", "zh"), SECTIONS[section], strict=True))
        inside = [_entry(one, measurement) for one, measurement in self.entries if one.section == section]
        return "\n".join([f'<div class="attn-ledger-section" data-section="{section}">', f"<h3>{titles}</h3>", *inside, "</div>"])


@cache
def _static(file):
    return (_STATIC / file).read_text(encoding="utf-8").strip()


def _entry(one, measurement):
    """One claim: its verdict and statement as the line that is always seen, the rest folded below."""
    parts = [bilingual("div", one, lambda language: body(one, measurement, ("shows", "correct"), language)
                       + _whereabouts(one, language))]
    if one.references:
        parts.append(reference_list(one.references))
    classes = f"attn-claim attn-claim--{one.verdict} attn-entry"
    return "\n".join([f'<details class="{classes}" data-verdict="{one.verdict}">',
                      f"<summary>{bilingual('span', one, partial(_line, one))}</summary>",
                      f'<div class="attn-entry-body" id="claim-{one.id}">', *parts, "</div>", "</details>"])


def _line(one, language):
    symbol = f'<span aria-hidden="true">{VERDICTS[one.verdict].symbol}</span>'
    return (f'<span class="attn-claim-verdict">{symbol} {name(one, language)}</span> '
            f'<span class="attn-entry-statement">{marked(one.statement[language])}</span>')


def _whereabouts(one, language):
    """Where the claim stands in the text, and by what code it is measured."""
    words, gap, lines = _WORDS[language], " " if language == "en" else "", []
    pages = [f'<a href="{page}.ipynb#claim-{one.id}">{words["chapter"].format(number=_number(page))}</a>'
             for page in places().get(one.id, [])]
    if pages:
        lines.append(words["place"].format(pages=words["and"].join(pages)))
    if one.checks:
        files = ", ".join(f'<a href="attnbook/claims/{check.partition(".")[0]}.py"><code>{check}</code></a>'
                          for check in one.checks)
        lines.append(words["check"].format(checks=files))
        lines.append(words["again"].format(command=f"<code>python -m attnbook.claims {one.id} --fresh</code>"))
    return f'<p class="attn-entry-where">{gap.join(lines)}</p>\n' if lines else ""


def _number(page):
    """1 of chapters/01_routing."""
    return int(page.rpartition("/")[2].partition("_")[0])
