"""Build the book: execute the notebooks, then both editions side by side, warnings as errors.

The site is complete or the exit code is not 0, also over an older build: what a failed
build has parsed is thrown away, so that its warnings come again.
"""

import fcntl
import hashlib
import shutil
import subprocess
import sys
import time

import editions
import environment
import executed
import site_assets
from environment import BUILD, ROOT, SITE

STAMP = BUILD / "built"
# not part of the book; a change in them needs no build
APART = {".git", ".venv", ".github", ".ci", "_build", "site", "tests", "benchmarks", "binder", "__pycache__",
         ".pytest_cache", ".ipynb_checkpoints", "README.md", "CONTRIBUTING.md"}


def state() -> str:
    """Hash of all files of the book."""
    digest = hashlib.sha256(str(SITE).encode())
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        if parts[0] in APART or APART & set(parts) or path.suffix in (".mo", ".pyc") or not path.is_file():
            continue
        digest.update("/".join(parts).encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def remove_stale(edition: str, pages: list[str]) -> None:
    """Remove pages of an earlier build that the edition no longer has."""
    folder = SITE / edition
    for path in folder.rglob("*.html"):
        name = path.relative_to(folder).with_suffix("").as_posix()
        known = name in pages or name.startswith("_") or name in ("genindex", "search", "py-modindex", "prf-prf")
        if not known:
            path.unlink()


def start(edition: str):
    """Start the build of one edition; warnings go to one log file, the progress to another."""
    command = [sys.executable, str(ROOT / "tools" / "one_edition.py"), edition]
    warnings = BUILD / f"{edition}.warnings.log"
    with (BUILD / f"{edition}.log").open("wb") as progress, warnings.open("wb") as faults:
        return subprocess.Popen(command, stdout=progress, stderr=faults, cwd=ROOT), warnings


def build_editions(pages: dict[str, list[str]], cache) -> bool:
    """Build all editions at a time; on failure print the warnings. Returns whether all passed."""
    editions.write(str(cache))
    good, jobs = True, {edition: start(edition) for edition in pages}
    for edition, (process, warnings) in jobs.items():
        if process.wait() == 0:
            remove_stale(edition, pages[edition])
            site_assets.slim(edition)
            continue
        good = False
        shutil.rmtree(BUILD / "doctrees" / f"html-{edition}", ignore_errors=True)
        print(f"Edition {edition}:\n{warnings.read_text(encoding='utf-8')}", file=sys.stderr)
    return good


def report(pages: dict[str, list[str]]) -> None:
    """Say where the book lies."""
    for edition, names in pages.items():
        print(f"{edition}: {len(names)} pages, {(SITE / edition / 'index.html').as_uri()}")
    print("Open one of these files, or run `make serve` and open http://127.0.0.1:8000/")


def build() -> int:
    """Build what changed; returns the exit code."""
    started, pages, now = time.perf_counter(), editions.edition_pages(), state()
    if STAMP.exists() and STAMP.read_text() == now and (SITE / "index.html").exists():
        print("The book is up to date.")
        report(pages)
        return 0
    STAMP.unlink(missing_ok=True)
    site_assets.copy_mathjax()
    cache = executed.folder()
    failed = executed.fill(pages["en"], cache, editions.timeout())
    if failed or not build_editions(pages, cache):
        print("The book was not built" + (f": {', '.join(failed)} failed." if failed else "."), file=sys.stderr)
        return 1
    if "zh" not in pages:
        shutil.rmtree(SITE / "zh", ignore_errors=True)
    site_assets.front_page(pages)
    STAMP.write_text(now)
    print(f"Built in {time.perf_counter() - started:.1f} s.")
    report(pages)
    return 0


if __name__ == "__main__":
    environment.prepare()
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # a second build at the same time waits
        sys.exit(build())
