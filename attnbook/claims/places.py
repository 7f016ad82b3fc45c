"""Where the cards stand: the chapters' calls of claim() and claims(), read from the notebooks beside the package."""

import ast
import json
from functools import lru_cache
from pathlib import Path

BOOK = Path(__file__).parents[2]


@lru_cache(maxsize=1)
def places(book: Path = BOOK) -> dict[str, list[str]]:
    """Pages by claim ("2.1.1-h" -> ["chapters/01_routing"]) of all cards; empty where the notebooks are not at hand."""
    found = {}
    for path in sorted(book.glob("chapters/*.ipynb")):
        for claim_id in dict.fromkeys(cards(path)):
            found.setdefault(claim_id, []).append(path.relative_to(book).with_suffix("").as_posix())
    return found


def cards(notebook: Path) -> list[str]:
    """Ids of the cards of one notebook, in order."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [claim_id for cell in cells if cell["cell_type"] == "code" for claim_id in _called("".join(cell["source"]))]


def _called(source):
    """The ids in all calls of claim and claims of a cell; a cell that is no plain Python has none."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)
             and isinstance(node.func, ast.Name) and node.func.id in ("claim", "claims")]
    return [argument.value for call in calls for argument in call.args if isinstance(argument, ast.Constant)]
