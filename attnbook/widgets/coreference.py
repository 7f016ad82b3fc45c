"""CoreferenceExplorer: click a word of the sentence and see what it reads, in one layer, one head, one seed.

The picture needs no model: everything comes in one trait, `data`, made by
`attnbook.tasks.coreference.explorer_data` (weights and probabilities rounded to 3 decimals):

    {
      "words": {"tired": ["The", "animal", ..., "tired"],      # reading -> tokens of that sentence
                "wide":  ["The", "animal", ..., "wide"]},
      "models": [{
        "seed": 0,
        "causal": False,             # True: a word sees itself and earlier words only
        "layers": 2, "heads": 1,
        "accuracy": 1.0,             # on held-out word pairs, 0 to 1; None if not measured
        "readings": {
          "tired": {
            "answer": {"animal": 0.998, "street": 0.002},      # probability of each noun; may be left out
            "weights": [layer][head][query][key],              # rows = queries, columns = keys; each row sums to 1
          },
          "wide": {...},
        },
      }, ...],
    }

Optional, for more than one sentence, other kinds of model and experiments:

      "sentences": [["tired", "wide"], ["big", "small"]]       # readings that belong together; default: all of "words"
      "ask": ["What is asked first ...", "……"]                # [en, zh]; default: the question about the small model
      models[i]["name"]: ["a real encoder", "真实的编码器"]      # [en, zh]; default: the small model of the chapter
      readings[r]["cuts"]: [{"layer": 1, "head": 0, "query": 7, "key": 1, "answer": {"animal": 0.6, ...}}, ...]
                           # the answer after that one weight is set to 0 and its row divided by its new sum

      models[i]["seed"]: None                              # a model that has no twin trained from another start
      readings[r]["weights"]: {"packed": "..."}            # many heads: base64 of one byte a weight, in the order of the
                           # list above; the bytes of a row sum to 255, and its last one is left out

Layers, heads, queries and keys count from 0 in the data and from 1 on the screen. A control is shown only
where there is a choice.
"""

import base64
import binascii
import math

import traitlets

from attnbook.widgets import _svg
from attnbook.widgets._lab import Lab, bilingual

WIDE, GAP, ROOM, TALL, THICK = 340, 5, 34, 44, 9  # picture, between words, above a line, bar and arc of the weight 1
LINE = ROOM + 6 + 24 + TALL + 20  # height of one line of words
LETTER, PADDING, NARROWEST = 7.2, 12, 40  # estimated width of a word, in the picture's units


# -- arithmetic, the same as in coreference.js --------------------------------------------

def row_of(weights: list[float]) -> list[float]:
    """A stored row, rounded to 3 decimals, divided by its sum so that it is a row of weights again."""
    total = sum(weights)
    return [w / total for w in weights]


def stored_row(net: dict, reading: str, layer: int, head: int, query: int, n: int) -> list[float]:
    """A row of a model as it is stored: n weights, or n bytes that sum to 255 of a packed map."""
    weights = net["readings"][reading]["weights"]
    if not isinstance(weights, dict):
        return weights[layer][head][query]
    begin = ((layer * net["heads"] + head) * n + query) * (n - 1)
    row = base64.b64decode(weights["packed"])[begin:begin + n - 1]
    return [*row, 255 - sum(row)]


def strongest(row: list[float], n: int = 3) -> list[int]:
    """Places of the n largest weights, the largest first; the earlier word wins a tie."""
    return sorted(range(len(row)), key=lambda j: (-row[j], j))[:n]


# -- the lab ------------------------------------------------------------------------------

