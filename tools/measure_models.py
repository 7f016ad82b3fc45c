"""Measure the trained models and commit what the pages show of them: python tools/measure_models.py [FILE ...]

Writes attnbook/pretrained/data/<file>.json, all of them or those named; needs `make models`, and some minutes on one
thread. Each file names the models by hash and this script by VERSION: raise it when what is measured changes.
"""

import json
import sys
import time

import environment
import torch
from environment import ROOT

VERSION = 2
LARGEST = 2_000_000  # bytes, all files together


def _files() -> dict:
    """File -> (models, what measures it)."""
    from attnbook.pretrained import MINILM, SMOLLM2
    from attnbook.pretrained.experiments import decoder, encoder, prose, streams
    from attnbook.pretrained.minilm import load_minilm
    from attnbook.pretrained.smollm2 import load_smollm2

    return {
        "maps": ([MINILM], encoder.explorer_data),
        "encoder": ([MINILM], encoder.measured),
        "memory": ([MINILM], encoder.memory),
        "streams": ([MINILM, SMOLLM2], lambda: {
            "MiniLM": streams.measured(load_minilm()), "SmolLM2": streams.measured(load_smollm2())}),
        "blindness": ([SMOLLM2], decoder.blindness),
        "minimal": ([SMOLLM2], lambda: {
            "agreeing": decoder.agreeing(), "ordered": decoder.ordered(), "giving": decoder.giving()}),
        "induction": ([SMOLLM2], decoder.induction),
        "repeated": ([SMOLLM2], decoder.repeated_maps),
        "prose": ([SMOLLM2], prose.measured),
        "writing": ([SMOLLM2], decoder.writing),
    }


def main(names: list[str]) -> int:
    """Write the files; returns the exit code."""
    from attnbook.pretrained.experiments.packing import rounded

    torch.set_num_threads(1)
    folder, known = ROOT / "attnbook" / "pretrained" / "data", _files()
    unknown = set(names) - set(known)
    if unknown:
        sys.exit(f"no file {', '.join(sorted(unknown))}; expected some of {', '.join(known)}")
    for name in names or known:
        started = time.process_time()
        models, measure = known[name]
        head = {"model": [{"name": model.name, "sha256": model.hash} for model in models], "script": VERSION}
        text = json.dumps({**head, **rounded(measure())}, ensure_ascii=False, separators=(",", ":"))
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        print(f"{name}: {len(text)} bytes, {time.process_time() - started:.0f} CPU s", flush=True)
    total = sum(path.stat().st_size for path in folder.glob("*.json"))
    print(f"{total} bytes in all")
    return 0 if total < LARGEST else 1


if __name__ == "__main__":
    environment.prepare()
    sys.exit(main(sys.argv[1:]))
