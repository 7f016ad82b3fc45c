"""Train the spelling models of chapter 1 in full and write what they do: python tools/measure_spelling.py

About a minute for each of six trainings on one thread. Writes attnbook/tasks/data/spelling.json, dated.
"""

import datetime
import json

import environment
import torch
from environment import ROOT

VERSION = 1


def rounded(x):
    """All numbers to 4 decimals."""
    if isinstance(x, dict):
        return {key: rounded(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [rounded(value) for value in x]
    return round(x, 4) if isinstance(x, float) else x


def main() -> None:
    from attnbook.tasks import spelling

    torch.set_num_threads(1)
    head = {"script": VERSION, "date": datetime.date.today().isoformat(), "torch": torch.__version__.split("+")[0]}
    result = {**head, **rounded(spelling.measure())}
    path = ROOT / "attnbook" / "tasks" / "data" / "spelling.json"
    path.write_text(json.dumps(result, separators=(",", ":")) + "\n", encoding="utf-8")
    print(path.relative_to(ROOT), path.stat().st_size, "bytes")


if __name__ == "__main__":
    environment.prepare()
    main()
