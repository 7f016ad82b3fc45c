"""How long `import attnbook` takes in a fresh interpreter, beyond the interpreter's own start."""

import subprocess
import sys
import time

BUDGET = 0.2  # seconds


def seconds(code: str, turns: int = 7) -> float:
    """Shortest time of a fresh interpreter that runs the code."""
    spent = []
    for _ in range(turns):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        spent.append(time.perf_counter() - start)
    return min(spent)


def run() -> bool:
    """Print the time; True if it is within the budget."""
    spent = seconds("import attnbook") - seconds("pass")
    print(f"{spent:.3f} s")
    return spent <= BUDGET
