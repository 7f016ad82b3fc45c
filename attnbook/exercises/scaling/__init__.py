"""Exercises of chapter 3. Each check takes the reader's function and prints one message; it never raises."""

from attnbook.exercises.scaling.divisor import check_divisor_of
from attnbook.exercises.scaling.heads import check_head_weights
from attnbook.exercises.scaling.moments import check_score_moments
from attnbook.exercises.scaling.norms import check_jacobian_norms
from attnbook.exercises.scaling.scores import check_scaled_scores
from attnbook.exercises.scaling.unit import check_unit_weights

__all__ = [
    "check_divisor_of", "check_head_weights", "check_jacobian_norms",
    "check_scaled_scores", "check_score_moments", "check_unit_weights",
]
