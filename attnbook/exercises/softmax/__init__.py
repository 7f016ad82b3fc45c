"""Exercises of chapter 4. Each check takes the reader's function and prints one message; it never raises."""

from attnbook.exercises.softmax.backward import check_softmax_backward
from attnbook.exercises.softmax.invariance import check_same_weights
from attnbook.exercises.softmax.loss import check_mean_loss
from attnbook.exercises.softmax.nucleus import check_keep_nucleus
from attnbook.exercises.softmax.sampler import check_next_probabilities
from attnbook.exercises.softmax.tempered import check_tempered

__all__ = [
    "check_keep_nucleus", "check_mean_loss", "check_next_probabilities",
    "check_same_weights", "check_softmax_backward", "check_tempered",
]
