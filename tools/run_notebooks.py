"""Execute notebooks in place and store their outputs: python tools/run_notebooks.py [NOTEBOOK ...]

Cell ids, tags and text stay. What would differ from run to run or machine to machine is not
stored, and a widget is stored as its picture, which GitHub and a fresh JupyterLab can show.
"""

import pathlib
import sys
import time

import nbformat
from jupyter_cache.executors.utils import single_nb_execution

import editions
import environment

VIEW = "application/vnd.jupyter.widget-view+json"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def clean(notebook) -> None:
    """Remove widget state, times and views that have a picture; name cells by their order where names repeat."""
    notebook.metadata = nbformat.from_dict({**METADATA, **{
        key: value for key, value in notebook.metadata.items() if key not in (*METADATA, "widgets")}})
    seen = set()
    for number, cell in enumerate(notebook.cells):
        if cell.id in seen:
            cell.id = f"cell-{number}"
        seen.add(cell.id)
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "text/html" in data or "image/png" in data:
                data.pop(VIEW, None)


def run(path: pathlib.Path) -> bool:
    """Execute one notebook and write it back; on an error print it and leave the file as it was."""
    started = time.perf_counter()
    notebook = nbformat.read(path, as_version=4)
    result = single_nb_execution(
        notebook, cwd=str(path.parent), timeout=editions.timeout(), allow_errors=False,
        store_widget_state=False, extra_arguments=["--log-level=ERROR"])
    if result.err is not None:
        print(f"{path}: {result.exc_string.strip()}", file=sys.stderr)
        return False
    clean(notebook)
    nbformat.write(notebook, path)
    print(f"{path}: {time.perf_counter() - started:.1f} s")
    return True


def main(names: list[str]) -> int:
    """Execute the named notebooks, or all of the book; returns the exit code."""
    paths = [pathlib.Path(name).resolve() for name in names]
    if not paths:
        pages = editions.pages_of(editions.read_toc())
        paths = [path for path in map(editions.source, pages) if path.suffix == ".ipynb"]
    results = [run(path) for path in paths]
    return 0 if all(results) else 1


if __name__ == "__main__":
    environment.prepare()
    sys.exit(main(sys.argv[1:]))
