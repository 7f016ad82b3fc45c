"""What a check returns, and how one is run."""

from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True)
class Measurement:
    """Measured values by name (plain numbers or text), and whether the inequality behind the verdict holds."""

    values: dict
    holds: bool


def run(check: str) -> Measurement:
    """Run a check, "module.function" in attnbook/claims, on one thread; torch's random state is left as it was.

    So a page prints the same numbers after a card, whether the card measured anew or read the cache.
    """
    import torch  # here, so that a card that reads the cache needs no torch

    module, _, function = check.rpartition(".")
    measured = getattr(import_module(f"attnbook.claims.{module}"), function)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            return measured()
    finally:
        torch.set_num_threads(threads)
