"""Measurements on disk: found again, out of date after an edit, mended when damaged, safe under several kernels."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import attnbook
from attnbook.claims import Measurement, cache, measure

CHECK = "routing.visibility"
PACKAGE = Path(attnbook.__file__).parent


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """An empty cache, and a count of how often a check is really run."""
    monkeypatch.setenv("ATTNBOOK_CACHE", str(tmp_path))
    runs = []
    monkeypatch.setattr(cache, "run", lambda check: runs.append(check) or Measurement({"x": 0.25, "n": 3}, True))
    return runs


def stored():
    return cache.cache_directory() / f"{CHECK}.json"


def test_a_measurement_is_made_once(counted):
    assert measure(CHECK) == measure(CHECK) == Measurement({"x": 0.25, "n": 3}, True)
    assert counted == [CHECK]
    assert [path.name for path in stored().parent.iterdir()] == [f"{CHECK}.json"]


def test_fresh_measures_anew(counted):
    measure(CHECK)
    measure(CHECK, fresh=True)
    assert counted == [CHECK, CHECK]


@pytest.mark.parametrize("damage", ["", "{", "[]", "null", '{"key": 1}', "\x00\x01"])
def test_a_damaged_file_is_measured_anew(counted, damage):
    measure(CHECK)
    good = stored().read_text()
    stored().write_text(damage)
    assert measure(CHECK).values == {"x": 0.25, "n": 3}
    assert len(counted) == 2 and stored().read_text() == good


@pytest.mark.parametrize("field, value", [("key", "of other code"), ("values", [1]), ("holds", "yes")])
def test_a_file_of_other_code_or_form_is_measured_anew(counted, field, value):
    measure(CHECK)
    stored().write_text(json.dumps(json.loads(stored().read_text()) | {field: value}))
    assert measure(CHECK).holds is True and len(counted) == 2


def test_without_a_place_to_write_it_still_measures(counted, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ATTNBOOK_CACHE", str(tmp_path / "file"))
    assert measure(CHECK).holds and measure(CHECK).holds and len(counted) == 2


def test_the_key_follows_code_and_not_widgets_or_words(tmp_path):
    copy = tmp_path / "attnbook"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    before = cache.key(copy)
    assert before == cache.key(PACKAGE)
    for harmless in ("widgets/lab.py", "claims/claims.yaml"):
        with open(copy / harmless, "a") as file:
            file.write("# a word\n")
        assert cache.key(copy) == before, harmless
    with open(copy / "attention.py", "a") as file:
        file.write("# a change\n")
    assert cache.key(copy) != before


KERNEL = f"""
from attnbook.claims import Measurement, cache
cache.run = lambda check: Measurement({{"numbers": list(range(500))}}, True)
for turn in range(100):
    assert len(cache.measure({CHECK!r}, fresh=turn % 2 == 0).values["numbers"]) == 500
print("whole")
"""


def test_kernels_that_measure_together_never_see_half_a_file(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNBOOK_CACHE", str(tmp_path))
    kernels = [subprocess.Popen([sys.executable, "-c", KERNEL], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [kernel.communicate()[0].strip() for kernel in kernels] == ["whole"] * 3
    assert [path.name for path in (tmp_path / "claims").iterdir()] == [f"{CHECK}.json"]


CARD = """
import sys
from attnbook.claims import Measurement, cache, claim
cache.run = lambda check: Measurement({"total": 1.0, "pooled": 7, "tokens": 12}, True)
print(claim("2.1.3-f")._repr_mimebundle_()["text/plain"], "torch" in sys.modules)
"""


def test_only_a_fresh_measurement_needs_torch(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNBOOK_CACHE", str(tmp_path))
    out = subprocess.run([sys.executable, "-c", CARD], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[2.1.3-f] unsupported False"
