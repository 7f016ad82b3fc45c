"""python -m attnbook.claims: what it prints, and the status it leaves."""

import json

import pytest

from attnbook.claims import Measurement
from attnbook.claims.__main__ import main


def test_it_prints_verdict_and_measured_sentence(capsys, measurements):
    assert main(["2.1.2-b"]) == 0
    out = capsys.readouterr().out
    assert "2.1.2-b      holds under a condition" in out and "120 cannot be" in out
    assert "claims: 1, measured: 1, not backed by their check: 0" in out


def test_it_takes_sections_and_prints_json(capsys, measurements):
    assert main(["2.1", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert len(results) == 26 and all(result["holds"] in (True, None) for result in results)
    assert next(r for r in results if r["id"] == "2.1.2-g")["values"]["chain_longest"] == 15


def test_a_check_that_does_not_hold_gives_status_1(capsys, monkeypatch):
    monkeypatch.setattr("attnbook.claims.ledger.measure",
                        lambda check: Measurement({"total": 0.5, "pooled": 7, "tokens": 12}, False))
    assert main(["2.1.3-f"]) == 1
    assert "THE CHECK DOES NOT HOLD: routing_paths.illustrated_weights" in capsys.readouterr().out


def test_an_unknown_id_gives_status_2(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["2.1.1-x"])
    assert stop.value.code == 2 and "did you mean" in capsys.readouterr().err


def test_fresh_runs_each_check_once(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNBOOK_CACHE", str(tmp_path))
    runs = []
    from attnbook.claims import cache
    real = cache.run
    monkeypatch.setattr(cache, "run", lambda check: runs.append(check) or real(check))
    assert main(["2.1.3-d", "2.1.3-e", "2.1.2-b", "2.1.2-g", "--fresh"]) == 0
    assert sorted(runs) == ["routing_paths.path_length", "routing_paths.two_hop"]
