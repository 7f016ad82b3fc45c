"""A small language model that writes the next character, trained on one book in seconds (chapter 4).

The book is Lewis Carroll's "Alice's Adventures in Wonderland" (1865, public domain; data/README.md says where it comes
from). Training sees chapters I to XI, the last chapter is held out. Each place starts from its last four characters,
looks back once by causal attention, and passes through a small network. Each head's scores fall with distance at a
slope of its own (ALiBi, chapter 6), so a text may become longer than the windows of training.
"""

import math
import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnbook import _checks
from attnbook.attention import SelfAttention, attention, merge_heads
from attnbook.softmax import sample
from attnbook.training import History, fit

WIDTH, RECENT = 64, 4  # width of the stream; characters that a place starts from
SLOPES = (1.0, 1 / 4, 1 / 16, 1 / 64)  # one a head: how fast its scores fall with distance
WINDOW, BATCH, STEPS, LR = 64, 16, 400, 6e-3
HELD_OUT = "CHAPTER XII."


# -- the text -----------------------------------------------------------------------------

@cache
def book() -> str:
    """The whole text: one paragraph, or one line of verse, a line."""
    return resources.files(__package__).joinpath("data", "alice.txt").read_text(encoding="utf-8")


def parts() -> tuple[str, str]:
    """(text to train on, held-out text): chapters I to XI, and chapter XII."""
    text = book()
    cut = text.index(HELD_OUT)
    return text[:cut], text[cut:]


@cache
def alphabet() -> str:
    """The characters of the book, in order; a character's id is its place."""
    return "".join(sorted(set(book())))


def encode(text: str) -> Int[Tensor, "T"]:
    """Character ids of a text. Raises ValueError for a character that the book does not have."""
    ids = {character: i for i, character in enumerate(alphabet())}
    unknown = [character for character in text if character not in ids]
    if unknown:
        raise ValueError(f"text has the character {unknown[0]!r}; expected characters of alphabet()")
    return torch.tensor([ids[character] for character in text], dtype=torch.long)


def decode(ids: Int[Tensor, "T"]) -> str:
    """The text of character ids."""
    return "".join(alphabet()[i] for i in ids.tolist())


# -- the model ----------------------------------------------------------------------------

class CharacterModel(nn.Module):
    """Logits for the next character at every place: ids (B, T) -> (B, T, V)."""

    def __init__(self):
        super().__init__()
        size = len(alphabet())
        self.recent = nn.ModuleList(nn.Embedding(size + 1, WIDTH) for _ in range(RECENT))  # + 1: before the beginning
        for table in self.recent:
            nn.init.normal_(table.weight, std=0.3)
        self.norm, self.attend = nn.LayerNorm(WIDTH), SelfAttention(WIDTH, len(SLOPES), causal=True)
        self.network = nn.Sequential(
            nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.ReLU(), nn.Linear(4 * WIDTH, WIDTH))
        self.read_out = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, size))

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        return self.step(ids)[0]

    def step(self, ids, past=None):
        """Logits (B, L, V) of L new characters, and what the next step needs: the last ids, all keys, all values."""
        if past is None:
            earlier = ids.new_full((ids.shape[0], RECENT - 1), len(alphabet()))
        else:
            earlier, old_k, old_v = past
        seen = torch.cat([earlier, ids], 1)  # (B, RECENT - 1 + L)
        x = sum(table(seen[:, RECENT - 1 - back:seen.shape[1] - back]) for back, table in enumerate(self.recent))
        q, k, v = self.attend.project(self.norm(x))
        if past is not None:
            k, v = torch.cat([old_k, k], -2), torch.cat([old_v, v], -2)
        out, _ = attention(q, k, v, bias=_falling(q.shape[-2], k.shape[-2]), causal=True)
        x = x + self.attend.output(merge_heads(out))
        x = x + self.network(x)
        return self.read_out(x), (seen[:, seen.shape[1] - RECENT + 1:], k, v)


