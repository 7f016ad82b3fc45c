"""Run the test suites one after the other, with one line for each: python tools/run_tests.py [SUITE ...]

The exit code is not 0 if a test failed or a suite had no test. The whole output of a suite is in
_build/tests/<suite>.log and is printed when something in it failed.
"""

import os
import re
import subprocess
import sys
import time

import chromium
import editions
import environment
from environment import BUILD, ROOT, SITE

PARALLEL = ["-n", "2", "--dist", "loadfile"]
COUNT = re.compile(r"(\d+) (passed|failed|error|errors|skipped|xfailed|xpassed)\b")


def notebooks() -> list[str]:
    """Paths of the book's notebooks."""
    paths = map(editions.source, editions.pages_of(editions.read_toc()))
    return [str(path) for path in paths if path.suffix == ".ipynb"]


def suites() -> dict[str, list[str]]:
    """Suite -> arguments of pytest, in the order in which they run."""
    strict = ["--nbval", "--nbval-current-env", f"--nbval-cell-timeout={editions.timeout()}",
              "--nbval-sanitize-with", "tests/nbval.cfg"]
    return {
        "unit": ["tests/unit", *PARALLEL],
        "ledger": ["tests/claims", *PARALLEL],
        "exercises": ["tests/exercises", *PARALLEL],
        "notebooks": [*strict, *PARALLEL, *notebooks()],
        "book": ["tests/book", *PARALLEL],
        "browser": ["tests/browser", "-n", "4", "--dist", "worksteal"],  # more than cores: each waits for its page
    }


def counts(output: str) -> dict[str, int]:
    """The numbers of pytest's closing line."""
    last = next((line for line in reversed(output.splitlines()) if COUNT.search(line)), "")
    return {word.rstrip("s"): int(number) for number, word in COUNT.findall(last)}


def run(name: str, arguments: list[str]) -> dict[str, int]:
    """Run one suite, print its line, and its output if it failed; returns its counts."""
    log = BUILD / "tests" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--color=no", *arguments]
    with log.open("wb") as file:
        code = subprocess.run(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT).returncode
    output = log.read_text(encoding="utf-8", errors="replace")
    found = counts(output)
    bad = found.get("failed", 0) + found.get("error", 0)
    if code and not bad:
        found["failed"] = 1  # no test ran, or pytest itself broke down
    if code:
        print(output, flush=True)
    words = ", ".join(f"{number} {word}" for word, number in found.items())
    print(f"{name + ':':<11}{'FAILED' if code else 'passed'}  {words}, {time.perf_counter() - started:.0f} s", flush=True)
    return found


def main(wanted: list[str]) -> int:
    """Run the wanted suites, all if none is named; returns the exit code."""
    known = suites()
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"no suite {', '.join(unknown)}; expected some of {', '.join(known)}")
    wanted = wanted or list(known)
    if not (SITE / "index.html").exists() and {"book", "browser"} & set(wanted):
        sys.exit(f"there is no book in {SITE}; run `make book` first")
    if "browser" in wanted:
        os.environ["ATTNBOOK_CHROMIUM"] = chromium.ensure()
    results = [run(name, known[name]) for name in known if name in wanted]
    total = {word: sum(result.get(word, 0) for result in results) for word in ("passed", "failed", "error", "skipped")}
    failed = total["failed"] + total["error"]
    print(f"{total['passed']} passed, {failed} failed, {total['skipped']} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    environment.prepare()
    sys.exit(main(sys.argv[1:]))
