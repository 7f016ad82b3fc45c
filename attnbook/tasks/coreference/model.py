"""A small model that names the noun "it" means: attention layers and nothing else between embedding and read-out."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnbook import _checks
from attnbook.attention import SelfAttention
from attnbook.tasks.coreference.sentences import FIRST, IT, LENGTH, NOUNS, SECOND, VOCABULARY, examples
from attnbook.training import fit


class CoreferenceModel(nn.Module):
    """Embedding + learned positions + layers of SelfAttention, each added to its input, + a linear read-out.

    No MLP and no norm: what it finds, attention found. The answer, a score for each of NOUNS, is read
    from ONE place, read_at (IT or LAST). All numbers are float64.

    forward(tokens, masks={}): tokens (..., 11) -> scores (..., 24) and weights (..., n_layers, H, 11, 11);
    masks maps a layer to its mask, True = may attend.
    """

    def __init__(self, n_layers=2, *, d_model=32, n_heads=1, causal=False, read_at=IT):
        super().__init__()
        _checks.whole_number("n_layers", n_layers, minimum=1)
        self.causal, self.read_at = causal, read_at
        self.embedding = nn.Embedding(len(VOCABULARY), d_model)
        self.position = nn.Parameter(torch.randn(LENGTH, d_model))
        self.layers = nn.ModuleList(SelfAttention(d_model, n_heads, causal=causal) for _ in range(n_layers))
        self.answer = nn.Linear(d_model, len(NOUNS))
        with torch.no_grad():  # large embeddings are learned by heart, pair by pair; small ones are not
            self.embedding.weight.mul_(0.1)
            self.position.mul_(0.1)
        self.double()

    def embed(self, tokens: Int[Tensor, "... L"]) -> Float[Tensor, "... L d"]:
        """The stream before the first layer."""
        if tokens.shape[-1] > LENGTH:
            raise ValueError(f"tokens has length {tokens.shape[-1]}; expected at most {LENGTH}, the learned positions")
        return self.embedding(tokens) + self.position[:tokens.shape[-1]]

    def run(self, stream, masks=None):
        """All layers: the stream after the last one and the weights of each."""
        weights = []
        for i, layer in enumerate(self.layers):
            change, w = layer(stream, mask=(masks or {}).get(i))
            stream = stream + change
            weights.append(w)
        return stream, torch.stack(weights, -4)

    def forward(self, tokens, masks=None):
        stream, weights = self.run(self.embed(tokens), masks)
        return self.answer(stream[..., self.read_at, :]), weights


@dataclass(frozen=True)
class Report:
    """How a training went: its settings, the last loss, and two accuracies on the held-out word pairs.

    accuracy: the right noun out of all 24. between: the right one of the sentence's own two (chance is 0.5).
    """

    seed: int
    n_layers: int
    causal: bool
    read_at: int
    loss: float
    accuracy: float
    between: float


def train_coreference(seed=0, n_layers=2, causal=False, read_at=IT, n_heads=1, steps=250, data=None):
    """Train one model (AdamW 1e-2, weight decay 0.1, 64 sentences a step) and test it on the held-out word pairs.

    data: other sentences to train on, as examples() returns them (None: all of training).
    Returns (model, report). The global random state is left as it was.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = CoreferenceModel(n_layers, n_heads=n_heads, causal=causal, read_at=read_at)
    tokens, answers = examples() if data is None else data

    def loss(generator):
        chosen = torch.randint(len(answers), (64,), generator=generator)
        return nn.functional.cross_entropy(model(tokens[chosen])[0], answers[chosen])

    history = fit(model, loss, steps=steps, lr=1e-2, weight_decay=0.1, seed=seed)
    report = Report(seed, n_layers, causal, read_at, history.loss[-1], accuracy(model), between(model))
    return model.requires_grad_(False), report


def accuracy(model: CoreferenceModel, held_out: bool = True, data=None) -> float:
    """Share of sentences whose highest score, among all 24 nouns, is the noun that "it" means."""
    tokens, answers = examples(held_out) if data is None else data
    with torch.no_grad():
        return (model(tokens)[0].argmax(-1) == answers).double().mean().item()


def between(model: CoreferenceModel, held_out: bool = True, data=None) -> float:
    """Share of sentences in which the right noun scores higher than the other noun of the sentence; a tie counts half.

    A model that cannot see the last word gives "tired" and "wide" the same answer: exactly 0.5.
    """
    tokens, answers = examples(held_out) if data is None else data
    with torch.no_grad():
        lead = lead_of_first(model(tokens)[0], tokens)
    right_first = nouns_of(tokens)[0] == answers
    return (torch.where(right_first, lead, -lead).sign() / 2 + 0.5).mean().item()


def nouns_of(tokens: Int[Tensor, "... L"]) -> tuple[Int[Tensor, "..."], Int[Tensor, "..."]]:
    """The two nouns of each sentence, as indices into NOUNS."""
    nouns = torch.tensor([NOUNS.index(word) if word in NOUNS else -1 for word in VOCABULARY])
    return nouns[tokens[..., FIRST]], nouns[tokens[..., SECOND]]


def lead_of_first(scores: Float[Tensor, "... 24"], tokens: Int[Tensor, "... L"]) -> Float[Tensor, "..."]:
    """How far the score of the first noun of a sentence lies above that of the second."""
    first, second = (scores.gather(-1, noun[..., None]).squeeze(-1) for noun in nouns_of(tokens))
    return first - second
