"""How long the trainings of chapter 1 take, in processor seconds of this process."""

import time
from collections.abc import Callable

from attnbook.tasks.coreference import train_coreference
from attnbook.tasks.recall import KINDS, recall_accuracy

BUDGET = 6.0  # seconds for one training
LENGTHS = (10, 20, 50, 100)


def seconds(call: Callable) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def run() -> bool:
    """Print one line a training; True if each is within the budget."""
    train_coreference(steps=1)  # first use of torch's kernels and of the sentences
    spent = {"coreference, two layers, one seed": seconds(train_coreference)}
    for kind in KINDS:
        for T in LENGTHS:
            spent[f"recall, {kind}, T = {T}, three seeds"] = seconds(lambda k=kind, n=T: recall_accuracy(k, n))
    for name, value in spent.items():
        print(f"{name:>40} {value:6.2f} s")
    print(f"{'all of recall':>40} {sum(list(spent.values())[1:]):6.2f} s")
    return max(spent.values()) <= BUDGET
