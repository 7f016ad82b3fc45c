"""The character model and its text: what it may read, how it writes, and how a text is measured."""

import math
from functools import partial

import pytest
import torch

from attnbook.softmax import sample
from attnbook.tasks import characters


@pytest.fixture(scope="module")
def model():
    return characters.train_characters(seed=0, steps=40)[0]


def test_the_book_is_whole_clean_and_split():
    text, (seen, held_out) = characters.book(), characters.parts()
    assert text.startswith("CHAPTER I.") and text.endswith("happy summer days.\n") and seen + held_out == text
    assert 130_000 < len(text) < 160_000 and held_out.startswith("CHAPTER XII.") and "CHAPTER XI." in seen
    assert not set(text) & set("[]_*\r\t\ufeff") and "Gutenberg" not in text and "  " not in text
    assert len(characters.alphabet()) == len(set(text)) < 70


def test_ids_and_characters_are_inverse():
    text = "Alice was beginning\n"
    assert characters.decode(characters.encode(text)) == text
    with pytest.raises(ValueError, match="the character '§'"):
        characters.encode("Alice §")


def test_no_character_sees_a_later_one(model):
    ids = characters.encode("Alice was beginning to get")[None]
    changed = ids.clone()
    changed[0, 15] = (changed[0, 15] + 1) % len(characters.alphabet())
    with torch.no_grad():
        moved = (model(ids) - model(changed)).abs().amax(-1)[0]
    assert moved[:15].max() == 0 and moved[15] > 0


def test_step_by_step_equals_all_at_once(model):
    ids = torch.stack([characters.encode("Alice was beginning"), characters.encode("There was nothing s")])
    with torch.no_grad():
        whole, past, pieces = model(ids), None, []
        for piece in ids.split([1, 2, 9, 7], 1):
            logits, past = model.step(piece, past)
            pieces.append(logits)
    assert torch.allclose(torch.cat(pieces, 1), whole, atol=1e-4)


def test_training_is_repeatable_learns_and_leaves_the_generator_alone():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    one, two = (characters.train_characters(seed=3, steps=25)[1].loss for _ in range(2))
    assert one == two and one[-1] < one[0] - 0.5 and torch.equal(before, torch.get_rng_state())


def test_writing_continues_each_prompt(model):
    def choose():
        return partial(sample, temperature=1.0, generator=torch.Generator().manual_seed(0))

    one = characters.write(model, choose(), ["Alice ", "Queen "], length=9)
    assert [len(text) for text in one] == [9, 9] and one == characters.write(model, choose(), ["Alice ", "Queen "], length=9)
    cold = characters.write(model, partial(sample, temperature=0), ["\n"] * 2, length=5)
    assert cold[0] == cold[1]
    for prompts in ([], ["a", "bb"], [""]):
        with pytest.raises(ValueError, match="expected one length"):
            characters.write(model, prompts=prompts)


def test_bits_of_an_untrained_model_are_about_those_of_a_guess():
    torch.manual_seed(0)
    guess = characters.CharacterModel()
    bits = characters.bits_per_character(guess, characters.windows(characters.parts()[1], 50)[:20])
    assert bits == pytest.approx(math.log2(len(characters.alphabet())), rel=0.2)


def test_measures_of_a_text():
    loop, plain = "the cat the cat the cat", "Alice sat by her sister"
    assert characters.words("'Oh dear!' said--Alice") == ["oh", "dear", "said", "alice"]
    assert characters.distinct([loop]) == 2 / 6 and characters.distinct([plain, plain]) == 5 / 10
    assert characters.repeated([loop]) == 3 / 5 and characters.repeated([plain, plain]) == 0
    assert characters.spelt(["xx Alice qzx dear yy"]) == 2 / 3
    assert characters.windows("abcdefg", 3) == ["abc", "def"]
    assert characters.distinct([""]) == characters.repeated([""]) == characters.spelt([""]) == 0