class CoreferenceExplorer(Lab):
    """What each word reads, and what the model answers; the reader picks word, reading, layer, head, mask and seed.

    data: see the top of this module; checked, ValueError names what does not fit. The first state shows the word
    "it" (else the first word) in the last layer of the first model without a mask that has most layers.
    Any part of it may be given: reading, model_index, layer, head, word, cut (key of a line in "cuts", or -1).
    """

    module = "coreference"
    shown = ("reading", "model_index", "layer", "head", "word")
    title = bilingual("What does “it” read?", "“it”读到了什么？")
    data = traitlets.Dict().tag(sync=True)
    reading = traitlets.Unicode().tag(sync=True)
    model_index = traitlets.Int(0, min=0).tag(sync=True)
    layer = traitlets.Int(0, min=0).tag(sync=True)
    head = traitlets.Int(0, min=0).tag(sync=True)
    word = traitlets.Int(0, min=0).tag(sync=True)
    cut = traitlets.Int(-1, min=-1).tag(sync=True)

    def __init__(self, data: dict, **state):
        check_data(data)
        super().__init__(**{"data": data, **_first_state(data, state), **state})
        _check_state(self)

    @property
    def network(self) -> dict:
        """The model on show."""
        return self.data["models"][self.model_index]

    def row(self) -> list[float]:
        """The weights on show: what the chosen word gives to each word."""
        n = len(self.data["words"][self.reading])
        return row_of(stored_row(self.network, self.reading, self.layer, self.head, self.word, n))

    def answer(self) -> dict[str, float] | None:
        """The model's answer, after the cut if there is one: probability of each noun, or None."""
        result = self.network["readings"][self.reading]
        return _cuts(self)[self.cut] if self.cut >= 0 else result.get("answer")

    def picture(self, label):
        words, row = self.data["words"][self.reading], self.row()
        places = _places(words)
        height = max(y for _, y, _ in places) + LINE - ROOM
        hidden = [self.network["causal"] and j > self.word for j in range(len(words))]
        arcs = (_arc(places[self.word], places[j], row[j]) for j in range(len(words)) if row[j] >= 0.005)
        cells = (_cell(*places[j], words[j], row[j], j == self.word, hidden[j]) for j in range(len(words)))
        return _svg.picture(WIDE, height, *arcs, *cells, labelled_by=label)

    def caption(self):
        net, row, words = self.network, self.row(), self.data["words"][self.reading]
        best = [j for j in strongest(row) if row[j] >= 0.005]
        reads, word = [f"{words[j]} {_svg.fix(row[j])}" for j in best], words[self.word]
        answer = self.answer()
        mask = ("causal mask", "有因果掩码") if net["causal"] else ("no mask", "无掩码")
        seed = ("", "") if net["seed"] is None else (f"seed {net['seed']}, ", f"种子 {net['seed']}；")
        en = (f"Layer {self.layer + 1} of {net['layers']}, head {self.head + 1} of {net['heads']}, {seed[0]}"
              f"{mask[0]}: “{word}” reads {', '.join(reads)}; its row sums to {sum(row):.3f}.")
        zh = (f"共 {net['layers']} 层，第 {self.layer + 1} 层；共 {net['heads']} 个头，第 {self.head + 1} 个头；{seed[1]}"
              f"{mask[1]}：“{word}”读到：{'、'.join(reads)}；这一行之和为 {sum(row):.3f}。")
        if answer:
            noun = max(answer, key=answer.get)
            line = f"{word} → {words[self.cut]}"
            en += f" With {line} set to 0, the" if self.cut >= 0 else " The"
            en += f" model answers {noun} ({answer[noun]:.3f})."
            zh += f"把 {line} 设为 0 之后，" if self.cut >= 0 else ""
            zh += f"模型的回答：{noun}（{answer[noun]:.3f}）。"
        return en, zh


def _first_state(data, state):
    """The defaults that depend on the data and on what was asked for."""
    reading = state.get("reading", next(iter(data["words"])))
    models, words = data["models"], data["words"].get(reading, [])
    first = min(range(len(models)), key=lambda i: (models[i]["causal"], -models[i]["layers"], i))
    chosen = state.get("model_index", first)
    last = models[chosen]["layers"] - 1 if chosen < len(models) else 0
    return {"reading": reading, "model_index": first, "layer": last, "word": words.index("it") if "it" in words else 0}


def _cuts(lab):
    """Answers by the key whose line is cut, for the row on show."""
    here = {"layer": lab.layer, "head": lab.head, "query": lab.word}
    cuts = lab.network["readings"][lab.reading].get("cuts", [])
    return {c["key"]: c["answer"] for c in cuts if all(c[name] == at for name, at in here.items())}


def _check_state(lab):
    if lab.reading not in lab.data["words"]:
        raise ValueError(f"reading is {lab.reading!r}; expected one of {', '.join(lab.data['words'])}")
    ends = {"model_index": len(lab.data["models"])}
    for name in ("model_index", "layer", "head", "word"):
        if name == "layer":
            ends |= {"layer": lab.network["layers"], "head": lab.network["heads"],
                     "word": len(lab.data["words"][lab.reading])}
        if getattr(lab, name) >= ends[name]:
            raise ValueError(f"{name} is {getattr(lab, name)}; expected less than {ends[name]}")
    if lab.cut >= 0 and lab.cut not in _cuts(lab):
        raise ValueError(f"cut is {lab.cut}; expected -1 or one of {sorted(_cuts(lab))}")


# -- the data -----------------------------------------------------------------------------

