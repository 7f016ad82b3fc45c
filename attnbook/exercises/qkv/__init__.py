"""Exercises of chapter 2. Each check takes the reader's function and prints one message; it never raises."""

from attnbook.exercises.qkv.cache import check_cache_bytes
from attnbook.exercises.qkv.cross import check_cross_attention
from attnbook.exercises.qkv.dot_product import check_scaled_dot_product_attention
from attnbook.exercises.qkv.groups import check_grouped_attention
from attnbook.exercises.qkv.latent import check_latent_attention
from attnbook.exercises.qkv.maps import check_impossible_rows

__all__ = [
    "check_cache_bytes", "check_cross_attention", "check_grouped_attention",
    "check_impossible_rows", "check_latent_attention", "check_scaled_dot_product_attention",
]
