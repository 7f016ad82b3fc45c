"""When notebooks run again: after a change of the package, of the pins, or of where the claims stand."""

import json

import executed
import pytest


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A book of one chapter with one card."""
    (tmp_path / "attnbook").mkdir()
    (tmp_path / "chapters").mkdir()
    monkeypatch.setattr(executed, "ROOT", tmp_path)
    return tmp_path


def write(book, name, code, prose="Text."):
    cells = [{"cell_type": "markdown", "source": [prose]}, {"cell_type": "code", "source": [code]}]
    (book / "chapters" / name).write_text(json.dumps({"cells": cells}), encoding="utf-8")


def test_a_card_that_moves_runs_the_ledger_again(book):
    write(book, "01_a.ipynb", 'claims("2.1-a", "2.1-b")')
    before = executed.key()
    assert executed.cards() == [("01_a.ipynb", ['claims(\\"2.1-a\\", \\"2.1-b\\")'])]
    write(book, "02_b.ipynb", 'claim("2.1-b")')
    assert executed.key() != before


def test_another_sentence_runs_nothing_again(book):
    write(book, "01_a.ipynb", 'claims("2.1-a")')
    before = executed.key()
    write(book, "01_a.ipynb", 'claims("2.1-a")', prose="Other text.")
    assert executed.key() == before


def test_a_change_of_the_package_runs_everything_again(book):
    before = executed.key()
    (book / "attnbook" / "softmax.py").write_text("x = 1\n", encoding="utf-8")
    assert executed.key() != before
