"""Exercises of chapter 6. Each check takes the reader's function and prints one message; it never raises."""

from attnbook.exercises.positions.bias import check_linear_bias
from attnbook.exercises.positions.layouts import check_rotary_scores
from attnbook.exercises.positions.padding import check_token_positions
from attnbook.exercises.positions.rotation import check_rotated
from attnbook.exercises.positions.shuffling import check_last_output_changes
from attnbook.exercises.positions.waves import check_wave_table

__all__ = [
    "check_last_output_changes", "check_linear_bias", "check_rotary_scores",
    "check_rotated", "check_token_positions", "check_wave_table",
]
