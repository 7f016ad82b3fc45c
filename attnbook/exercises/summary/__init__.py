"""Exercises of chapter 8. Each check takes the reader's function and prints one message; it never raises."""

from attnbook.exercises.summary.cache_step import check_cache_step
from attnbook.exercises.summary.positions import check_chunk_scores
from attnbook.exercises.summary.sizes import check_parameters
from attnbook.exercises.summary.wall import check_wall

__all__ = ["check_cache_step", "check_chunk_scores", "check_parameters", "check_wall"]
