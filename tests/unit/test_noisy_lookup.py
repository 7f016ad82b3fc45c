"""Recall among pairs: its data, its heads, and a short training."""

import pytest
import torch

from attnbook.tasks import noisy_lookup as lookup
from attnbook.tasks.noisy_lookup import train_lookup


def generators(*seeds):
    return [torch.Generator().manual_seed(seed) for seed in seeds]


def tables(*seeds):
    return torch.stack([torch.randn(lookup.SYMBOLS, lookup.WIDTH, generator=g) for g in generators(*seeds)])


def test_the_question_is_one_of_the_keys_and_the_answer_its_value(monkeypatch):
    monkeypatch.setattr(lookup, "NOISE", 0.0)
    table = tables(0, 1)
    question, keys, values, answer = lookup._batch(table, 6, 50, generators(2, 3))
    assert keys.shape == values.shape == (2, 50, 6, lookup.WIDTH) and answer.shape == (2, 50)
    same = (keys == question[:, :, None]).all(-1)
    assert (same.sum(-1) == 1).all()
    assert torch.equal(values[same], torch.stack([t[a] for t, a in zip(table, answer)]).flatten(0, 1))


def test_heads_side_by_side_are_plain_heads():
    kinds = ("none", "sqrt", "qk_norm", "start")
    heads = lookup._Heads(kinds, 16, generators(0, 1)).double()
    question, keys, *_ = (x.double() for x in lookup._batch(tables(0, 1), 5, 7, generators(2, 3))[:2])
    got = heads.scores(question, keys)
    for i, kind in enumerate(kinds):
        for s in range(2):
            q, k = question[s] @ heads.w_q[i, s], keys[s] @ heads.w_k[i, s]
            if kind == "qk_norm":
                q, k = q / q.norm(dim=-1, keepdim=True), k / k.norm(dim=-1, keepdim=True)
            factor = {"none": 1, "sqrt": 0.25, "qk_norm": 4, "start": 1}[kind]
            assert torch.allclose(got[i, s], (q[:, None] @ k.mT)[:, 0] * factor, atol=1e-6)
    assert torch.allclose(got[1], got[3], atol=1e-6)  # "start" begins as "sqrt" does


def test_kinds_of_a_seed_share_start_and_batches_and_seeds_are_independent():
    both = train_lookup(("sqrt", "d"), 16, pairs=3, seeds=(0, 1), steps=4)
    alone = train_lookup(("sqrt",), 16, pairs=3, seeds=(1,), steps=4)
    assert both["sqrt"].loss[1] == pytest.approx(alone["sqrt"].loss[0], rel=1e-4)
    again = train_lookup(("sqrt", "sqrt"), 16, pairs=3, seeds=(0,), steps=4)
    assert again["sqrt"].loss[0] == pytest.approx(both["sqrt"].loss[0], rel=1e-4)


def test_only_learned_factors_move():
    runs = train_lookup(("none", "sqrt", "learned", "qk_norm"), 16, pairs=3, seeds=(0,), steps=5, lr=1e-2)
    assert runs["none"].factor == [1.0] and runs["sqrt"].factor == [0.25]
    assert runs["learned"].factor != [0.25] and runs["qk_norm"].factor != [4.0]


def test_the_task_is_learned_with_the_root():
    run = train_lookup(("sqrt",), 64, pairs=4, seeds=(0, 1), steps=150, lr=1e-2)["sqrt"]
    assert min(run.accuracy) > 0.9 and max(run.steps) < 150
    assert all(after.std > 2 * before.std for before, after in zip(run.before, run.after))  # training sharpens
    assert len(run.loss) == 2 and len(run.loss[0]) == 150 and len(run.gradient) == 2


def test_what_is_not_known_is_named():
    with pytest.raises(ValueError, match="kinds has 'cube'; expected some of none, sqrt"):
        train_lookup(("cube",))
    with pytest.raises(ValueError, match="pairs is 25; expected at most 24"):
        train_lookup(pairs=25)
