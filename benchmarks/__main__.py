"""Run the benchmarks: python -m benchmarks. Ends with 1 if a budget is not met."""

import sys

import torch

from benchmarks import attention, notebooks, pages, start, tiled, training


def main() -> int:
    torch.set_num_threads(1)
    parts = {
        "attention against torch's math kernel (budget 1.1 times the time, 1.25 times the memory)": attention.run,
        "tiled_attention, numbers saved for backward (budget 5 L d + L, linear in L)": tiled.run,
        "import attnbook (budget 0.2 s)": start.run,
        "one training, one thread (budget 6 s)": training.run,
        "notebooks, one at a time (budget 20 s, two marked exceptions 30 s)": notebooks.run,
        "pages (budget 1000 kB, alive after 1.0 s, one update 16 ms at the 95th percentile)": pages.run,
    }
    good = True
    for title, run in parts.items():
        print(f"\n{title}")
        good &= run()
    print("\nwithin the budgets" if good else "\nNOT within the budgets")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
