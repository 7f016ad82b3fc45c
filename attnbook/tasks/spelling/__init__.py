"""From spelling to sound: an encoder-decoder of GRUs with and without attention, on real words (chapter 1).

words.py holds the words, model.py the two models, learned.py trains and measures them. The full run is
tools/measure_spelling.py; saved() is its committed result.
"""

from attnbook.tasks.spelling.learned import (
    BANDS, LIVE_STEPS, STEPS, WORDS_DRAWN, align, band, error_rates, measure, saved, train_spelling)
from attnbook.tasks.spelling.model import SpellingModel
from attnbook.tasks.spelling.words import HELD_OUT, SOUNDS, distance, pairs, parts

__all__ = [
    "BANDS", "HELD_OUT", "LIVE_STEPS", "SOUNDS", "STEPS", "WORDS_DRAWN", "SpellingModel", "align", "band", "distance",
    "error_rates", "measure", "pairs", "parts", "saved", "train_spelling",
]
