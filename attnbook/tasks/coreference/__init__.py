"""Which noun does "it" mean? A small attention model learns to answer (chapter 1).

sentences.py makes the task, model.py learns it, inside.py looks at what was learned.
"""

from attnbook.tasks.coreference.inside import Reading, cut, explorer_data, read, two_hop
from attnbook.tasks.coreference.model import CoreferenceModel, Report, accuracy, between, train_coreference
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

__all__ = [
    "sentence", "sentences", "encode", "examples", "batch",
    "CoreferenceModel", "Report", "train_coreference", "accuracy", "between",
    "Reading", "read", "cut", "two_hop", "explorer_data",
    "BEINGS", "WAYS", "NOUNS", "TIRED", "WIDE", "BEING_FIRST", "WAY_FIRST", "HELD_OUT", "VOCABULARY", "READINGS",
    "LENGTH", "FIRST", "SECOND", "IT", "LAST",
]
