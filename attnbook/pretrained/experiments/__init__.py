"""What the book measures on the two models; tools/measure_models.py commits the results.

    texts.py       the sentences, all written for this book but two classics
    statistics.py  a test over many heads at once
    packing.py     attention maps as small text
    encoder.py     MiniLM       decoder.py, prose.py  SmolLM2       streams.py  both
"""
