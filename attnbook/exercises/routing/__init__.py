"""Exercises of chapter 1. Each check takes the reader's function and prints one message; it never raises."""

from attnbook.exercises.routing.gradient import check_gradient_first_state
from attnbook.exercises.routing.memory import check_retrieve
from attnbook.exercises.routing.paths import check_path_length
from attnbook.exercises.routing.recurrence import check_rnn_states
from attnbook.exercises.routing.visibility import check_rows_that_change
from attnbook.exercises.routing.weights import check_attention_weights

__all__ = [
    "check_attention_weights", "check_gradient_first_state", "check_path_length",
    "check_retrieve", "check_rnn_states", "check_rows_that_change",
]
