"""Exercises on trained models, in chapters 1, 6 and 7. Each check takes the reader's function and prints one message."""

from attnbook.exercises.heads.induction import check_induction_head
from attnbook.exercises.heads.luck import check_luck
from attnbook.exercises.heads.previous import check_previous_token_head

__all__ = ["check_induction_head", "check_luck", "check_previous_token_head"]
