"""Which noun does "it" mean? A small attention model learns to answer (chapter 1).

sentences.py makes the task, model.py learns it, inside.py looks at what was learned; chapter 7 asks in trap.py
whether it was a rule or a habit, and in replaced.py what its weights explain.
"""

from attnbook.tasks.coreference.inside import Reading, cut, explorer_data, read, two_hop
from attnbook.tasks.coreference.model import CoreferenceModel, Report, accuracy, between, train_coreference
from attnbook.tasks.coreference.replaced import effects, one_hot_answers, shuffled_answers, silenced_answers, with_weights
from attnbook.tasks.coreference.sentences import (
    BEING_FIRST,
    BEINGS,
    FIRST,
    HELD_OUT,
    IT,
    LAST,
    LENGTH,
    NOUNS,
    READINGS,
    SECOND,
    TIRED,
    VOCABULARY,
    WAY_FIRST,
    WAYS,
    WIDE,
    batch,
    encode,
    examples,
    sentence,
    sentences,
)
from attnbook.tasks.coreference.trap import ordered, swapped, train_habit, trap_explorer_data, usual

__all__ = [
    "sentence", "sentences", "encode", "examples", "batch",
    "CoreferenceModel", "Report", "train_coreference", "accuracy", "between",
    "usual", "swapped", "ordered", "train_habit", "trap_explorer_data",
    "with_weights", "shuffled_answers", "silenced_answers", "one_hot_answers", "effects",
    "Reading", "read", "cut", "two_hop", "explorer_data",
    "BEINGS", "WAYS", "NOUNS", "TIRED", "WIDE", "BEING_FIRST", "WAY_FIRST", "HELD_OUT", "VOCABULARY", "READINGS",
    "LENGTH", "FIRST", "SECOND", "IT", "LAST",
]