def _falling(L, S):
    """(1, H, L, S): minus slope times distance, the last query aligned with the last key."""
    distance = (torch.arange(S - L, S)[:, None] - torch.arange(S)).clamp(min=0)
    return -torch.tensor(SLOPES)[None, :, None, None] * distance


def train_characters(seed: int = 0, steps: int = STEPS) -> tuple[CharacterModel, History]:
    """A model trained on random windows of chapters I to XI with Adam; the same for the same seed."""
    ids = encode(parts()[0])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = CharacterModel()

    def loss(generator):
        starts = torch.randint(len(ids) - WINDOW, (BATCH,), generator=generator)
        windows = ids[starts[:, None] + torch.arange(WINDOW + 1)]  # (B, WINDOW + 1)
        return nn.functional.cross_entropy(model(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())

    return model, fit(model, loss, steps=steps, lr=LR, seed=seed, warm_up=20, clip=1.0)


# -- writing ------------------------------------------------------------------------------

@torch.no_grad()
def write(
    model: CharacterModel,
    choose: Callable[[Float[Tensor, "B V"]], Int[Tensor, "B"]] = sample,
    prompts: Sequence[str] = ("\n",),
    length: int = 200,
) -> list[str]:
    """Continue each prompt by `length` characters and return what was added; all prompts have one length.

    choose: logits (B, V) -> the next ids (B,), for example partial(sample, temperature=0.5, generator=g).
    """
    _checks.whole_number("length", length)
    if not prompts or len({len(prompt) for prompt in prompts} | {0}) != 2:
        raise ValueError(f"prompts have the lengths {[len(p) for p in prompts]}; expected one length of at least 1")
    added = torch.zeros(len(prompts), 0, dtype=torch.long)
    logits, past = model.step(torch.stack([encode(prompt) for prompt in prompts]))
    for _ in range(length):
        new = choose(logits[:, -1])[:, None]  # (B, 1)
        added = torch.cat([added, new], 1)
        logits, past = model.step(new, past)
    return [decode(row) for row in added]


# -- measuring a text ---------------------------------------------------------------------

@torch.no_grad()
def bits_per_character(model: CharacterModel, texts: Sequence[str]) -> float:
    """Mean of -log2 p over all characters but the first of each text, at temperature 1; texts of one length."""
    ids = torch.stack([encode(text) for text in texts])
    nats = nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    return nats.item() / math.log(2)


def windows(text: str, length: int = 200) -> list[str]:
    """The text cut into pieces of one length, side by side; what is left over is dropped."""
    return [text[i:i + length] for i in range(0, len(text) - length + 1, length)]


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return re.findall(r"[a-z]+", text.lower())


def distinct(texts: Sequence[str]) -> float:
    """Different words divided by all words, over all texts together."""
    found = [word for text in texts for word in words(text)]
    return len(set(found)) / max(len(found), 1)


def repeated(texts: Sequence[str]) -> float:
    """Share of pairs of neighbouring words that stood in the same text before."""
    again = total = 0
    for text in texts:
        found = words(text)
        pairs = list(zip(found, found[1:]))
        again, total = again + len(pairs) - len(set(pairs)), total + len(pairs)
    return again / max(total, 1)


def spelt(texts: Sequence[str]) -> float:
    """Share of words that occur in the book; the first and last of a text, which may be cut, are not counted."""
    known, inner = set(words(book())), [word for text in texts for word in words(text)[1:-1]]
    return sum(word in known for word in inner) / max(len(inner), 1)


def describe(model: CharacterModel, texts: Sequence[str]) -> dict[str, float]:
    """bits (per character, at temperature 1), distinct, repeated and spelt of some texts of one length."""
    return {"bits": bits_per_character(model, texts), "distinct": distinct(texts), "repeated": repeated(texts),
            "spelt": spelt(texts)}
