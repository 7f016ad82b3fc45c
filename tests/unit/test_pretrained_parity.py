"""The models rebuilt from the book's parts against transformers: stream, every head's attention, logits, tokens."""

import os

import pytest
import torch

from attnbook.pretrained import MINILM, SMOLLM2, installed, locate

TEXTS = [
    "The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.",
    "When the old sailor finally reached the harbor, he sold his boat and bought a small house near the church.",
    "Café, naïve résumé: 3.14159 costs $27 (or 50% of it) in 1984!",
    "注意力就是路由。",
    "It",
    "def attention(q, k, v):\n    return softmax(q @ k.T / d ** 0.5) @ v",
    "to be or not to be, that is the question; " * 6,
    "  spaces   and\ttabs, antidisestablishmentarianism - and a dash - end",
]
CLOSE = {"atol": 1e-4, "rtol": 0}

pytestmark = pytest.mark.skipif(
    not (installed(MINILM) and installed(SMOLLM2)),
    reason="the trained models are not installed; `make models` installs them")


@pytest.fixture(scope="module", autouse=True)
def offline():
    os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture(scope="module")
def encoders():
    from transformers import AutoTokenizer, BertModel

    from attnbook.pretrained.minilm import load_minilm

    folder = locate(MINILM)[MINILM.weights].parent
    theirs = BertModel.from_pretrained(folder, attn_implementation="eager", add_pooling_layer=False).eval()
    return load_minilm(), theirs, AutoTokenizer.from_pretrained(folder)


@pytest.fixture(scope="module")
def decoders():
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from attnbook.pretrained.smollm2 import load_smollm2

    path = locate(SMOLLM2)[SMOLLM2.weights]
    where = {"pretrained_model_name_or_path": path.parent, "gguf_file": path.name}
    theirs = AutoModelForCausalLM.from_pretrained(**where, attn_implementation="eager", dtype=torch.float32).eval()
    return load_smollm2(), theirs, AutoTokenizer.from_pretrained(**where)


@pytest.mark.parametrize("text", TEXTS)
def test_encoder_equals_transformers(encoders, text):
    ours, theirs, tokenizer = encoders
    ids = ours.encode(text)
    assert ids.tolist() == tokenizer(text).input_ids
    trace = ours(text)
    with torch.no_grad():
        out = theirs(ids[None], output_hidden_states=True, output_attentions=True)
    torch.testing.assert_close(trace.stream, torch.stack(out.hidden_states)[:, 0], **CLOSE)
    torch.testing.assert_close(trace.weights, torch.stack(out.attentions)[:, 0], **CLOSE)
    assert trace.weights.shape == (6, 12, len(ids), len(ids))


@pytest.mark.parametrize("text", TEXTS)
def test_decoder_equals_transformers(decoders, text):
    ours, theirs, tokenizer = decoders
    ids = ours.encode(text)
    assert ids.tolist() == tokenizer(text).input_ids and ours.decode(ids) == text
    trace = ours(text)
    with torch.no_grad():
        out = theirs(ids[None], output_hidden_states=True, output_attentions=True)
    torch.testing.assert_close(trace.logits, out.logits[0], **CLOSE)
    torch.testing.assert_close(trace.weights, torch.stack(out.attentions)[:, 0], **CLOSE)
    last = ours._norm(trace.stream[-1], "output_norm")  # transformers norms what it calls the last hidden state
    theirs_stream = torch.stack(out.hidden_states)[:, 0]
    size = theirs_stream.abs().amax(-1, keepdim=True).clamp(min=1)  # one feature reaches thousands: rounding grows with it
    torch.testing.assert_close(torch.cat([trace.stream[:-1], last[None]]) / size, theirs_stream / size, **CLOSE)
    assert trace.weights.shape == (30, 9, len(ids), len(ids))


def test_logits_alone_are_those_of_the_trace_and_writing_repeats(decoders):
    ours = decoders[0]
    ids = ours.encode(TEXTS[0])
    torch.testing.assert_close(ours.logits(ids), ours(ids).logits, **CLOSE)
    assert (ours.logits(ids, turn=False) - ours.logits(ids)).abs().max() > 1  # the switch does something
    assert ours.write("The capital of France is", 1) == [" Paris"]
    warm = [ours.write("Once upon a time", 6, temperature=1.0, seed=3, copies=2) for _ in range(2)]
    assert warm[0] == warm[1] and warm[0][0] != warm[0][1]


def test_edits_silence_heads_and_hide_keys(encoders):
    from attnbook.pretrained.edits import only, silence

    ours = encoders[0]
    plain = ours(TEXTS[0])
    quiet = ours(TEXTS[0], edit=silence([(3, 1), (3, 4)]))
    assert (quiet.weights[3, [1, 4]] == 0).all() and torch.equal(quiet.weights[:3], plain.weights[:3])
    assert torch.equal(quiet.weights[3, 2], plain.weights[3, 2]) and (quiet.stream[-1] - plain.stream[-1]).norm() > 0.1
    mask = torch.ones(len(plain.tokens), len(plain.tokens), dtype=torch.bool)
    mask[:, 0] = False
    hidden = ours(TEXTS[0], edit=only(mask, first_layer=2)).weights
    assert torch.equal(hidden[:2], plain.weights[:2]) and (hidden[2:, :, :, 0] == 0).all()
    torch.testing.assert_close(hidden.sum(-1), torch.ones_like(hidden[..., 0]))


def test_a_word_of_several_pieces_is_found(encoders, decoders):
    for model in (encoders[0], decoders[0]):
        trace = model("The antidisestablishmentarian slept, the cat slept.")
        long = trace.place("antidisestablishmentarian")
        assert len(long) > 1 and long == list(range(long[0], long[-1] + 1))
        assert trace.place("slept", last=True) > trace.place("slept")
        assert trace.looks("cat", "antidisestablishmentarian").shape == trace.weights.shape[:2]
        with pytest.raises(ValueError, match="word is 'dog'"):
            trace.place("dog")
