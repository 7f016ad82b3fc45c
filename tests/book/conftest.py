"""A tiny book with the real tools, styles and extensions, to build in seconds and to break on purpose."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys

import nbformat
import pytest
import yaml
from environment import ROOT

sys.path.insert(0, str(pathlib.Path(__file__).parent))

PAGES = {
    "index": ["(index)=\n# First page\n\nA sentence. See [the second page](second.ipynb) and {ref}`second-part`.",
              "from attnbook.constants import ANSWER\nprint('answer', ANSWER)"],
    "second": ["(second)=\n# Second page\n\n(second-part)=\n## A part\n\nMore text.", "print('second', 1 + 1)"],
}


class TinyBook:
    """A folder with a book of two notebooks, and a package of one constant."""

    def __init__(self, root: pathlib.Path):
        self.root = root
        for name in ("tools", "_ext", "_templates", "static"):
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
        config["execute"]["timeout"] = 20
        self.write("_config.yml", yaml.safe_dump(config, allow_unicode=True))
        self.write("_toc.yml", yaml.safe_dump(
            {"format": "jb-book", "root": "index", "parts": [{"caption": "All", "chapters": [{"file": "second"}]}]}))
        self.write("attnbook/__init__.py", '__version__ = "9.9.9"\n')
        self.write("attnbook/constants.py", "ANSWER = 41\n")
        self.write("requirements.txt", "")
        self.write("references.bib", "")
        for page, cells in PAGES.items():
            self.write_notebook(page, cells)

    def write(self, name: str, text: str) -> None:
        """Write a file of the book."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def write_notebook(self, page: str, cells: list[str]) -> None:
        """Write a notebook of alternating text and code."""
        kinds = (nbformat.v4.new_markdown_cell, nbformat.v4.new_code_cell)
        made = nbformat.v4.new_notebook(cells=[kinds[i % 2](text, id=f"c{i}") for i, text in enumerate(cells)])
        made.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        nbformat.write(made, self.root / f"{page}.ipynb")

    @contextlib.contextmanager
    def changed(self, name: str, old: str, new: str):
        """Replace text in a file for a while."""
        path = self.root / name
        before = path.read_text(encoding="utf-8")
        assert old in before
        path.write_text(before.replace(old, new), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(before, encoding="utf-8")

    def run(self, *command: str) -> subprocess.CompletedProcess:
        """Run a Python script of the tiny book."""
        gone = ("ATTNBOOK_SITE", "PYTHONPATH")
        variables = {key: value for key, value in os.environ.items() if key not in gone}
        return subprocess.run([sys.executable, *command], cwd=self.root, env=variables, capture_output=True, text=True)

    def build(self) -> subprocess.CompletedProcess:
        """Build as `make book` does."""
        return self.run("tools/build_book.py")

    def page(self, page: str, edition: str = "en") -> str:
        """Text of a built page."""
        return (self.root / "site" / edition / f"{page}.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The tiny book, built once."""
    book = TinyBook(tmp_path_factory.mktemp("tiny"))
    done = book.build()
    assert done.returncode == 0, done.stdout + done.stderr
    return book
