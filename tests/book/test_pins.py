"""Pins, metadata and launch files: the same set of releases today and in a year, and never a CUDA build by accident."""

import importlib.metadata
import re
import subprocess
import sys
import tomllib
import zipfile

import editions
import pytest
import renew_pins
import yaml
from environment import ROOT
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LINE = re.compile(r"^([A-Za-z0-9][\w.-]*==\S+.*?)(?: \\)?$", re.M)
GPU = re.compile(r"^(nvidia-|triton$|cuda-)")
INDEX_ONLY = {"torch"}  # installed apart, from the index of CPU builds


def pins(name: str) -> list[Requirement]:
    """The pinned requirements of a file."""
    return [Requirement(line) for line in LINE.findall((ROOT / name).read_text(encoding="utf-8"))]


def here(requirements) -> dict[str, str]:
    """Name -> version of those that apply to this machine."""
    chosen = [r for r in requirements if r.marker is None or r.marker.evaluate()]
    return {canonicalize_name(r.name): str(r.specifier).removeprefix("==") for r in chosen}


def needs(name: str) -> set[str]:
    """Names that an installed release requires on this machine, without extras."""
    environment = {**default_environment(), "extra": ""}
    requirements = map(Requirement, importlib.metadata.requires(name) or [])
    return {canonicalize_name(r.name) for r in requirements if r.marker is None or r.marker.evaluate(environment)}


def closure(names) -> set[str]:
    """All that pip would install for the names."""
    found, todo = set(), set(names)
    while todo:
        name = todo.pop()
        found.add(name)
        todo |= needs(name) - found
    return found


def project() -> dict:
    """The project table of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize("name", ["requirements.txt", "binder/requirements.txt"])
def test_every_requirement_is_pinned(name):
    lines = [line for line in (ROOT / name).read_text(encoding="utf-8").splitlines() if line.strip()]
    others = [line for line in lines if not line.startswith(("#", "--extra-index-url ", "-e .")) and "==" not in line]
    assert not others and len(pins(name)) > 40


def test_lock_has_the_same_pins_with_hashes():
    plain = {str(r) for r in pins("requirements.txt") if r.name not in INDEX_ONLY}
    assert {str(r) for r in pins("requirements.lock")} == plain
    blocks = re.split(r"^(?=[A-Za-z0-9])", (ROOT / "requirements.lock").read_text(encoding="utf-8"), flags=re.M)[1:]
    assert all("--hash=sha256:" in block for block in blocks)


def test_installed_releases_are_the_pinned_ones():
    pinned = here(pins("requirements.txt"))
    installed = {name: importlib.metadata.version(name) for name in pinned}
    installed["torch"] = installed["torch"].split("+")[0]
    assert installed == pinned


def test_pins_are_complete():
    names = here(pins("requirements.txt"))
    assert closure(names) <= set(names)


def test_package_metadata_has_lower_bounds_only():
    requirements = [Requirement(text) for text in project()["dependencies"]]
    assert {r.name for r in requirements} >= {"numpy", "torch"}
    for requirement in requirements:
        assert re.fullmatch(r">=[\d.]+", str(requirement.specifier)), requirement
    bounds = {r.name: r.specifier for r in requirements}
    assert all(bounds["numpy"].contains(v) for v in ("1.26.4", "2.0.2", "2.4.0"))
    assert all(bounds["torch"].contains(v) for v in ("2.2.0", "2.9.1", "2.13.0+cpu"))


def test_metadata_names_the_python_versions():
    assert project()["requires-python"] == ">=3.11"
    named = {c.rsplit(" ", 1)[1] for c in project()["classifiers"] if c.startswith("Programming Language")}
    assert named == {"3.11", "3.12", "3.13"}


def test_book_tool_is_the_one_it_is_written_for():
    assert here(pins("requirements.txt"))["jupyter-book"].startswith("1.0.")


def test_torch_has_one_version_everywhere():
    makefile = re.search(r"^TORCH := torch==(.+)$", (ROOT / "Makefile").read_text(), re.M)[1]
    binder = {r.name: str(r.specifier) for r in pins("binder/requirements.txt")}["torch"]
    assert makefile == here(pins("requirements.txt"))["torch"] == renew_pins.TORCH
    assert binder == f"=={makefile}+cpu"


def test_binder_gets_no_gpu_build():
    names = here(pins("binder/requirements.txt"))
    resolved = closure(names) | closure(canonicalize_name(Requirement(r).name) for r in project()["dependencies"])
    assert resolved <= set(names), f"not pinned: {resolved - set(names)}"
    assert not [name for name in resolved if GPU.match(name)]
    # only the index of CPU builds has this version, whatever else pip may find
    assert names["torch"].endswith("+cpu")


def test_binder_uses_the_releases_of_the_book():
    book = here(pins("requirements.txt"))
    binder = {**here(pins("binder/requirements.txt")), "torch": book["torch"]}
    assert binder.items() <= book.items()


def test_binder_files_are_found():
    lines = (ROOT / "binder" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert "-e ." in lines and (ROOT / "pyproject.toml").exists()
    assert not [line for line in lines if line.startswith(("-r", "-c"))]
    assert not (ROOT / ".binder").exists() and not (ROOT / "runtime.txt").exists()
    assert (ROOT / "binder" / "runtime.txt").read_text().strip() == "python-3.11"


def test_version_is_the_same_in_all_files():
    import attnbook

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert attnbook.__version__ == editions.version() == str(citation["version"])


def test_import_warns_of_nothing_and_loads_neither_torch_nor_matplotlib():
    code = "import sys, attnbook; assert not {'torch', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, cwd=ROOT)


def test_wheel_holds_code_and_data(tmp_path):
    copy = tmp_path / "source"
    copy.mkdir()
    subprocess.run(["cp", "-rL", *(str(ROOT / n) for n in ("attnbook", "pyproject.toml", "README.md", "LICENSE")),
                    str(copy)], check=True)
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index",
                    "-w", str(tmp_path), str(copy)], check=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        packed = set(wheel.namelist())
    wanted = {path.relative_to(ROOT).as_posix() for path in (ROOT / "attnbook").rglob("*")
              if path.is_file() and "__pycache__" not in path.parts}
    assert "attnbook/claims/references.bib" in wanted
    assert wanted <= packed, wanted - packed
