"""Every piece of the chapter that the book follows has a place in the book, and the place exists."""

import pathlib
import re

import editions
import nbformat
import pytest
import yaml

from attnbook.claims import all_claims
from attnbook.claims.places import cards
from attnbook.claims.sections import SECTIONS

MAP = yaml.safe_load((pathlib.Path(__file__).parent / "coverage.yaml").read_text(encoding="utf-8"))
ITEMS = [(group, name) for group, items in MAP.items() for name in items]
PLACES = sorted({place for items in MAP.values() for item in items.values() for place in item["where"]})
PAGES = editions.pages_of(editions.read_toc())
EXPECTED = {"sections": 34, "tables": 27, "diagrams": 4, "thought experiments and philosophy": 10,
            "engineering and technical boxes": 14, "quotations and analogies": 15, "formulas": 24,
            "left out by the source": 7, "contradictions of the source": 9}
CHAPTERS = ("01_routing", "02_qkv", "03_scaling", "04_softmax", "05_residual", "06_positions", "07_thought_experiments",
            "08_summary")


def labels(page: str) -> set[str]:
    """Labels of headings, equations, directives and figures of a page, and its cards as claim-<id>."""
    path, text = editions.source(page), editions.markdown(page)
    found = set(re.findall(r"^\(([\w.-]+)\)=", text, re.M)) | set(re.findall(r"\$\$ *\(([\w.-]+)\)", text))
    found |= set(re.findall(r"^:(?:name|label): *([\w.-]+)", text, re.M))
    if path.suffix == ".ipynb":
        cells = nbformat.read(path, as_version=4).cells
        found |= {cell.metadata.get("mystnb", {}).get("figure", {}).get("name") for cell in cells}
        found |= {f"claim-{claim_id}" for claim_id in cards(path)}
    return found


@pytest.mark.parametrize("group, number", EXPECTED.items())
def test_no_item_is_missing(group, number):
    assert len(MAP[group]) == number and set(MAP) == set(EXPECTED)


def test_items_are_those_of_the_chapter():
    sections = {name.split()[0] for name in MAP["sections"]}
    assert sections == set(SECTIONS)
    assert list(MAP["tables"]) == [f"T{n}" for n in range(1, 28)]
    assert list(MAP["diagrams"]) == [f"D{n}" for n in range(1, 5)]


@pytest.mark.parametrize("group, name", ITEMS)
def test_every_item_says_what_it_is_and_where_it_lives(group, name):
    item = MAP[group][name]
    assert set(item) == {"what", "where"} and len(item["what"]) > 3
    assert item["where"] and all(re.fullmatch(r"chapters/\w+#[\w.-]+", place) for place in item["where"])


def test_the_map_speaks_of_every_chapter():
    assert {place.partition("#")[0] for place in PLACES} == {f"chapters/{name}" for name in CHAPTERS} <= set(PAGES)


@pytest.mark.parametrize("place", [place for place in PLACES if place.partition("#")[0] in PAGES])
def test_every_place_exists(place):
    page, _, label = place.partition("#")
    assert label in labels(page)
    if label.startswith("claim-"):
        assert label.removeprefix("claim-") in all_claims()
