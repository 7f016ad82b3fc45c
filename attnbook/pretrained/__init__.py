"""Two real trained models, rebuilt from this book's own parts. Optional: `make models` installs their weights.

    minilm.py     all-MiniLM-L6-v2, a BERT encoder: post-norm, learned positions, no mask
    smollm2.py    SmolLM2-135M-Instruct, a decoder: pre-norm, RoPE, grouped queries, causal
    edits.py      changes of their attention weights: heads silenced, keys hidden
    trace.py      what a run leaves behind
    live.py       a page's numbers: run there and then where the models are, else read

No page needs the models: what the pages show was measured by tools/measure_models.py and is read by saved(). Where the
models are installed, live_or_saved() runs a part of it anew.
"""

from attnbook.pretrained.files import MINILM, SMOLLM2, ModelMissing, installed, locate, saved
from attnbook.pretrained.live import live_or_saved

__all__ = ["MINILM", "SMOLLM2", "ModelMissing", "installed", "live_or_saved", "locate", "saved"]
