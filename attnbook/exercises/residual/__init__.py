"""Exercises of chapter 5. Each check takes the reader's function and prints one message; it never raises."""

from attnbook.exercises.residual.block import check_pre_norm_block
from attnbook.exercises.residual.gradient import check_input_gradient
from attnbook.exercises.residual.left import check_what_is_left
from attnbook.exercises.residual.norm import check_norm_features
from attnbook.exercises.residual.spread import check_stream_spread
from attnbook.exercises.residual.stack import check_run_stack

__all__ = [
    "check_input_gradient", "check_norm_features", "check_pre_norm_block",
    "check_run_stack", "check_stream_spread", "check_what_is_left",
]
