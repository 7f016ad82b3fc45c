"""Exercises of chapter 7. Each check takes the reader's function and prints one message; it never raises."""

from attnbook.exercises.thoughts.linear import check_linear_causal
from attnbook.exercises.thoughts.merging import check_merged
from attnbook.exercises.thoughts.online import check_online_attention
from attnbook.exercises.thoughts.pattern import check_far_sight
from attnbook.exercises.thoughts.possible import check_possible
from attnbook.exercises.thoughts.products import check_products
from attnbook.exercises.thoughts.window import check_window

__all__ = ["check_far_sight", "check_linear_causal", "check_merged", "check_online_attention", "check_possible",
           "check_products", "check_window"]
