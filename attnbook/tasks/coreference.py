"""Which noun does "it" mean? A family of sentences like

    The animal didn't cross the street because it was too tired / wide

and a small attention model that learns to answer (chapter 1). A being can be tired and a way can be wide, never
the other way round, so the last word decides. Either noun may come first, so no position decides alone.

The pairs in HELD_OUT (animal and street among them) never occur together in training, though each word does.
The sentence pair is from Uszkoreit 2017, "Transformer: A Novel Neural Network Architecture for Language Understanding".
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnbook import _checks
from attnbook.attention import SelfAttention
from attnbook.training import fit

BEINGS = ("animal", "dog", "cat", "horse", "cow", "goat", "fox", "sheep", "duck", "bear", "wolf", "deer")
WAYS = ("street", "road", "river", "bridge", "field", "square", "path", "yard", "lane", "track", "meadow", "stream")
TIRED = ("tired", "hungry", "sleepy", "scared", "thirsty", "lazy")  # what a being can be
WIDE = ("wide", "narrow", "icy", "flooded", "slippery", "sunny")  # what a way can be
BEING_FIRST = ("cross", "leave")  # The animal didn't cross the street ...
WAY_FIRST = ("suit", "tempt")  # The street didn't suit the animal ...

NOUNS = BEINGS + WAYS
HELD_OUT = tuple(zip(BEINGS, WAYS, strict=True))
VOCABULARY = ("The", "the", "didn't", "because", "it", "was", "too", *BEING_FIRST, *WAY_FIRST, *NOUNS, *TIRED, *WIDE)
LENGTH, FIRST, SECOND, IT, LAST = 11, 1, 5, 7, 10  # words in a sentence; places of the nouns, of "it", of the adjective
READINGS = {
    "tired": "The animal didn't cross the street because it was too tired",
    "wide": "The animal didn't cross the street because it was too wide",
}

_ID = {word: i for i, word in enumerate(VOCABULARY)}


# -- sentences ----------------------------------------------------------------------------

def sentence(first: str, verb: str, second: str, adjective: str) -> str:
    """The one frame of the family, filled in."""
    return f"The {first} didn't {verb} the {second} because it was too {adjective}"


def sentences(held_out: bool = False) -> list[tuple[str, str]]:
    """Every (sentence, noun that "it" means) of training, or of the held-out word pairs."""
    found = []
    for being, way, adjective in product(BEINGS, WAYS, TIRED + WIDE):
        if ((being, way) in HELD_OUT) == held_out:
            meant = being if adjective in TIRED else way
            found += [(sentence(being, verb, way, adjective), meant) for verb in BEING_FIRST]
            found += [(sentence(way, verb, being, adjective), meant) for verb in WAY_FIRST]
    return found


def encode(text: str) -> Int[Tensor, "L"]:
    """Word ids of a sentence. Raises ValueError for a word outside VOCABULARY or another length than LENGTH."""
    words = text.rstrip(".").split()
    unknown = [word for word in words if word not in _ID]
    if unknown:
        raise ValueError(f"text has the unknown word {unknown[0]!r}; expected words of VOCABULARY")
    if len(words) != LENGTH:
        raise ValueError(f"text has {len(words)} words; expected {LENGTH}")
    return torch.tensor([_ID[word] for word in words])


def examples(held_out: bool = False) -> tuple[Int[Tensor, "N L"], Int[Tensor, "N"]]:
    """All sentences() as word ids (N, 11) and answers (N,), each answer an index into NOUNS."""
    pairs = sentences(held_out)
    return torch.stack([encode(text) for text, _ in pairs]), torch.tensor([NOUNS.index(noun) for _, noun in pairs])


def batch(size: int, generator: torch.Generator, held_out: bool = False) -> tuple[Tensor, Tensor]:
    """A random draw of `size` examples: word ids (size, 11) and answers (size,)."""
    tokens, answers = examples(held_out)
    chosen = torch.randint(len(answers), (size,), generator=generator)
    return tokens[chosen], answers[chosen]


# -- the model ----------------------------------------------------------------------------

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


def train_coreference(seed=0, n_layers=2, causal=False, read_at=IT, n_heads=1, steps=250):
    """Train one model (Adam 1e-2, 64 sentences a step) and test it on the held-out word pairs.

    Returns (model, report). The global random state is left as it was.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = CoreferenceModel(n_layers, n_heads=n_heads, causal=causal, read_at=read_at)
    tokens, answers = examples()

    def loss(generator):
        chosen = torch.randint(len(answers), (64,), generator=generator)
        return nn.functional.cross_entropy(model(tokens[chosen])[0], answers[chosen])

    history = fit(model, loss, steps=steps, lr=1e-2, seed=seed)
    report = Report(seed, n_layers, causal, read_at, history.loss[-1], accuracy(model), between(model))
    return model.requires_grad_(False), report


def accuracy(model: CoreferenceModel, held_out: bool = True) -> float:
    """Share of sentences whose highest score, among all 24 nouns, is the noun that "it" means."""
    tokens, answers = examples(held_out)
    with torch.no_grad():
        return (model(tokens)[0].argmax(-1) == answers).double().mean().item()


