"""Cards and the ledger on the built site: complete, linked both ways, and alike in both editions."""

import re

import pytest
from book_files import BUILT, html

from attnbook.claims import all_claims
from attnbook.claims.places import places

EDITIONS = sorted(edition for edition, page in BUILT if page == "ledger")
CARD = re.compile(r'<article class="attn-claim [^"]*" id="claim-([^"]+)">(.*?)</article>', re.S)
ENTRY = re.compile(r'<details class="[^"]*attn-entry"[^>]*>(.*?)</details>', re.S)


def cards(edition, page):
    """Claim -> HTML of its card on a built page."""
    return dict(CARD.findall(html(edition, page)))


def entries(edition):
    """Claim -> HTML of its entry in the edition's ledger."""
    found = [entry[1] for entry in ENTRY.finditer(html(edition, "ledger"))]
    return {re.search(r'id="claim-([^"]+)"', entry)[1]: entry for entry in found}


def links(text):
    """Addresses of a piece of HTML, without those of other sites."""
    return [address for address in re.findall(r'href="([^"]+)"', text) if "://" not in address]


WITH_CARDS = [(edition, page) for edition, page in BUILT if page.startswith("chapters/")]


def test_the_ledger_is_in_every_edition():
    assert EDITIONS == sorted({edition for edition, _ in BUILT})


@pytest.mark.parametrize("edition", EDITIONS)
def test_the_ledger_has_every_claim_once(edition):
    assert list(entries(edition)) == list(all_claims())


@pytest.mark.parametrize("edition, page", WITH_CARDS)
def test_every_card_leads_to_its_entry(edition, page):
    found = cards(edition, page)
    assert found
    for claim_id, card in found.items():
        assert set(links(card)) == {f"../ledger.html#claim-{claim_id}"}, claim_id


@pytest.mark.parametrize("edition", EDITIONS)
def test_every_entry_whose_chapter_exists_leads_back_to_the_card(edition):
    for claim_id, entry in entries(edition).items():
        expected = set()
        for page in places().get(claim_id, []):
            if ("en", page) in BUILT:
                folder = "" if (edition, page) in BUILT else "../en/"
                assert claim_id in cards(edition if not folder else "en", page)
                expected.add(f"{folder}{page}.html#claim-{claim_id}")
        assert set(links(entry)) == expected, claim_id


@pytest.mark.parametrize("edition", EDITIONS)
def test_no_link_of_the_site_leads_to_a_notebook(edition):
    for other, page in BUILT:
        if other == edition:
            article = re.search(r'<article class="bd-article.*?<footer', html(edition, page), re.S)
            assert article and not [link for link in links(article[0]) if ".ipynb" in link], page


@pytest.mark.parametrize("edition", EDITIONS)
def test_what_was_measured_is_said_of_every_claim_with_a_check(edition):
    for claim_id, entry in entries(edition).items():
        if all_claims()[claim_id].checks:
            assert "attn-claim-shows" in entry and "python -m attnbook.claims " + claim_id in entry
            assert "attn-claim-fails" not in entry, claim_id
