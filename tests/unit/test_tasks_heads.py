"""The two small tasks of chapter 2: their data, and that runs repeat. What they show is measured in the claims."""

import pytest
import torch

from attnbook.tasks import lookup, previous


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_a_list_has_distinct_names_and_asks_for_one_of_them():
    query, tokens, digit = lookup._lists([generator(0), generator(1)], 50)
    names, digits = tokens.split([lookup.NAMES, lookup.DIGITS], -1)
    assert names.shape == (2, 50, lookup.PAIRS, lookup.NAMES)
    assert (names.sum(-2) <= 1).all() and (names.sum(-1) == 1).all() and (digits.sum(-1) == 1).all()
    asked = (names @ query[..., None])[..., 0]  # 1 at the pair that holds the asked name
    assert (asked.sum(-1) == 1).all()
    assert torch.equal((asked[..., None] * digits).sum(-2).argmax(-1), digit)


def test_shared_keys_need_one_width():
    with pytest.raises(ValueError, match="d_k is 4 and d_v is 8"):
        lookup.lookup_accuracy(4, 8, shared=True)


def test_a_run_is_repeatable_and_seeds_do_not_touch_each_other():
    both = lookup.lookup_accuracy(4, 4, seeds=(0, 1), steps=5)
    assert both == lookup.lookup_accuracy(4, 4, seeds=(0, 1), steps=5)
    one = previous.previous_accuracy(False, seeds=(3,), steps=5)
    assert one == previous.previous_accuracy(False, seeds=(3,), steps=5)


def test_tied_heads_have_one_matrix_less():
    def count(tied):
        return sum(p.numel() for p in previous._Heads([generator()], tied, previous._mask(False, False)).parameters())

    assert count(False) - count(True) == previous.WIDTH**2


def test_masks_leave_every_token_something_to_read():
    for causal in (False, True):
        for hide_self in (False, True):
            mask = previous._mask(causal, hide_self)
            assert mask.any(-1).all() and mask.sum() == {(False, False): 144, (True, False): 78, (False, True): 132,
                                                         (True, True): 67}[causal, hide_self]
