"""Shared by the tests of the exercises: run a check and hand back what it printed."""

import pytest


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
