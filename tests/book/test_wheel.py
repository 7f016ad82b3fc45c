"""The package alone, as pip would install it, is complete: data, widgets, claims and their references."""

import shutil
import subprocess
import sys
import zipfile

from environment import ROOT


def test_a_wheel_holds_every_file_of_the_package(tmp_path):
    shutil.copytree(ROOT / "attnbook", tmp_path / "attnbook", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation",
                    "--disable-pip-version-check", "-w", "out", "."], cwd=tmp_path, check=True)
    (wheel,) = (tmp_path / "out").glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    files = {str(path.relative_to(ROOT)) for path in (ROOT / "attnbook").rglob("*")
             if path.is_file() and "__pycache__" not in path.parts}
    assert {"attnbook/claims/references.bib", "attnbook/claims/claims.yaml"} <= files
    assert not files - packed
