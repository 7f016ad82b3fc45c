"""The list of claims: complete, well-formed, in both languages, and it knows where each card stands."""

import json
import re

import pytest
from test_cards import Tree

from attnbook.claims import Measurement, all_claims, claim_list, page
from attnbook.claims.places import BOOK, cards, places
from attnbook.claims.sections import SECTIONS


@pytest.fixture(autouse=True)
def no_check_is_run(monkeypatch):
    """What a check measures is not the business of these tests."""
    monkeypatch.setattr(page, "measured", lambda one: None)


def html(listed):
    return listed._repr_mimebundle_()["text/html"]


def elements(text):
    """The list without its style and script, which are no HTML."""
    return re.sub(r"<(style|script)>.*?</\1>", "", text, flags=re.S)


def test_every_claim_has_one_entry_that_a_link_can_name():
    tree = Tree(elements(html(claim_list())))
    assert [name for name in tree.all("id")] == [f"claim-{one}" for one in all_claims()]
    assert tree.all("data-verdict") == [one.verdict for one in all_claims().values()]


def test_sections_have_names_and_come_in_their_order():
    assert list(SECTIONS) == list(dict.fromkeys(one.section for one in all_claims().values()))
    tree = Tree(elements(html(claim_list())))
    assert tree.all("data-section") == list(SECTIONS)
    assert all(re.search("[\u4e00-\u9fff]", zh) and not re.search("[\u4e00-\u9fff]", en) for en, zh in SECTIONS.values())


def test_an_entry_says_measured_sentence_correction_references_place_and_check(monkeypatch):
    monkeypatch.setattr(page, "measured", lambda one: Measurement({"total": 1.0, "pooled": 7, "tokens": 12}, True))
    text = html(claim_list("2.1.3-f"))
    for said in ("Claim 2.1.3-f: unsupported", "Measured.", "实测：", "What is true.", "正解：",
                 'href="chapters/01_routing.ipynb#claim-2.1.3-f"', ">chapter 1</a>.", ">第 1 章</a>。",
                 'href="attnbook/claims/routing_paths.py"', "python -m attnbook.claims 2.1.3-f --fresh"):
        assert said in text, said


def test_a_check_that_fails_is_said_in_the_list(monkeypatch):
    monkeypatch.setattr(page, "measured", lambda one: Measurement({"total": 0.9, "pooled": 7, "tokens": 12}, False))
    assert "This run does not back the verdict." in html(claim_list("2.1.3-f"))


def test_a_claim_whose_chapter_is_not_there_has_no_link(monkeypatch):
    monkeypatch.setattr(page, "places", dict)
    assert "See it in its place" not in html(claim_list("2.1"))


def test_python_filters_by_section_verdict_and_words():
    assert {one.section for one, _ in claim_list("2.3.1", "2.8").entries} == {"2.3.1", "2.8"}
    assert {one.verdict for one, _ in claim_list("2.2", verdict="wrong").entries} == {"wrong"}
    assert [one.id for one, _ in claim_list(text="TWO EYES").entries] == ["2.8-b"]
    assert repr(claim_list("2.8")) == "2 claims\n   1 imprecise\n   1 an opinion"
    assert claim_list(text="no claim says this").entries == ()


def test_an_unknown_verdict_or_section_is_named():
    with pytest.raises(ValueError, match="verdict is 'false'; expected one of holds"):
        claim_list(verdict="false")
    with pytest.raises(ValueError, match="2.99"):
        claim_list("2.99")


def test_cards_are_found_in_the_calls_of_a_notebook(tmp_path):
    folder = tmp_path / "chapters"
    folder.mkdir()
    sources = ['claims("2.1-a",\n       "2.1-b")', 'print("claims(\\"9-z\\")")', "%time claim('2.1-c')", 'x = claim("2.1-d")']
    for name in ("02_later.ipynb", "01_first.ipynb"):
        cells = [{"cell_type": "code", "source": source.splitlines(keepends=True)} for source in sources[int(name[1]) - 1:]]
        (folder / name).write_text(json.dumps({"cells": cells}), encoding="utf-8")
    assert cards(folder / "01_first.ipynb") == ["2.1-a", "2.1-b", "2.1-d"]
    assert places(tmp_path) == {"2.1-a": ["chapters/01_first"], "2.1-b": ["chapters/01_first"],
                                "2.1-d": ["chapters/01_first", "chapters/02_later"]}
    assert places(tmp_path / "elsewhere") == {}


def test_every_card_of_the_book_is_a_claim_and_stands_once_a_page():
    for path in sorted(BOOK.glob("chapters/*.ipynb")):
        shown = cards(path)
        assert set(shown) <= set(all_claims())
        assert len(shown) == len(set(shown)), sorted(one for one in set(shown) if shown.count(one) > 1)


def test_every_claim_has_a_card():
    assert set(all_claims()) == set(places())
