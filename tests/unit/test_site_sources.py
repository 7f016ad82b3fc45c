"""What the extension does to sources and to search: solutions taken out, Chinese cut into pairs."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "_ext"))

from attnbook_sphinx import solutions  # noqa: E402
from attnbook_sphinx.search import SearchChinesePairs  # noqa: E402

PAGE = """Before.

```{exercise}
:label: ex
Question.
```

````{solution} ex
:class: dropdown
SECRET
```python
SECRET
```
````

Between.

:::{solution-start} ex2
:::
SECRET
:::{solution-end}
:::
After.
"""


def test_solutions_are_taken_out_of_text():
    left = solutions.strip_text(PAGE)
    assert "SECRET" not in left and "solution" not in left
    assert all(word in left for word in ("Before.", "Question.", "Between.", "After."))


def test_solutions_are_taken_out_of_notebooks_with_their_cells():
    def markdown(text):
        return {"cell_type": "markdown", "source": text.splitlines(keepends=True)}

    code = {"cell_type": "code", "source": ["SECRET"], "outputs": []}
    kept = {"cell_type": "code", "source": ["print(1)"], "outputs": []}
    cells = [markdown("A\n```{solution-start} x\n```"), code, markdown("SECRET"), code,
             markdown("```{solution-end}\n```\nB"), kept]
    left = json.loads(solutions.strip_notebook(json.dumps({"cells": cells, "nbformat": 4})))
    assert ["".join(cell["source"]).strip() for cell in left["cells"]] == ["A", "B", "print(1)"]


def test_chinese_is_cut_into_pairs_and_latin_is_not():
    splitter = SearchChinesePairs({})
    assert splitter.split("注意力 and KV 缓存") == ["注意", "意力", "and", "KV", "缓存"]
    assert splitter.split("词") == ["词"]
