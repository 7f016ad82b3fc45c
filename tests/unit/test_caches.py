"""Cache sizes: the arithmetic, and the numbers of published models."""

import pytest

from attnbook.caches import PUBLISHED, Published, cached_numbers, kv_cache_bytes
from attnbook.claims.bibliography import references


@pytest.mark.parametrize("kv_heads, kib", [(32, 512), (8, 128), (1, 16)])
def test_the_cache_shrinks_with_the_heads_of_keys(kv_heads, kib):
    assert kv_cache_bytes(32, kv_heads, 128) == kib * 1024


def test_tokens_and_bits_multiply():
    assert kv_cache_bytes(2, 3, 5, 7, bits=4) == 2 * 2 * 3 * 5 * 7 * 4 / 8
    assert kv_cache_bytes(2, 3, 5, 0) == 0


def test_a_latent_takes_the_place_of_the_heads():
    assert cached_numbers(60, 128, 128, d_latent=576) == 60 * 576 == cached_numbers(60, 1, 1, d_latent=576)


@pytest.mark.parametrize("name, per_token", [
    ("GPT-3 175B", 2 * 96 * 96 * 128 * 2), ("Llama 3 8B", 131072), ("Llama 3 70B", 327680), ("Mistral 7B", 131072),
    ("DeepSeek 67B", 389120), ("DeepSeek-V2", 69120)])
def test_published_models_at_sixteen_bits(name, per_token):
    assert PUBLISHED[name].cache_bytes() == per_token == 2 * PUBLISHED[name].numbers()


def test_every_published_model_is_backed_by_a_reference_and_its_heads_fit():
    for name, model in PUBLISHED.items():
        assert model.name == name and model.reference and set(model.reference) <= set(references())
        assert model.n_heads % model.n_kv_heads == 0


def test_the_quoted_cut_is_architecture_and_bits_together():
    old, new = PUBLISHED["DeepSeek 67B"], PUBLISHED["DeepSeek-V2"]
    assert 1 - new.numbers() / old.numbers() == pytest.approx(0.8224, abs=1e-4)
    assert 1 - new.cache_bytes(bits=6) / old.cache_bytes() == pytest.approx(0.933, abs=5e-4)


@pytest.mark.parametrize("wrong, error, words", [
    ({"n_layers": 0}, ValueError, "n_layers is 0"), ({"n_kv_heads": 2.0}, TypeError, "n_kv_heads is float 2.0"),
    ({"d_head": -1}, ValueError, "d_head is -1"), ({"n_tokens": -1}, ValueError, "n_tokens is -1"),
    ({"bits": 0}, ValueError, "bits is 0"), ({"bits": True}, ValueError, "bits is True"),
    ({"bits": float("nan")}, ValueError, "bits is nan"), ({"d_latent": 0}, ValueError, "d_latent is 0")])
def test_sizes_that_make_no_sense_are_named(wrong, error, words):
    with pytest.raises(error, match=words):
        kv_cache_bytes(**{"n_layers": 2, "n_kv_heads": 2, "d_head": 4, **wrong})


def test_a_model_of_your_own():
    assert Published("mine", 2, 4, 2, 8, 128, ()).cache_bytes(10) == 2 * 2 * 2 * 8 * 10 * 2
