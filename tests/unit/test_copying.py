"""The copying task of chapter 6: its data, its heads, and that runs repeat. What it shows is measured in the claims."""

import pytest
import torch

from attnbook.positions import interpolated
from attnbook.tasks import copying
from attnbook.tasks.copying import Copiers, copy_accuracy, scores_by_distance, train_copiers, train_further


def test_the_token_asked_for_stands_k_places_back():
    tokens = copying._sequences([torch.Generator().manual_seed(0)], 2, 10)
    wanted = copying._wanted(tokens)
    for i, back in enumerate(copying.BACKS):
        assert torch.equal(wanted[i, ..., back:], tokens[..., :-back])


def test_a_run_is_repeatable_and_seeds_do_not_touch_each_other():
    both = copy_accuracy(train_copiers("rope", seeds=(0, 1), steps=3), 20)
    assert torch.equal(both, copy_accuracy(train_copiers("rope", seeds=(0, 1), steps=3), 20))
    one = copy_accuracy(train_copiers("rope", seeds=(1,), steps=3), 20)
    assert torch.allclose(both[:, 1:], one, atol=0.02)
    assert both.shape == (2, 2)


def test_schemes_share_their_start_and_differ_in_one_stage():
    tokens = copying._sequences([torch.Generator().manual_seed(0)], 1, 8)
    heads = {scheme: Copiers(scheme, [0]) for scheme in copying.SCHEMES}
    assert all(torch.equal(one.w_q, heads["none"].w_q) for one in heads.values())
    logits = {scheme: one(tokens) for scheme, one in heads.items()}
    assert all((logits[a] - logits["none"]).abs().max() > 1e-3 for a in copying.SCHEMES[1:])
    assert all((one[..., 0, :] == 0).all() for one in logits.values())  # the first token has nothing to read


@pytest.mark.parametrize("scheme", copying.SCHEMES)
def test_only_earlier_tokens_are_read(scheme):
    heads = Copiers(scheme, [0])
    tokens = copying._sequences([torch.Generator().manual_seed(0)], 1, 8)
    changed = tokens.clone()
    changed[..., 5] = (changed[..., 5] + 1) % copying.TOKENS
    with torch.no_grad():
        same = heads(tokens) == heads(changed)
    assert same[..., :5, :].all() and not same[..., 6, :].all()


def test_scores_by_distance_are_means_of_diagonals():
    heads = Copiers("alibi", [0, 1])
    with torch.no_grad():
        heads.w_q.zero_()
    found = scores_by_distance(heads, 6)
    assert found.shape == (2, 2, 6)
    assert torch.allclose(found[0, 0], -2.0 * torch.arange(6))
    with pytest.raises(ValueError, match="length is 0"):
        scores_by_distance(heads, 0)


def test_turning_can_be_changed_after_training_and_trained_further():
    heads = train_copiers("rope", seeds=(0,), steps=2)
    before = heads.w_q.detach().clone()
    slow = {"frequencies": interpolated(copying.WIDTH, 4.0)}
    assert not torch.equal(scores_by_distance(heads, 6), scores_by_distance(heads, 6, **slow))
    further = train_further(heads, steps=1, length=40, size=2, **slow)
    assert not torch.equal(further.w_q, before) and torch.equal(heads.w_q, before)
    again = train_further(heads, steps=1, length=40, size=2, **slow)
    assert torch.equal(further.w_q, again.w_q)


def test_an_unknown_scheme_is_named():
    with pytest.raises(ValueError, match="scheme is 'alibis'; expected one of none, sinusoidal"):
        train_copiers("alibis")
