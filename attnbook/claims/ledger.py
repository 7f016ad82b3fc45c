"""The claims themselves: read from claims.yaml, looked up, counted, and put into words."""

import difflib
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml

from attnbook.claims.cache import measure
from attnbook.claims.measurement import Measurement


@dataclass(frozen=True)
class Verdict:
    """How a verdict is shown: a symbol and a name in both languages."""

    symbol: str
    en: str
    zh: str


VERDICTS = {
    "holds": Verdict("✓", "holds", "成立"),
    "condition": Verdict("(✓)", "holds under a condition", "有条件成立"),
    "imprecise": Verdict("≈", "imprecise", "不够准确"),
    "wrong": Verdict("✗", "wrong", "错误"),
    "unsupported": Verdict("?", "unsupported", "缺乏依据"),
    "opinion": Verdict("○", "an opinion", "一家之言"),
}
KINDS = ("attribution", "historical", "formula", "numeric", "empirical", "analogy", "opinion")


@dataclass(frozen=True)
class Claim:
    """One entry of claims.yaml; statement, correct and shows are texts by language."""

    id: str
    section: str
    kind: str
    verdict: str
    statement: dict
    correct: dict
    checks: tuple
    shows: dict | None
    references: tuple


@lru_cache(maxsize=1)
def all_claims() -> dict[str, Claim]:
    """All claims by id, in the order of the source. Raises ValueError for a malformed entry or an id used twice."""
    text = Path(__file__).with_name("claims.yaml").read_text(encoding="utf-8")
    return parse(text)


def parse(text: str) -> dict[str, Claim]:
    """Claims by id from the text of a ledger file."""
    found = {}
    for entry in yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        one = _claim(entry)
        if one.id in found:
            raise ValueError(f"id {one.id!r} is used twice; expected one entry a claim")
        found[one.id] = one
    return found


def _claim(entry):
    fields = dict(entry)
    for name in ("statement", "correct", "shows"):
        fields[name] = _texts(fields[name])
    fields["checks"] = _as_tuple(fields.pop("check"))
    fields["references"] = tuple(fields["references"])
    one = Claim(**fields)
    for name, allowed in (("verdict", VERDICTS), ("kind", KINDS)):
        if getattr(one, name) not in allowed:
            raise ValueError(f"{one.id}: {name} is {getattr(one, name)!r}; expected one of {', '.join(allowed)}")
    return one


def _as_tuple(check):
    return () if check is None else (check,) if isinstance(check, str) else tuple(check)


_CHINESE = r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef\u201c\u201d]"
_FOLD = re.compile(f"(?<={_CHINESE}) (?={_CHINESE})")


def _texts(by_language):
    """Texts by language; YAML folds a line break into a space, which Chinese does not want."""
    if by_language is None:
        return None
    return {language: _FOLD.sub("", text) if language == "zh" else text for language, text in by_language.items()}


# -- looking up ---------------------------------------------------------------------------

def find(claim_id: str) -> Claim:
    """The claim of that id. Raises ValueError for an unknown id, and suggests near ones."""
    known = all_claims()
    if claim_id in known:
        return known[claim_id]
    near = difflib.get_close_matches(str(claim_id).removeprefix("C-"), known, n=3)
    near = f"did you mean {', '.join(near)}?" if near else "expected a section and a letter, for example 2.1.1-h"
    raise ValueError(f"id is {claim_id!r}, which no claim has; {near}")


def select(*wanted: str) -> list[Claim]:
    """Claims by ids or sections, in the order of the ledger; a section includes its parts, nothing means all."""
    if not wanted:
        return list(all_claims().values())
    chosen = set()
    for name in wanted:
        inside = {c.id for c in all_claims().values() if f"{c.section}.".startswith(f"{name}.")}
        chosen |= inside or {find(name).id}
    return [c for c in all_claims().values() if c.id in chosen]


def counts(sections: Collection[str] | None = None) -> dict[str, int]:
    """How many claims have each verdict, in the whole ledger or in the sections named."""
    verdicts = [c.verdict for c in all_claims().values() if sections is None or c.section in sections]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS}


# -- measuring ----------------------------------------------------------------------------

def measured(claim: Claim) -> Measurement | None:
    """What the claim's checks measured, taken together; None if it has none."""
    if not claim.checks:
        return None
    values, holds = {}, True
    for check in claim.checks:
        one = measure(check)
        values |= one.values
        holds = holds and one.holds
    return Measurement(values, holds)


def sentence(claim: Claim, measurement: Measurement | None, language: str) -> str | None:
    """The sentence that states the measured values, in that language; None if nothing was measured."""
    if measurement is None or claim.shows is None or language not in claim.shows:
        return None
    return _POWER.sub(_as_power, claim.shows[language].format(**measurement.values))


_POWER = re.compile(r"\b(\d+(?:\.\d+)?)e([+-]\d+)")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _as_power(match):
    """1e-12 as 10⁻¹², 2.1e-09 as 2.1 × 10⁻⁹."""
    power = f"10{str(int(match[2])).translate(_RAISED)}"
    return power if match[1] == "1" else f"{match[1]} × {power}"


def backed(claim: Claim, measurement: Measurement | None) -> bool:
    """Whether the verdict rests on something: a check that holds, else a reference; an opinion needs neither."""
    if measurement is not None:
        return measurement.holds
    return bool(claim.references) or claim.verdict == "opinion"
