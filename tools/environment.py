"""The environment that all tools give to what they start, so that a machine's own settings cannot change a result."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "_build"
SITE = pathlib.Path(os.environ.get("ATTNBOOK_SITE", ROOT / "site"))


def prepare() -> None:
    """Set the variables; kernels and processes started from here inherit them."""
    home = BUILD / "home"
    home.mkdir(parents=True, exist_ok=True)
    os.environ.update(
        # the book's own kernel, not one of the same name in the user's folder
        JUPYTER_PREFER_ENV_PATH="1",
        # a missing or read-only home would put warnings on stderr, and those fail the build
        MPLCONFIGDIR=str(home / "matplotlib"),
        IPYTHONDIR=str(home / "ipython"),
        # small tensors are fastest on one thread, and two notebooks run at a time
        OMP_NUM_THREADS="1",
        PYTHONUTF8="1",
    )
    # measurements of the ledger, kept from one run to the next
    os.environ.setdefault("ATTNBOOK_CACHE", str(BUILD / "measured"))
    for name in ("MPLBACKEND", "PYTHONWARNINGS"):
        os.environ.pop(name, None)
    paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
