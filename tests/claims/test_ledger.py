"""The ledger as a document: complete, consistent, and in step with the audit it comes from."""

import re
from string import Formatter

import pytest
from all_checks import CLAIMS

from attnbook.claims import all_claims, counts, select
from attnbook.claims.bibliography import references
from attnbook.claims.ledger import find, parse

CHINESE = re.compile(r"[\u4e00-\u9fff]")
AUDIT = {"holds": 34, "condition": 48, "imprecise": 55, "wrong": 27, "unsupported": 23, "opinion": 13}


def fields(text):
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_verdicts_are_counted_as_the_audit_did():
    assert counts() == AUDIT
    assert sum(counts().values()) == len(all_claims()) == 200


@pytest.mark.parametrize("chapter, expected", [
    (("2.0", "2.1"), {"holds": 5, "condition": 12, "imprecise": 12, "wrong": 2, "unsupported": 5, "opinion": 4}),
    (("2.2",), {"holds": 5, "condition": 10, "imprecise": 8, "wrong": 13, "unsupported": 3, "opinion": 2}),
    (("2.3",), {"holds": 13, "condition": 16, "imprecise": 21, "wrong": 7, "unsupported": 9, "opinion": 4}),
    (("2.3.5",), {"holds": 4, "condition": 9, "imprecise": 18, "wrong": 3, "unsupported": 6, "opinion": 3}),
    (("2.4",), {"holds": 4, "condition": 1, "imprecise": 3, "wrong": 1, "unsupported": 1, "opinion": 0}),
    (("2.5",), {"holds": 5, "condition": 5, "imprecise": 5, "wrong": 3, "unsupported": 3, "opinion": 1}),
    (("2.6",), {"holds": 2, "condition": 2, "imprecise": 2, "wrong": 1, "unsupported": 2, "opinion": 1}),
    (("2.7", "2.8"), {"holds": 0, "condition": 2, "imprecise": 4, "wrong": 0, "unsupported": 0, "opinion": 1}),
])
def test_chapters_are_counted_apart(chapter, expected):
    sections = {claim.section for claim in CLAIMS if claim.section.startswith(chapter)}
    assert counts(sections) == expected


def test_an_id_is_its_section_and_a_letter():
    for claim in all_claims().values():
        assert re.fullmatch(re.escape(claim.section) + "-[a-z]", claim.id), claim.id


def test_letters_of_a_section_leave_no_gap():
    for section in {claim.section for claim in all_claims().values()}:
        letters = [claim.id[-1] for claim in all_claims().values() if claim.section == section]
        assert letters == [chr(ord("a") + i) for i in range(len(letters))], section


def test_an_id_used_twice_is_refused():
    entry = ('- {id: 1-a, section: "1", kind: formula, verdict: holds, statement: {en: x}, correct: {en: y}, '
             "check: null, shows: null, references: []}\n")
    with pytest.raises(ValueError, match="'1-a' is used twice"):
        parse(entry + entry)
    with pytest.raises(ValueError, match="verdict is 'maybe'; expected one of holds"):
        parse(entry.replace("verdict: holds", "verdict: maybe"))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_finished_claim_speaks_both_languages(claim):
    assert bool(claim.checks) == bool(claim.shows)
    for texts in filter(None, (claim.statement, claim.correct, claim.shows)):
        assert set(texts) == {"en", "zh"}
        assert CHINESE.search(texts["zh"]) and not CHINESE.search(texts["en"].replace("它", "").replace("牠", ""))
        assert not re.search(r"[\u4e00-\u9fff，。；：] [\u4e00-\u9fff]", texts["zh"]), "a space inside Chinese text"
    if claim.shows:
        assert fields(claim.shows["en"]) == fields(claim.shows["zh"])


def test_every_reference_is_in_the_bibliography():
    cited = {key for claim in all_claims().values() for key in claim.references}
    assert cited and cited <= set(references())


def test_the_bibliography_reads_as_a_person_would_write_it():
    assert references()["pascanu2013difficulty"].label == "Pascanu et al. 2013"
    assert references()["hochreiter1997lstm"].label == "Hochreiter and Schmidhuber 1997"
    assert references()["vaswani2017attention"].link == ("arXiv:1706.03762", "https://arxiv.org/abs/1706.03762")
    assert not any(set("{}\\") & set(ref.label + ref.title) for ref in references().values())


@pytest.mark.parametrize("wrong, near", [("2.1.1-hh", "2.1.1-h"), ("C-2.1.1-z", "2.1.1-"), ("2.1.3e", "2.1.3-e")])
def test_an_unknown_id_suggests_near_ones(wrong, near):
    with pytest.raises(ValueError, match=re.escape(wrong)) as error:
        find(wrong)
    assert near in str(error.value)


def test_a_section_includes_its_parts():
    assert {claim.section for claim in select("2.1")} == {"2.1", "2.1.1", "2.1.2", "2.1.3"}
    assert [claim.id for claim in select("2.1.1-h", "2.0-a")] == ["2.0-a", "2.1.1-h"]
    assert len(select()) == 200
