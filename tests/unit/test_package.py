"""Importing attnbook is light, and its modules come by name."""

import subprocess
import sys

import pytest

import attnbook


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_importing_the_package_loads_neither_torch_nor_matplotlib():
    heavy = run("import sys, attnbook; dir(attnbook); print(*sys.modules)")
    assert not {"torch", "numpy", "matplotlib", "anywidget", "IPython"} & set(heavy)


def test_a_module_is_loaded_when_it_is_first_used():
    code = "import sys, attnbook; attnbook.softmax; print('torch' in sys.modules, 'matplotlib' in sys.modules)"
    assert run(code) == ["True", "False"]


def test_the_atom_needs_no_figure_no_widget_and_no_task():
    code = "import sys, attnbook.attention; print(*(m for m in sys.modules if m.startswith('attnbook')))"
    assert set(run(code)) == {"attnbook", "attnbook._checks", "attnbook.attention", "attnbook.softmax"}


def test_the_parts_need_no_figure_and_no_widget():
    code = ("import sys, attnbook.recurrent, attnbook.training, attnbook.tasks.recall, attnbook.tasks.coreference;"
            "print(*sys.modules)")
    loaded = set(run(code))
    assert "matplotlib" not in loaded and not {m for m in loaded if m.startswith(("attnbook.wid", "attnbook.fig"))}


def test_the_top_level_offers_modules_only():
    assert attnbook.softmax.__name__ == "attnbook.softmax"
    assert set(attnbook.__all__) <= set(dir(attnbook))
    assert attnbook.tasks.recall.__name__ == "attnbook.tasks.recall"


def test_an_unknown_name_is_an_attribute_error():
    for module in (attnbook, attnbook.tasks):
        with pytest.raises(AttributeError, match="has no attribute 'no_such_part'"):
            module.no_such_part
