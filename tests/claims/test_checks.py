"""Every verdict rests on a check that holds in this run, or on a reference."""

import re
from string import Formatter

import pytest
import torch
from all_checks import CHECKS, CLAIMS

from attnbook.attention import attention
from attnbook.claims import Measurement, routing, routing_paths, routing_recurrence
from attnbook.claims.ledger import backed, measured, sentence


def unbacked(claims):
    return {claim.id for claim in claims if not backed(claim, measured(claim))}


@pytest.mark.parametrize("check", CHECKS)
def test_the_check_holds(check, measurements):
    assert measurements[check].holds, measurements[check].values


def test_every_verdict_is_backed(measurements):
    assert unbacked(CLAIMS) == set()


@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if claim.checks], ids=lambda claim: claim.id)
def test_the_sentence_states_measured_values(claim, measurements):
    values = {}
    for check in claim.checks:
        assert not values.keys() & measurements[check].values.keys() - {"seeds"}, "two checks use one name"
        values |= measurements[check].values
    for language in ("en", "zh"):
        used = [(name, spec) for _, name, spec, _ in Formatter().parse(claim.shows[language]) if name]
        assert used and {name for name, _ in used} <= values.keys()
        assert all(spec for name, spec in used if isinstance(values[name], float)), "a float without rounding"
        assert not re.search(r"\de[+-]\d", sentence(claim, Measurement(values, True), language)), "not 1e-12 but 10⁻¹²"


def test_a_check_leaves_random_numbers_and_threads_alone():
    torch.manual_seed(3)
    threads, expected = torch.get_num_threads(), torch.rand(1)
    torch.manual_seed(3)
    from attnbook.claims.measurement import run
    run("routing.static_embedding")
    assert torch.rand(1) == expected and torch.get_num_threads() == threads


# -- traps: the tests above can fail ------------------------------------------------------

def test_a_falsified_check_unbacks_its_claims(monkeypatch, measurements):
    def falsified(check, **_):
        return Measurement(measurements[check].values, check != "routing_paths.two_hop")

    monkeypatch.setattr("attnbook.claims.ledger.measure", falsified)
    assert unbacked(CLAIMS) == {"2.1.3-d", "2.1.3-e", "2.2.1-a"}


def blind_to_the_mask(q, k, v, *, causal=False, **options):
    return attention(q, k, v, **options)


def over_the_wrong_axis(q, k, v, *, scale=None, causal=False):
    weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-2)
    return weights @ v, weights


def identity(x, h0, w_ih, w_hh, b):
    states, h = [], h0
    for step in x.unbind(-2):
        h = step @ w_ih.mT + h @ w_hh.mT + b
        states.append(h)
    return torch.stack(states, -2), h


@pytest.mark.parametrize("module, name, wrong, checks", [
    (routing, "attention", blind_to_the_mask, ["visibility", "rank_collapse"]),
    (routing, "attention", over_the_wrong_axis, ["one_formula", "convex_mixture", "visibility"]),
    (routing_paths, "attention", blind_to_the_mask, ["path_length", "cached_decoding", "two_hop"]),
    (routing_recurrence, "rnn", identity, ["recurrence_formula", "chain_rule"]),
    (routing_recurrence, "recall_accuracy", lambda kind, T, seeds: [1.0], ["first_bit_recall"]),
    (routing_recurrence, "recall_accuracy", lambda kind, T, seeds: [0.5], ["first_bit_recall"]),
])
def test_a_wrong_part_makes_the_check_fail(module, name, wrong, checks, monkeypatch):
    monkeypatch.setattr(module, name, wrong)
    for check in checks:
        assert not getattr(module, check)().holds, check