def check_data(data: dict) -> None:
    """Raise ValueError, with the place, unless data has the shape described at the top of this module."""
    if not (isinstance(data, dict) and data.get("words") and data.get("models")):
        came = sorted(data) if isinstance(data, dict) else type(data).__name__
        raise ValueError(f"data is {came}; expected a dict with at least one entry in 'words' and in 'models'")
    for i, net in enumerate(data["models"]):
        missing = {"seed", "causal", "layers", "heads", "readings"} - set(net)
        missing |= set(data["words"]) - set(net.get("readings", {}))
        if missing:
            raise ValueError(f"data['models'][{i}] lacks {', '.join(sorted(missing))}")
        for reading, words in data["words"].items():
            _check_weights(net["readings"][reading]["weights"], (net["layers"], net["heads"], len(words), len(words)),
                           f"data['models'][{i}]['readings'][{reading!r}]['weights']")


def _check_packed(text, shape, name):
    """As many bytes as weights but the last of each row, and no row above 255."""
    try:
        stored = base64.b64decode(text, validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise ValueError(f"{name}['packed'] is {type(text).__name__}; expected base64") from None
    kept = shape[-1] - 1
    expected = math.prod(shape[:-1]) * kept
    if len(stored) != expected:
        raise ValueError(f"{name}['packed'] has {len(stored)} bytes; expected {expected} for {shape}")
    if any(sum(stored[i:i + kept]) > 255 for i in range(0, len(stored), max(kept, 1))):
        raise ValueError(f"{name}['packed'] has a row above 255; expected bytes that sum to 255 with the one left out")


def _check_weights(weights, shape, name):
    """Right lengths at each level, and rows of numbers that sum to 1 but for rounding to 3 decimals."""
    if isinstance(weights, dict):
        return _check_packed(weights.get("packed"), shape, name)
    if len(weights) != shape[0]:
        raise ValueError(f"{name} has length {len(weights)}; expected {shape[0]}")
    if len(shape) > 1:
        for i, part in enumerate(weights):
            _check_weights(part, shape[1:], f"{name}[{i}]")
    elif not (abs(sum(weights) - 1) <= 0.0005 * len(weights) + 1e-9 and min(weights) >= 0):
        raise ValueError(f"{name} sums to {sum(weights):.4f} (smallest {min(weights):.4f}); expected weights of at "
                         "least 0 that sum to 1: rows = queries")


# -- its static picture -------------------------------------------------------------------

def _places(words):
    """(x of the middle, y of the top, width) of each word, in lines that fit the picture."""
    x, y, places = 1.0, ROOM + 6, []
    for word in words:
        width = max(NARROWEST, LETTER * len(word) + PADDING)
        if x + width > WIDE - 1:
            x, y = 1.0, y + LINE
        places.append((x + width / 2, y, width))
        x += width + GAP
    return places


def _arc(start, end, weight):
    (x1, y1, _), (x2, y2, _) = start, end
    if y1 != y2:
        a, b = (y1, y2 + LINE - ROOM - 6) if y1 > y2 else (y1 + LINE - ROOM - 6, y2)
        d = f"M{x1:.1f} {a}C{x1:.1f} {(a + b) / 2} {x2:.1f} {(a + b) / 2} {x2:.1f} {b}"
    else:
        side, wide = (7, 16) if x1 == x2 else (0, 0)
        peak = y1 - min(ROOM, 12 + 0.25 * abs(x2 - x1)) / 0.75
        d = f"M{x1 - side:.1f} {y1}C{x1 - wide:.1f} {peak:.1f} {x2 + wide:.1f} {peak:.1f} {x2 + side:.1f} {y1}"
    return _svg.tag("path", d=d, fill="none", stroke=_svg.WEIGHTS, stroke_width=max(0.7, THICK * weight),
                    stroke_linecap="round", opacity=0.85)


def _cell(x, y, width, word, weight, chosen, hidden):
    """A word in its box, its bar below and the number."""
    paint = {"stroke": _svg.QUERY, "fill": _svg.QUERY} if chosen else {"stroke": _svg.MUTED, "fill": _svg.PAPER}
    box = _svg.tag("rect", x=x - width / 2, y=y, width=width, height=24, rx=4, **paint)
    inside = {"fill": _svg.PAPER, "font_weight": 600} if chosen else {}
    name = _svg.text(x, y + 17, word, text_anchor="middle", **inside)
    if hidden:
        return box + name + _svg.text(x, y + 42, "hidden", "遮住", text_anchor="middle", font_size=11, fill=_svg.MUTED)
    track = _svg.tag("rect", x=x - 11, y=y + 24, width=22, height=TALL, fill="none", stroke=_svg.LINE)
    bar = _svg.tag("rect", x=x - 11, y=y + 24, width=22, height=max(0.5, TALL * weight), fill=_svg.WEIGHTS)
    number = _svg.text(x, y + 24 + TALL + 14, _svg.fix(weight), text_anchor="middle", font_size=12)
    return box + name + track + bar + number
