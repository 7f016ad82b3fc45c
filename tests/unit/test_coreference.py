"""The coreference task: what the sentences allow, what the models learn, and the tools that look inside."""

import json
from collections import Counter

import pytest
import torch

from attnbook.tasks import coreference as task
from attnbook.tasks.coreference import CoreferenceModel, cut, encode, explorer_data, read, train_coreference, two_hop

TIRED, WIDE = task.READINGS["tired"], task.READINGS["wide"]


@pytest.fixture(scope="module")
def two_layers():
    return train_coreference(seed=0)


@pytest.fixture(scope="module")
def one_layer():
    return train_coreference(seed=0, n_layers=1, steps=60)[0]


@pytest.fixture(scope="module")
def causal():
    return train_coreference(seed=0, causal=True, steps=60)


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


# -- sentences ----------------------------------------------------------------------------

def words_of(pairs):
    return [(text.split(), noun) for text, noun in pairs]


def test_every_sentence_has_its_words_in_the_same_places():
    for words, noun in words_of(task.sentences() + task.sentences(held_out=True)):
        assert len(words) == task.LENGTH and words[task.IT] == "it"
        assert words[task.LAST] in task.TIRED + task.WIDE and noun in (words[task.FIRST], words[task.SECOND])


def test_the_held_out_pairs_never_meet_in_training_but_each_word_does():
    seen = words_of(task.sentences())
    together = {frozenset((words[task.FIRST], words[task.SECOND])) for words, _ in seen}
    assert ("animal", "street") in task.HELD_OUT
    assert not together & {frozenset(pair) for pair in task.HELD_OUT}
    assert {word for words, _ in seen for word in words} == set(task.VOCABULARY)
    new = {frozenset((words[task.FIRST], words[task.SECOND])) for words, _ in words_of(task.sentences(held_out=True))}
    assert new == {frozenset(pair) for pair in task.HELD_OUT}


@pytest.mark.parametrize("held_out", [False, True])
def test_no_position_and_no_verb_decides_the_answer(held_out):
    first, by_verb, by_pair = Counter(), Counter(), Counter()
    for words, noun in words_of(task.sentences(held_out)):
        is_first = noun == words[task.FIRST]
        first[is_first] += 1
        by_verb[words[3], is_first] += 1
        by_pair[tuple(words[:task.LAST]), is_first] += 1
    assert first[True] == first[False]
    assert len(set(by_verb.values())) == 1 and len(set(by_pair.values())) == 1


def test_an_adjective_fits_one_kind_of_noun():
    for words, noun in words_of(task.sentences()):
        assert (noun in task.BEINGS) == (words[task.LAST] in task.TIRED)


def test_the_words_of_the_vocabulary_are_different():
    assert len(set(task.VOCABULARY)) == len(task.VOCABULARY)


def test_sentences_become_ids_with_or_without_the_full_stop():
    assert [task.VOCABULARY[i] for i in encode(TIRED)] == TIRED.split()
    assert torch.equal(encode(TIRED + "."), encode(TIRED))


@pytest.mark.parametrize("text, words", [
    (TIRED.replace("animal", "unicorn"), "unknown word 'unicorn'"),
    ("The animal was too tired", "5 words; expected 11"), ("", "0 words; expected 11"),
])
def test_a_sentence_outside_the_family_is_refused(text, words):
    with pytest.raises(ValueError, match=words):
        encode(text)


def test_batches_are_drawn_from_the_generator():
    draws = [task.batch(16, torch.Generator().manual_seed(seed)) for seed in (0, 0, 1)]
    assert draws[0][0].shape == (16, 11) and draws[0][1].shape == (16,)
    assert torch.equal(draws[0][0], draws[1][0]) and not torch.equal(draws[0][0], draws[2][0])
    tokens, answers = task.batch(50, torch.Generator().manual_seed(0), held_out=True)
    assert all((task.NOUNS[a] in [task.VOCABULARY[i] for i in t]) for t, a in zip(tokens, answers, strict=True))


# -- the model ----------------------------------------------------------------------------

def test_scores_for_every_noun_and_weights_for_every_layer_and_head():
    scores, weights = CoreferenceModel(3, n_heads=4)(torch.stack([encode(TIRED), encode(WIDE)]))
    assert scores.shape == (2, 24) and weights.shape == (2, 3, 4, 11, 11)
    assert torch.allclose(weights.sum(-1), torch.ones((), dtype=torch.float64))


def test_more_words_than_learned_positions_is_an_error_that_names_both():
    with pytest.raises(ValueError, match="length 12; expected at most 11"):
        CoreferenceModel()(torch.zeros(2, 12, dtype=torch.long))


def test_two_layers_resolve_word_pairs_never_seen_together(two_layers):
    model, report = two_layers
    assert report.accuracy >= 0.99 and report.between >= 0.99
    assert report.accuracy == task.accuracy(model) and task.accuracy(model, held_out=False) >= 0.99
    assert read(model, TIRED).answer["animal"] > 0.9 and read(model, WIDE).answer["street"] > 0.9


def test_swapping_the_nouns_does_not_change_who_is_tired(two_layers):
    model, _ = two_layers
    assert read(model, task.sentence("street", "suit", "animal", "tired")).answer["animal"] > 0.9
    assert read(model, task.sentence("street", "suit", "animal", "wide")).answer["street"] > 0.9


