"""SmolLM2: what a causal mask hides, minimal pairs, and heads that continue what stood before."""

import torch
from torch import Tensor

from attnbook.pretrained.edits import silence
from attnbook.pretrained.experiments import texts
from attnbook.pretrained.experiments.packing import pack
from attnbook.pretrained.smollm2 import HEADS, LAYERS, load_smollm2
from attnbook.pretrained.trace import next_token_losses

COPY = 40  # random tokens, then the same again
CHOSEN, TESTED, RANDOM_SETS, SILENCED = 4, 4, 5, 8  # draws to choose heads on, draws to test on, sets, heads in a set


def _log_odds(logits, a, b):
    """log P(a) - log P(b) of the next word."""
    model = load_smollm2()
    first = [int(model.encode(f" {word}")[0]) for word in (a, b)]
    return float(logits[-1, first[0]] - logits[-1, first[1]])


def adjectives(n: int | None = None) -> dict:
    """What the later adjective changes in the row of "it", and what the adjective gives the nouns.

    "it": for each pair, the largest difference between the two rows of "it" in all layers and heads.
    "adjective": (pairs, 4, 270), columns A and B from word A, then A and B from word B.
    """
    model, moved, given = load_smollm2(), [], []
    for sentence, word_a, word_b, a, b in texts.PAIRS[:n]:
        traces = [model(sentence.format(word)) for word in (word_a, word_b)]
        it = traces[0].place("it", last=True)[-1]
        before, after = (trace.weights[:, :, it, :it + 1] for trace in traces)
        moved.append(float((before - after).abs().max()))
        given.append(torch.stack([trace.looks(word, noun).flatten()
                                  for trace, word in zip(traces, (word_a, word_b), strict=True) for noun in (a, b)]))
    return {"it": moved, "adjective": torch.stack(given)}


def asked(n: int | None = None) -> list[list[float]]:
    """For each pair, log P(A) - log P(B) after "What was too ...? It was the", with word A and with word B."""
    model, odds = load_smollm2(), []
    for sentence, word_a, word_b, a, b in texts.PAIRS[:n]:
        questions = [f"{sentence.format(word)} What was too {word}? It was the" for word in (word_a, word_b)]
        odds.append([_log_odds(model.logits(model.encode(question)), a, b) for question in questions])
    return odds


def blindness(n: int | None = None) -> dict:
    """adjectives(), and as "asked" what asked() says."""
    return {**adjectives(n), "asked": asked(n)}


# -- minimal pairs ------------------------------------------------------------------------

def agreeing(n: int | None = None) -> list[list[float]]:
    """log P(is) - log P(are) after a singular and after a plural subject, a noun of the other number in between."""
    model = load_smollm2()
    return [[_log_odds(model.logits(model.encode(text)), "is", "are") for text in both]
            for _, _, both in texts.AGREEING[:n]]


def ordered(n: int | None = None) -> list[list[float]]:
    """log P(second noun) - log P(first noun) for a question about "The A chased the B.", told as it is and swapped.

    A reader of word order gives two numbers of opposite sign, when both are counted for the same noun.
    """
    model, rows = load_smollm2(), []
    for a, verb, b, stem in texts.ORDERED[:n]:
        tell = "The {} {} the {}. {}"
        rows.append([_log_odds(model.logits(model.encode(tell.format(x, verb, y, stem))), b, a) for x, y in ((a, b), (b, a))])
    return rows


def giving(n: int | None = None) -> list[float]:
    """log P(other name) - log P(giver) after "When A and B went to the store, B gave a drink to"."""
    model, rows = load_smollm2(), []
    for i, name in enumerate(texts.NAMES[:n]):
        other, (place, thing) = texts.NAMES[(i + 3) % len(texts.NAMES)], texts.PLACES[i % len(texts.PLACES)]
        for first, second in ((name, other), (other, name)):
            text = f"When {first} and {second} went to the {place}, {second} gave a {thing} to"
            rows.append(_log_odds(model.logits(model.encode(text)), first, second))
    return rows


# -- heads that look for what came next the last time -------------------------------------

def twice(seed: int, length: int = COPY) -> Tensor:
    """Random tokens, then the same tokens again."""
    ids = torch.randint(1000, 40_000, (length,), generator=torch.Generator().manual_seed(seed))
    return torch.cat([ids, ids])


def induction_scores(weights, length: int = COPY):
    """Weight that places of the second copy give to the token after their twin in the first, each head: (layers, H)."""
    places = torch.arange(length, 2 * length - 1)
    return weights[:, :, places, places - length + 1].mean(-1)


def second_copy(ids, heads=()) -> float:
    """Nats lost on a token of the second copy, its first one left out."""
    losses = next_token_losses(load_smollm2().logits(ids, silence(heads)), ids)
    return float(losses[len(ids) // 2:].mean())


def silenced(numbers=(), n: int = TESTED) -> list[float]:
    """second_copy() of the draws to test on without some heads, numbered from 0 to 269."""
    heads = [divmod(i, HEADS) for i in numbers]
    return [second_copy(twice(seed), heads) for seed in range(CHOSEN, CHOSEN + n)]


def induction() -> dict:
    """Heads chosen on four draws of random tokens, silenced on four others, against five random sets of as many heads."""
    model = load_smollm2()
    scores = torch.stack([induction_scores(model(twice(seed)).weights) for seed in range(CHOSEN)]).mean(0)
    best = scores.flatten().argsort(descending=True)[:SILENCED].tolist()
    rest = [i for i in range(LAYERS * HEADS) if i not in best]
    sets = [[rest[i] for i in torch.randperm(len(rest), generator=torch.Generator().manual_seed(k))[:SILENCED]]
            for k in range(RANDOM_SETS)]
    tests = [twice(seed) for seed in range(CHOSEN, CHOSEN + TESTED)]
    lost = {"none": silenced(), "induction": silenced(best),
            **{f"random {k}": silenced(one) for k, one in enumerate(sets)}}
    first = [float(next_token_losses(model.logits(ids), ids)[:COPY - 1].mean()) for ids in tests]
    return {"scores": scores, "best": best, "sets": sets, "lost": lost, "first_copy": first}


def repeated_maps(length: int = 12, seed: int = 99) -> dict:
    """All 270 heads on a short row of random tokens that stands there twice, for the exercise."""
    trace = load_smollm2()(twice(seed, length))
    return {"length": length, "tokens": trace.tokens, "packed": pack(trace.weights)}


# -- writing ------------------------------------------------------------------------------

TEMPERATURES = (0.0, 0.3, 0.7, 1.0, 1.5)


def writing(temperatures=TEMPERATURES, copies: int = 8, length: int = 24) -> dict:
    """For each temperature and prompt eight texts of 24 tokens, and the nats per token that the model itself gives them."""
    model = load_smollm2()
    return {"temperatures": list(temperatures), "prompts": list(texts.PROMPTS),
            "texts": [[_judged(model, prompt, t, copies, length) for prompt in texts.PROMPTS] for t in temperatures]}


def _judged(model, prompt, temperature, copies, length):
    written = model.write(prompt, length, temperature, seed=0, copies=1 if temperature == 0 else copies)
    begin = len(model.encode(prompt))
    judged = []
    for text in written:
        ids = model.encode(prompt + text)
        judged.append([text, float(next_token_losses(model.logits(ids), ids)[begin - 1:].mean())])
    return judged
