"""Attention for long sequences (chapter 7): what may be left out, what may be replaced, and what only looks expensive.

    attnbook.sparse   patterns and kernels that skip       another function: far tokens are gone
    attnbook.linear   a feature map and a running sum      another function: the past is one small matrix
    attnbook.tiled    tiles and an online softmax          the same function, without the matrix

All can be imported from here. Attention across several processes is in attnbook.distributed, costs in attnbook.costs.
"""

from attnbook.linear import LinearState, linear_attention, linear_attention_quadratic, positive_features
from attnbook.sparse import (
    block_mask,
    block_sparse_attention,
    hops,
    reach,
    sink_mask,
    sliding_window_attention,
    strided_mask,
)
from attnbook.tiled import merge_partials, partial_attention, tiled_attention

__all__ = ["LinearState", "block_mask", "block_sparse_attention", "hops", "linear_attention",
           "linear_attention_quadratic", "merge_partials", "partial_attention", "positive_features", "reach", "sink_mask",
           "sliding_window_attention", "strided_mask", "tiled_attention"]
