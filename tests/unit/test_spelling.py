"""From spelling to sound: the words, the models, that runs repeat, and the committed result of the full run."""

import pytest
import torch

from attnbook.tasks import spelling
from attnbook.tasks.spelling import model as models
from attnbook.tasks.spelling.words import END, PAD, START, letters, spoken, targets


def test_words_are_the_licensed_sample_and_held_out_words_are_not_trained_on():
    train, held_out = spelling.parts()
    assert len(train) + len(held_out) == 30_000 and len(held_out) == 3000
    assert not {word for word, _ in train} & {word for word, _ in held_out}
    assert {sound for _, sounds in spelling.pairs() for sound in sounds} == set(spelling.SOUNDS)
    assert all(3 <= len(word) <= 18 and word.isalpha() and word.islower() for word, _ in spelling.pairs())


def test_letters_and_sounds_become_ids_and_come_back():
    ids, lengths = letters(["cab", "az"])
    assert ids.tolist() == [[3, 1, 2], [1, 26, 0]] and lengths.tolist() == [3, 2]
    wanted = targets([("AA", "ZH"), ("B",)])
    assert wanted[0, -1] == END and wanted[1].tolist()[1:] == [END, PAD]
    assert [spoken(row) for row in wanted] == [("AA", "ZH"), ("B",)]
    with pytest.raises(ValueError, match="words has 'naïve'; expected small letters a to z"):
        letters(["cab", "naïve"])


@pytest.mark.parametrize(("a", "b", "steps"), [("", "", 0), ("abc", "", 3), ("kitten", "sitting", 3), ("ab", "ba", 2)])
def test_distance_counts_what_must_be_changed(a, b, steps):
    assert spelling.distance(a, b) == spelling.distance(b, a) == steps


def test_padding_changes_nothing_and_the_backward_state_starts_at_the_last_letter():
    torch.manual_seed(0)
    model = spelling.SpellingModel(True).double()
    alone, h = model.encode(*letters(["cat"]))
    beside, both = model.encode(*letters(["cat", "elephants"]))
    torch.testing.assert_close(beside[:1, :3], alone)
    torch.testing.assert_close(both[:1], h)
    end = model.encode(*letters(["cap"]))[0]  # another last letter reaches the first place through the backward half
    assert (end[0, 0, 96:] - alone[0, 0, 96:]).abs().max() > 1e-3 and torch.equal(end[0, 0, :96], alone[0, 0, :96])


def test_saying_step_by_step_is_the_forward_pass_on_what_was_said():
    torch.manual_seed(0)
    for attends in (False, True):
        model = spelling.SpellingModel(attends)
        ids, lengths = letters(["cat", "elephants"])
        said, weights = model.say(ids, lengths)
        earlier = torch.cat([torch.full((2, 1), START), said[:, :-1]], 1)
        logits, maps = model(ids, lengths, earlier)
        assert torch.equal(logits.argmax(-1), said)
        if attends:
            torch.testing.assert_close(weights, maps)
            assert (weights[0, :, 3:] == 0).all()


def test_without_attention_only_the_bridge_leads_from_the_letters():
    torch.manual_seed(0)
    model = spelling.SpellingModel(False)
    with torch.no_grad():
        model.bridge.weight.zero_()
    a, b = (model(*letters([word]), torch.tensor([[START]]))[0] for word in ("cat", "dog"))
    assert torch.equal(a, b)


def test_a_seed_repeats_and_leaves_the_global_numbers_alone():
    torch.manual_seed(5)
    state = torch.get_rng_state()
    losses = [spelling.train_spelling(True, seed, steps=3)[1].loss for seed in (0, 0, 1)]
    assert losses[0] == losses[1] != losses[2] and torch.equal(state, torch.get_rng_state())


def test_errors_are_counted_by_length():
    class Parrot:
        def say(self, ids, lengths):
            return targets([("K", "AE", "T")] * len(ids)), None

    words = [("cat", ("K", "AE", "T")), ("kat", ("K", "AE", "D")), ("elephants", ("T",) * 4)]
    rates = spelling.error_rates(Parrot(), words)
    assert rates["bands"] == pytest.approx([1 / 6, 3 / 4, 0, 0]) and rates["right"] == pytest.approx(1 / 3)
    assert [spelling.band(w) for w in ("cat", "sailors", "attentions", "x" * 18)] == [0, 1, 2, 3]


def test_the_committed_run_is_the_full_one():
    run = spelling.saved()
    assert run["steps"] == spelling.STEPS and run["seeds"] == [0, 1, 2] and run["date"].startswith("20")
    assert len(run["with"]) == len(run["without"]) == 3 and set(run["alignments"]) == set(spelling.WORDS_DRAWN)
    for plain, attending in zip(run["without"], run["with"], strict=True):
        assert all(a < p for a, p in zip(attending["bands"], plain["bands"], strict=True))
    sounds, weights = run["alignments"]["attention"]
    assert len(weights) == len(sounds) and all(sum(row) == pytest.approx(1, abs=2e-3) for row in weights)


def test_the_longest_word_can_be_said():
    assert models.LONGEST >= max(len(sounds) for _, sounds in spelling.pairs())
