"""The recorder sees the stream of lists, of our models and of torch's; what is measured on it is right."""

import pytest
import torch
from torch import nn

from attnbook.stacks import transformer_stack
from attnbook.stream import cosines, gradient_norms, record_stream, spreads, word_accuracy
from attnbook.tasks import characters
from attnbook.tasks.coreference.model import CoreferenceModel

X = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(1))


# -- the recorder ----------------------------------------------------------------------------

def test_a_module_list_is_run_layer_by_layer():
    layers = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 3)])
    states = record_stream(layers, X)
    assert len(states) == 3 and states[0] is X
    assert torch.equal(states[2], layers[1](layers[0](X))) and states[2].shape == (2, 5, 3)
    assert torch.equal(record_stream(list(layers), X)[2], record_stream(nn.Sequential(*layers), X)[2])


def test_layers_that_return_changes_are_added_if_asked():
    layers = [nn.Linear(8, 8), nn.Linear(8, 8)]
    states = record_stream(layers, X, adds=True)
    assert torch.equal(states[1], X + layers[0](X))
    assert torch.equal(states[2], states[1] + layers[1](states[1]))


def test_a_stack_is_watched_and_ends_before_its_final_norm():
    net = transformer_stack(3, 8, 2, "pre")
    states = record_stream(net, X)
    assert len(states) == 7 and torch.equal(states[0], X)
    assert torch.equal(net.final(states[-1]), net(X))
    assert torch.equal(states[1], net.layers[0](X))


def test_a_model_whose_layers_return_changes_is_found_out():
    torch.manual_seed(0)
    model = CoreferenceModel(3)
    tokens = torch.arange(11)[None]
    states = record_stream(model, tokens)
    assert torch.equal(states[0], model.embed(tokens)) and len(states) == 4
    assert torch.allclose(states[-1], model.run(model.embed(tokens))[0], atol=1e-12)


def test_named_layers_give_what_enters_them():
    torch.manual_seed(0)
    model = characters.CharacterModel()
    ids = torch.zeros(1, 6, dtype=torch.long)
    states = record_stream(model, ids, layers=[model.norm, model.network, model.read_out])
    assert len(states) == 3 and len({s.shape for s in states}) == 1
    assert torch.allclose(model.read_out(states[2]), model(ids))
    assert torch.allclose(states[2], states[1] + model.network(states[1]))


def test_torchs_own_encoder_is_watched():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True)
    encoder = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False).train()
    states = record_stream(encoder, X)
    assert len(states) == 4 and torch.equal(states[0], X)


def test_hooks_are_gone_afterwards_even_after_an_error():
    net = transformer_stack(1, 8)
    with pytest.raises(ValueError):
        record_stream(net, X[..., :7])
    record_stream(net, X)
    assert not any(layer._forward_hooks for layer in net.layers)


class Forgetful(nn.Module):
    def __init__(self, n, used):
        super().__init__()
        self.parts, self.used = nn.ModuleList(nn.Linear(8, 8) for _ in range(n)), used

    def forward(self, x):
        for part in self.parts[:self.used]:
            x = part(x) * 3
        return x


@pytest.mark.parametrize("model, options, words", [
    (nn.Linear(8, 8), {}, "Linear has no ModuleList"),
    (nn.ModuleList(), {}, "empty list"),
    (Forgetful(3, 2), {}, r"layer 2 \(Linear\) did not run"),
    (Forgetful(1, 1), {}, "one layer"),
    (Forgetful(2, 2), {}, "neither the first one's output nor"),
])
def test_what_cannot_be_recorded_is_named(model, options, words):
    with pytest.raises(ValueError, match=words):
        record_stream(model, X, **options)


def test_one_layer_is_recorded_when_told_how():
    model = Forgetful(1, 1)
    assert torch.equal(record_stream(model, X, adds=True)[1], X + model.parts[0](X))
    assert torch.equal(record_stream(model, X, adds=False)[1], model.parts[0](X))


# -- measured --------------------------------------------------------------------------------

def test_gradients_of_a_chain_are_its_gains():
    x = torch.ones(3, 4, dtype=torch.float64, requires_grad=True)
    states = record_stream([lambda t: 0.5 * t, lambda t: 3 * t], x)
    assert gradient_norms(states).tolist() == pytest.approx([1.5, 3.0, 1.0])


def test_a_state_that_nothing_depends_on_has_gradient_zero():
    x = torch.ones(3, 4, requires_grad=True)
    states = record_stream([lambda t: t * 2, lambda t: torch.ones_like(t) * x.sum()], x)
    assert gradient_norms(states)[1] == 0


def test_cosines_and_spreads_at_their_ends():
    x = torch.randn(2, 6, 8, generator=torch.Generator().manual_seed(0))
    assert cosines([x, 2 * x, -x]).tolist() == pytest.approx([1, 1, -1], abs=1e-6)
    merged = x.mean(-2, keepdim=True).expand_as(x)
    assert spreads([x, merged]).tolist()[1] == pytest.approx(0, abs=1e-6) and spreads([x])[0] > 0.5


def test_words_are_named_where_they_can_be_and_not_otherwise():
    g = torch.Generator().manual_seed(0)
    words = torch.randint(10, (2000,), generator=g)
    table = torch.randn(10, 16, generator=g)
    noisy = table[words] + 0.3 * torch.randn(2000, 16, generator=g)
    assert word_accuracy(table[words], words, 10) == 1.0
    assert word_accuracy(noisy, words, 10) > 0.99
    assert word_accuracy(torch.randn(2000, 16, generator=g), words, 10) < 0.25
    assert word_accuracy(torch.zeros(2000, 16), words, 10) < 0.25  # all tokens the same
    mixed = noisy @ torch.randn(16, 16, generator=g) - 5
    assert word_accuracy(mixed, words, 10) == pytest.approx(word_accuracy(noisy, words, 10), abs=0.01)


def test_a_word_that_never_occurs_is_named():
    with pytest.raises(ValueError, match="word 3 does not occur in the first 80 states"):
        word_accuracy(torch.zeros(100, 4), torch.arange(100) % 3, 4)