def between(model: CoreferenceModel, held_out: bool = True) -> float:
    """Share of sentences in which the right noun scores higher than the other noun of the sentence; a tie counts half.

    A model that cannot see the last word gives "tired" and "wide" the same answer: exactly 0.5.
    """
    tokens, answers = examples(held_out)
    nouns = torch.tensor([NOUNS.index(word) if word in NOUNS else -1 for word in VOCABULARY])
    with torch.no_grad():
        scores = model(tokens)[0]
    first, second = (scores.gather(-1, nouns[tokens[:, place], None]).squeeze(-1) for place in (FIRST, SECOND))
    lead = torch.where(nouns[tokens[:, FIRST]] == answers, first - second, second - first)
    return (lead.sign() / 2 + 0.5).mean().item()


# -- looking inside -----------------------------------------------------------------------

class Reading(NamedTuple):
    """What a model did with one sentence."""

    words: list[str]
    weights: Float[Tensor, "layers H L L"]
    answer: dict[str, float]  # probability of each noun of the sentence, out of all 24


def read(model: CoreferenceModel, text: str, masks: dict[int, Tensor] | None = None) -> Reading:
    """Run one sentence: its words, the weights of every layer and head, the probability of its two nouns."""
    words = text.rstrip(".").split()
    with torch.no_grad():
        scores, weights = model(encode(text), masks)
    probability = scores.softmax(-1)
    nouns = (words[FIRST], words[SECOND])
    return Reading(words, weights, {noun: probability[NOUNS.index(noun)].item() for noun in nouns})


def cut(model: CoreferenceModel, text: str, layer: int, query: int | str, key: int | str, head: int = 0) -> Reading:
    """The same run after one weight is set to 0 and its row divided by its new sum.

    query, key: place or word. Setting a weight to 0 and dividing by the rest is the same as hiding the key: a mask.
    Compare .answer with that of read(model, text). Raises ValueError for a layer, head, place or word not there.
    """
    words, n_heads = text.rstrip(".").split(), model.layers[0].n_heads
    for name, value, count in (("layer", layer, len(model.layers)), ("head", head, n_heads)):
        if value not in range(count):
            raise ValueError(f"{name} is {value!r}; expected one of 0..{count - 1}")
    mask = torch.ones(n_heads, LENGTH, LENGTH, dtype=torch.bool)
    mask[head, _place("query", query, words), _place("key", key, words)] = False
    return read(model, text, {layer: mask})


def _place(name, where, words):
    """The index of a word given by its index or by itself."""
    if isinstance(where, str) and where in words:
        return words.index(where)
    if isinstance(where, int) and where in range(len(words)):
        return where
    raise ValueError(f"{name} is {where!r}; expected a word of the sentence or a place in 0..{len(words) - 1}")


def two_hop(model: CoreferenceModel, text: str = READINGS["tired"], seed: int = 0) -> float:
    """Does the last word move "it" between the two nouns? Its vector is replaced by a random one of the same norm.

    Returns the relative change of weight(it, first noun) / weight(it, second noun) in the last layer, the largest
    over heads. In one layer the last word is in neither score, so the ratio cannot change: 0 up to rounding.
    """
    stream = model.embed(encode(text)).detach()
    noise = torch.randn(stream.shape[-1], dtype=stream.dtype, generator=torch.Generator().manual_seed(seed))
    changed = stream.clone()
    changed[LAST] = noise * stream[LAST].norm() / noise.norm()
    before, after = (_ratio(model.run(x)[1][-1]) for x in (stream, changed))
    return (after / before - 1).abs().max().item()


def _ratio(weights):
    """weight(it, first noun) / weight(it, second noun) for each head."""
    return (weights[:, IT, FIRST] / weights[:, IT, SECOND]).detach()


# -- data for the explorer ----------------------------------------------------------------

def explorer_data(models: Iterable, readings: dict[str, str] = READINGS, digits: int = 3) -> dict:
    """All that the CoreferenceExplorer widget shows, as plain rounded numbers (schema: attnbook/widgets/coreference.py).

    models: (model, report) pairs from train_coreference, or seeds, which are trained here with its defaults.
    """
    pairs = [train_coreference(item) if isinstance(item, int) else item for item in models]
    return {
        "words": {name: text.split() for name, text in readings.items()},
        "models": [_entry(model, report, readings, digits) for model, report in pairs],
    }


def _entry(model, report, readings, digits):
    return {
        "seed": report.seed, "causal": report.causal,
        "layers": len(model.layers), "heads": model.layers[0].n_heads,
        "accuracy": round(report.accuracy, digits),
        "readings": {name: _reading(model, text, digits) for name, text in readings.items()},
    }


def _reading(model, text, digits):
    """Weights and answer of one sentence, and the answer after each single weight in the row that is read is cut."""
    whole, query = read(model, text), model.read_at
    cuts = [
        {"layer": layer, "head": head, "query": query, "key": key,
         "answer": _rounded(cut(model, text, layer, query, key, head).answer, digits)}
        for layer, head, key in product(range(len(model.layers)), range(model.layers[0].n_heads), range(LENGTH))
        if not (model.causal and key > query)
    ]
    return {"answer": _rounded(whole.answer, digits), "weights": _nested(whole.weights.tolist(), digits), "cuts": cuts}


def _rounded(answer, digits):
    return {noun: round(p, digits) for noun, p in answer.items()}


def _nested(values, digits):
    return round(values, digits) if isinstance(values, float) else [_nested(v, digits) for v in values]
