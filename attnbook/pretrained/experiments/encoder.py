"""MiniLM: which heads move with the meaning, which match pronouns, and what follows if they are silenced."""

import torch
from torch import Tensor, nn

from attnbook.pretrained.edits import silence
from attnbook.pretrained.experiments import texts
from attnbook.pretrained.experiments.packing import pack
from attnbook.pretrained.minilm import HEADS, LAYERS, load_minilm

ASK = ["Predict, then click: which of the 72 heads sends “it” to another noun when the last word changes? "
       "And when the street stands first?",
       "先猜再点：72 个头里，哪些头会在换掉最后一个词时让“it”转向另一个名词？把 street 放到句首又会怎样？"]
NAME = ["MiniLM, a real encoder", "真实的编码器 MiniLM"]
SILENCED = {"4.1": [(3, 1)], "4.1, 4.3, 4.7, 5.0": [(3, 1), (3, 3), (3, 7), (4, 0)], "4.0, 4.2, 4.6, 5.2": [
    (3, 0), (3, 2), (3, 6), (4, 2)]}


def explorer_data(sentences: list[list[str]] | None = None) -> dict:
    """Data of CoreferenceExplorer: all 72 heads over some sentences, or over the reader's own.

    sentences: groups of sentences that belong together, such as [["I saw her.", "I saw him."]].
    Raises ModelMissing where the encoder is not installed.
    """
    groups = _default_sentences() if sentences is None else sentences
    model = load_minilm()
    words, readings, names = {}, {}, []
    for group in groups:
        keys = [_key(text, group) for text in group]
        names.append([])
        for key, text in zip(keys, group, strict=True):
            key = key if key not in words else f"{key} ({len(names)})"
            trace = model(text)
            words[key], readings[key] = trace.tokens, {"weights": {"packed": pack(trace.weights)}}
            names[-1].append(key)
    net = {"name": NAME, "seed": None, "causal": False, "layers": LAYERS, "heads": HEADS, "accuracy": None,
           "readings": readings}
    return {"words": words, "sentences": names, "ask": ASK, "models": [net]}


def _default_sentences():
    sentence, a, b, *_ = texts.PAIRS[0]
    passive = texts.PASSIVES[0][0]
    return [[sentence.format(a), sentence.format(b)], [passive.format(a), passive.format(b)],
            [texts.AGREEMENT[0][0]], [texts.AGREEMENT[1][0]]]


def _key(text, group):
    """The word in which a sentence differs from the others of its group, or the sentence."""
    split = [one.rstrip(".").split() for one in group]
    differ = [i for i in range(min(map(len, split))) if len({one[i] for one in split}) > 1]
    return text.rstrip(".").split()[differ[0]] if len(differ) == 1 and len({*map(len, split)}) == 1 else text


def pairs(n: int | None = None) -> Tensor:
    """What "it" gives each noun: (pairs, 4, 72), columns A and B with word A, then A and B with word B."""
    return _moved([(sentence, *rest) for sentence, *rest in texts.PAIRS[:n]])


def passives(n: int | None = None) -> Tensor:
    """The same for the stories told in the passive: noun B stands first."""
    return _moved([(sentence, *texts.PAIRS[i][1:]) for sentence, i in texts.PASSIVES[:n]])


def _moved(sentences):
    model, rows = load_minilm(), []
    for sentence, word_a, word_b, a, b in sentences:
        traces = [model(sentence.format(word)) for word in (word_a, word_b)]
        rows.append(torch.stack([trace.looks("it", noun).flatten() for trace in traces for noun in (a, b)]))
    return torch.stack(rows)


def agreement(sentences=texts.AGREEMENT) -> Tensor:
    """What a pronoun gives the noun it means, and the other one: (sentences, 2, 72)."""
    model = load_minilm()
    rows = []
    for sentence, pronoun, right, other in sentences:
        trace = model(sentence)
        rows.append(torch.stack([trace.looks(pronoun, noun).flatten() for noun in (right, other)]))
    return torch.stack(rows)


def contrasts(heads=(), n: int | None = None) -> list[list[float]]:
    """How much nearer the vector of "it" comes to noun A than to B when word B becomes word A, after each layer 0 to 6.

    heads: silenced meanwhile. One row a pair; nearness is the cosine.
    """
    model, rows = load_minilm(), []
    for sentence, word_a, word_b, a, b in texts.PAIRS[:n]:
        with_a, with_b = (_nearness(model(sentence.format(word), silence(heads)), a, b) for word in (word_a, word_b))
        rows.append((with_a - with_b).tolist())
    return rows


def _nearness(trace, a, b):
    it, to_a, to_b = (trace.stream[:, trace.place(word)[0]] for word in ("it", a, b))
    near = nn.functional.cosine_similarity
    return near(it, to_a, -1) - near(it, to_b, -1)


def memory() -> dict[str, Tensor]:
    """Sentence vectors of an agent's notes and of questions about them, and the note that answers each question."""
    model = load_minilm()
    return {"notes": torch.stack([model.sentence(note) for note in texts.NOTES]),
            "questions": torch.stack([model.sentence(question) for question, _ in texts.QUESTIONS]),
            "answers": torch.tensor([answer for _, answer in texts.QUESTIONS])}


def measured() -> dict:
    """All of it, for the committed file."""
    return {
        "pairs": pairs(), "passives": passives(), "agreement": agreement(), "held_out": agreement(texts.HELD_OUT),
        "contrast": {"none": contrasts(), **{name: contrasts(heads) for name, heads in SILENCED.items()}},
    }
