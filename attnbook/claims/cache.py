"""Measurements kept on disk, so that a page that shows twenty cards does not train twenty times.

One JSON file a check, in the user's cache directory or in $ATTNBOOK_CACHE. A file counts only while
the code that measured it is unchanged: the key is a hash of the package and of the versions of torch and numpy.
"""

import hashlib
import json
import os
import tempfile
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from platformdirs import user_cache_path

from attnbook.claims.measurement import Measurement, run

_PACKAGE = Path(__file__).parents[1]
_NOT_MEASURED = {"exercises", "figures", "widgets"}  # no check imports from these: arrows point one way
_CODE_AND_DATA = {".py", ".json", ".csv", ".tsv", ".txt", ".npz"}


def measure(check: str, *, fresh: bool = False) -> Measurement:
    """The measurement of one check, from the cache unless fresh; a file that cannot be read is measured again."""
    path = cache_directory() / f"{check}.json"
    kept = None if fresh else _read(path)
    if kept is None:
        kept = run(check)
        _write(path, kept)
    return kept


def cache_directory() -> Path:
    """Where measurements are kept: $ATTNBOOK_CACHE, else the user's cache directory."""
    return Path(os.environ.get("ATTNBOOK_CACHE") or user_cache_path("attnbook")) / "claims"


def key(package: Path = _PACKAGE) -> str:
    """Hash of everything a measurement depends on: code and data of the package, versions of torch and numpy."""
    digest = hashlib.sha256(f"torch {version('torch')} numpy {version('numpy')}".encode())
    for path in sorted(package.rglob("*")):
        inside = path.relative_to(package)
        if path.suffix in _CODE_AND_DATA and inside.parts[0] not in _NOT_MEASURED:
            digest.update(inside.as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


_key = lru_cache(maxsize=1)(key)  # once a process: later edits do not change the code that is loaded


def _read(path):
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["key"] == _key() and isinstance(kept["values"], dict) and isinstance(kept["holds"], bool):
            return Measurement(kept["values"], kept["holds"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # absent, half written by another program, or of another format
    return None


def _write(path, measurement):
    """Replace the file in one step, so that kernels that measure at the same time never see half a file."""
    text = json.dumps({"key": _key(), "values": measurement.values, "holds": measurement.holds}, indent=1)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError:
        pass  # no place to write: the next page measures again
