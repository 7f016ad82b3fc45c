"""Cards: well-formed HTML in both languages, and a short line that is the same on every machine."""

from html.parser import HTMLParser

import pytest
from all_checks import CLAIMS

from attnbook.claims import Card, Measurement, VERDICTS, all_claims, claim, claims


class Tree(HTMLParser):
    """Fails on a tag left open or closed twice; keeps classes, languages, ids and links."""

    def __init__(self, html):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(html)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def all(self, name):
        return [attributes[name] for _, attributes in self.seen if name in attributes]


def card_of(one, **values):
    return Card(((one, Measurement(values, True) if values else None),))


def html(card):
    return card._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize("one", CLAIMS, ids=lambda one: one.id)
def test_a_card_is_well_formed_and_bilingual(one, measurements):
    tree = Tree(html(claim(one.id)))
    assert f"claim-{one.id}" in tree.all("id")
    assert f"attn-claim attn-claim--{one.verdict}" in tree.all("class")
    pairs = {(a.get("class"), a["lang"]) for _, a in tree.seen if "lang" in a and "class" in a}
    assert {("lang-en", "en"), ("lang-zh", "zh-CN")} <= pairs
    links = [link for link in tree.all("href") if not link.startswith("https://")]
    assert links == [f"../ledger.ipynb#claim-{one.id}"] * 2  # one in each language


def test_the_card_says_verdict_sentence_correction_and_references(measurements):
    page = html(claim("2.1.1-h"))
    for expected in ("Claim 2.1.1-h: holds under a condition", "说法 2.1.1-h：有条件成立",
                     "Measured.", "实测：", "What is true.",
                     "Hochreiter and Schmidhuber 1997", "https://arxiv.org/abs/1504.00941"):
        assert expected in page
    assert page.count("{") == page.count("}") == page[:page.index("</style>")].count("{")  # no field left unfilled


def test_the_line_has_no_measured_number(measurements):
    assert repr(claim("2.1.1-h")) == "[2.1.1-h] holds under a condition"
    assert claims("2.0-k", "2.1.3-e")._repr_mimebundle_()["text/plain"] == "[2.0-k] holds\n[2.1.3-e] wrong"


def test_several_claims_share_one_style(measurements):
    page = html(claims("2.1.1-a", "2.1.1-b"))
    assert page.count("<style>") == 1 and page.count("<article") == 2


def test_a_check_that_fails_is_said_on_the_card():
    one = all_claims()["2.1.3-f"]
    card = Card(((one, Measurement({"total": 0.9, "pooled": 7, "tokens": 12}, False)),))
    for warning in ("This run does not back the verdict.", "本次运行的结果不支持这一判定。"):
        assert warning in html(card)
    assert repr(card) == "[2.1.3-f] unsupported (not backed by this run)"


def test_text_is_escaped_and_backticks_are_code():
    page = html(card_of(all_claims()["2.0-k"], tolerance=1e-12, seeds=5, n=10, d=8, difference=0.0))
    assert "<code>softmax(Q Kᵀ / √d_k) V</code>" in page
    assert "F&lt;" in html(card_of(_changed("2.0-k", "F<G & H")))


def _changed(claim_id, statement):
    from dataclasses import replace
    return replace(all_claims()[claim_id], statement={"en": statement}, shows=None)


def test_no_claim_at_all_is_an_error():
    with pytest.raises(ValueError, match="claim_ids is empty"):
        claims()
    with pytest.raises(ValueError, match="did you mean"):
        claim("2.1.1-q")


def test_each_verdict_has_a_name_and_a_symbol():
    assert all(verdict.symbol and verdict.en and verdict.zh for verdict in VERDICTS.values())
    assert len({verdict.symbol for verdict in VERDICTS.values()}) == len(VERDICTS)


def test_small_numbers_are_written_as_powers_of_ten(measurements):
    page = html(claim("2.3.2-c"))
    assert "2.1 × 10⁻⁹" in page and "4.5 × 10⁻⁵" in page and "e-0" not in page
