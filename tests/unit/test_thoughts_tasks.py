"""The tasks of chapter 7: far tokens, the swapped order, and weights that are replaced."""

import pytest
import torch

from attnbook.tasks import coreference as coref
from attnbook.tasks.far import KINDS, PAIRS, SINKS, WINDOW, far_recall


def test_a_kind_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="kind is 'sparse'"):
        far_recall("sparse")


def test_every_kind_runs_and_an_untrained_head_guesses():
    for kind in KINDS:
        report = far_recall(kind, seeds=(0, 1), steps=0)
        assert report.right.shape == (2, PAIRS) and all(right < 0.3 for right in report.between(1, PAIRS))


def test_tiles_give_the_training_of_full_attention():
    full, tiled = (far_recall(kind, seeds=(0,), steps=20, lists=5).right for kind in ("full", "tiled"))
    assert torch.allclose(full, tiled, atol=0.05)


def test_a_window_reaches_the_pairs_it_should():
    q, k, v = torch.zeros(1, 2), torch.zeros(PAIRS + 1, 2), torch.eye(PAIRS + 1)
    seen = {kind: KINDS[kind](q, k, v)[0].nonzero().flatten().tolist() for kind in ("full", "window", "sinks")}
    assert seen["full"] == list(range(PAIRS + 1)) and seen["window"] == list(range(PAIRS + 1 - WINDOW, PAIRS + 1))
    assert seen["sinks"] == [*range(SINKS), *seen["window"]]


def test_the_two_orders_hold_the_same_questions():
    usual, swapped = coref.usual(), coref.swapped()
    assert torch.equal(usual[1], swapped[1])
    exchanged = usual[0].clone()
    exchanged[:, [coref.FIRST, coref.SECOND]] = usual[0][:, [coref.SECOND, coref.FIRST]]
    assert torch.equal(exchanged, swapped[0]) and len(usual[1]) == 12 * 2 * 12


@pytest.fixture(scope="module")
def model():
    return coref.train_coreference(0, n_heads=2, steps=60)[0]


def test_its_own_weights_change_nothing(model):
    tokens = coref.examples(True)[0][::48]
    scores, weights = model(tokens)
    from attnbook.tasks.coreference.model import lead_of_first
    for layer in (0, 1):
        lead = coref.with_weights(model, tokens, layer, weights[:, layer])
        assert torch.allclose(lead, lead_of_first(scores, tokens), atol=1e-12)


def test_effects_are_those_of_single_cuts(model):
    tokens = coref.examples(True)[0][:1]
    found = coref.effects(model, tokens)
    text = coref.sentences(True)[0][0]
    whole = coref.read(model, text).answer
    cut = coref.cut(model, text, 1, "it", 4, head=1).answer
    names = list(whole)
    change = [torch.tensor(a[names[0]] / a[names[1]]).log() for a in (whole, cut)]
    assert found["cut"][0, 1, 1, 4].item() == pytest.approx((change[1] - change[0]).abs().item(), abs=1e-6)
    assert torch.allclose(found["weight"].sum(-1), torch.ones(1, 2, 2).double())
    assert all(x.shape == (1, 2, 2, 11) and (x >= 0).all() for x in found.values())


def test_shares_of_answers_lie_between_0_and_1(model):
    tokens = coref.examples(True)[0][::48]
    assert 0 <= coref.silenced_answers(model, tokens) <= 1
    assert coref.shuffled_answers(model, tokens, 3) == coref.shuffled_answers(model, tokens, 3) <= 1
    moved = coref.one_hot_answers(model, tokens)
    assert moved.shape == (12, 2) and (moved >= 0).all() and (moved <= 1).all()
