"""The cache of executed notebooks, filled before the editions are built, so that both only read it.

jupyter-cache looks at a notebook's cells alone. A change in the package, its data or the pinned
requirements must run them again, so each state of those has a cache folder of its own.
"""

import concurrent.futures
import hashlib
import os
import re
import shutil
import sys

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution

from environment import BUILD, ROOT

KEPT = 3  # cache folders; older ones are removed
IGNORED = {"__pycache__", ".ipynb_checkpoints", ".cache", "_cache"}


def key() -> str:
    """Hash of everything besides its own cells that a notebook's outputs depend on."""
    digest = hashlib.sha256(f"{sys.version_info[:2]}".encode())
    files = [path for path in (ROOT / "attnbook").rglob("*") if path.is_file() and not IGNORED & set(path.parts)]
    for path in [*sorted(files), ROOT / "requirements.txt", ROOT / "references.bib"]:
        if path.suffix == ".pyc" or not path.exists():
            continue
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    digest.update(repr(cards()).encode())
    return digest.hexdigest()[:16]


def cards() -> list[tuple[str, list[str]]]:
    """Which chapter shows which claims: the page of the ledger links to them."""
    calls = {path.name: re.findall(r"\bclaims?\([^)]*\)", path.read_text(encoding="utf-8"))
             for path in (ROOT / "chapters").glob("*.ipynb")}
    return sorted(calls.items())


def folder():
    """The cache folder of the present state; the newest few others stay, the rest go."""
    base = BUILD / "executed"
    current = base / key()
    current.mkdir(parents=True, exist_ok=True)
    os.utime(current)
    by_age = sorted(base.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in by_age[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
    return current


def missing(cache, pages: list[str]) -> list[str]:
    """Those of the pages that are notebooks and not in the cache."""
    found = []
    for page in pages:
        path = ROOT / f"{page}.ipynb"
        if path.exists():
            try:
                cache.match_cache_notebook(nbformat.read(path, as_version=4))
            except KeyError:
                found.append(page)
    return found


def execute(page: str, timeout: int):
    """Run one notebook in its folder; returns the executed notebook, the seconds and an error text or None."""
    path = ROOT / f"{page}.ipynb"
    result = single_nb_execution(
        nbformat.read(path, as_version=4), cwd=str(path.parent), timeout=timeout, allow_errors=False,
        extra_arguments=["--log-level=ERROR"])  # else a note on TCP from every kernel
    error = None if result.err is None else result.exc_string
    return result.nb, result.time, error


def fill(pages: list[str], where, timeout: int) -> list[str]:
    """Execute what the cache folder lacks, two at a time; returns the pages that failed, after printing why."""
    cache, failed = get_cache(str(where)), []
    todo = missing(cache, pages)
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        running = {pool.submit(execute, page, timeout): page for page in todo}
        for done in concurrent.futures.as_completed(running):
            page = running[done]
            notebook, seconds, error = done.result()
            if error:
                failed.append(page)
                print(f"{page}.ipynb failed:\n{error.strip()}", file=sys.stderr)
                continue
            bundle = CacheBundleIn(notebook, str(ROOT / f"{page}.ipynb"), data={"execution_seconds": seconds})
            cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
            print(f"  ran {page}.ipynb in {seconds:.1f} s")
    return failed
