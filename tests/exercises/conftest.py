"""Shared by the tests of the exercises: run a check and hand back what it printed."""

import itertools
import os
import zlib

import pytest

from attnbook.exercises import _exercise


@pytest.fixture(autouse=True)
def repeatable(monkeypatch, request):
    """A test meets the same inputs in every run, new ones for every check; ATTNBOOK_DRAWS=1, 2, ... gives others."""
    first = zlib.crc32(f"{os.environ.get('ATTNBOOK_DRAWS', '0')} {request.node.nodeid}".encode())
    monkeypatch.setattr(_exercise, "system_seed", itertools.count(first).__next__)


@pytest.fixture
def said(capsys):
    """said(check, fn): the one message, on one line."""
    def run(check, fn):
        capsys.readouterr()
        assert check(fn) is None
        out = capsys.readouterr()
        assert out.err == ""
        assert out.out.strip(), "the check printed nothing"
        return " ".join(out.out.split())
    return run