def test_a_causal_model_gives_it_the_same_answer_for_both_last_words(causal):
    model, report = causal
    assert report.between == 0.5
    assert read(model, TIRED).answer == read(model, WIDE).answer
    assert torch.equal(read(model, TIRED).weights[..., task.IT, :], read(model, WIDE).weights[..., task.IT, :])
    assert (read(model, TIRED).weights.triu(1) == 0).all()


def test_a_causal_model_that_is_read_at_the_last_word_resolves_it():
    _, report = train_coreference(seed=0, n_layers=1, causal=True, read_at=task.LAST)
    assert report.accuracy >= 0.99


def test_training_depends_on_its_seed_alone():
    state = torch.get_rng_state()
    losses = [train_coreference(seed, steps=8)[1].loss for seed in (0, 0, 1)]
    assert losses[0] == losses[1] != losses[2]
    assert torch.equal(state, torch.get_rng_state())


def test_training_gives_the_same_numbers_with_two_threads():
    one = train_coreference(seed=0, steps=10)[1].loss
    torch.set_num_threads(2)
    assert train_coreference(seed=0, steps=10)[1].loss == pytest.approx(one, rel=1e-9)


# -- looking inside -----------------------------------------------------------------------

def test_a_reading_holds_words_weights_and_the_two_nouns(two_layers):
    reading = read(two_layers[0], TIRED)
    assert reading.words == TIRED.split() and reading.weights.shape == (2, 1, 11, 11)
    assert set(reading.answer) == {"animal", "street"} and 0.9 < sum(reading.answer.values()) <= 1


def test_in_one_layer_the_last_word_cannot_move_it_between_the_nouns(one_layer):
    assert max(two_hop(one_layer, text, seed) for text in (TIRED, WIDE) for seed in range(3)) < 1e-13


def test_in_two_layers_it_can(two_layers):
    assert two_hop(two_layers[0]) > 0.1


def test_under_a_causal_mask_it_cannot_at_any_depth(causal):
    assert two_hop(causal[0]) == 0
    deep = CoreferenceModel(5, n_heads=2, causal=True)
    assert two_hop(deep) == 0 and two_hop(CoreferenceModel(5, n_heads=2)) > 1e-13


def test_a_cut_sets_one_weight_to_zero_and_renormalises_its_row(two_layers):
    model, _ = two_layers
    whole, after = read(model, TIRED), cut(model, TIRED, 0, "it", "animal")
    expected = whole.weights[0, 0].clone()
    expected[task.IT, task.FIRST] = 0
    expected /= expected.sum(-1, keepdim=True)
    assert torch.allclose(after.weights[0, 0], expected, atol=1e-12)
    assert after.weights[0, 0, task.IT, task.FIRST] == 0


def test_a_cut_in_the_last_layer_leaves_the_layers_before_it_and_changes_the_answer(two_layers):
    model, _ = two_layers
    whole = read(model, TIRED)
    strongest = whole.weights[1, 0, task.IT].argmax().item()
    after = cut(model, TIRED, 1, task.IT, strongest)
    assert torch.equal(after.weights[0], whole.weights[0])
    assert after.answer["animal"] < whole.answer["animal"] - 0.05


def test_a_cut_touches_one_head_only():
    model = CoreferenceModel(1, n_heads=2)
    whole, after = read(model, TIRED), cut(model, TIRED, 0, "it", "street", head=1)
    assert torch.equal(after.weights[0, 0], whole.weights[0, 0])
    assert after.weights[0, 1, task.IT, task.SECOND] == 0


@pytest.mark.parametrize("where, words", [
    ((2, "it", "animal"), r"layer is 2; expected one of 0..1"), ((0, "it", "unicorn"), "key is 'unicorn'"),
    ((0, 11, 0), "query is 11; expected a word of the sentence or a place in 0..10"),
    ((0, "it", "animal", 1), "head is 1; expected one of 0..0"),
])
def test_a_cut_that_is_nowhere_is_refused(where, words):
    with pytest.raises(ValueError, match=words):
        cut(CoreferenceModel(2), TIRED, *where)


# -- data for the widget ------------------------------------------------------------------

def test_the_explorer_gets_small_plain_data(two_layers, causal):
    data = explorer_data([two_layers, causal])
    assert data["words"] == {"tired": TIRED.split(), "wide": WIDE.split()}
    assert [m["causal"] for m in data["models"]] == [False, True]
    assert len(json.dumps(data, separators=(",", ":"))) < 2 * 9000
    for model, (trained, report) in zip(data["models"], (two_layers, causal), strict=True):
        assert (model["seed"], model["layers"], model["heads"]) == (0, 2, 1)
        assert model["accuracy"] == pytest.approx(report.accuracy, abs=5e-4)
        for name, text in task.READINGS.items():
            weights = torch.tensor(model["readings"][name]["weights"], dtype=torch.float64)
            assert torch.allclose(weights, read(trained, text).weights, atol=5.1e-4)
            assert set(model["readings"][name]["answer"]) == {"animal", "street"}


def test_the_explorers_cuts_are_those_of_the_row_that_is_read(two_layers, causal):
    data = explorer_data([two_layers, causal])
    for model, (trained, _), visible in zip(data["models"], (two_layers, causal), (11, 8), strict=True):
        cuts = model["readings"]["wide"]["cuts"]
        assert [(c["layer"], c["key"]) for c in cuts] == [(i, key) for i in range(2) for key in range(visible)]
        one = cuts[5]
        after = cut(trained, WIDE, one["layer"], one["query"], one["key"], one["head"]).answer
        assert one["query"] == task.IT and one["answer"] == pytest.approx(after, abs=5.1e-4)
