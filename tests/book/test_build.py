"""The build: nothing stale, nothing broken that passes, and no work twice."""

import pytest


def test_second_build_does_nothing(tiny):
    done = tiny.build()
    assert done.returncode == 0
    assert "up to date" in done.stdout and "ran " not in done.stdout


def test_build_says_where_the_book_lies(tiny):
    assert (tiny.root / "site" / "en" / "index.html").as_uri() in tiny.build().stdout


def test_edit_in_the_package_changes_the_page(tiny):
    assert "answer 41" in tiny.page("index")
    with tiny.changed("attnbook/constants.py", "41", "42"):
        assert tiny.build().returncode == 0
        assert "answer 42" in tiny.page("index")


def test_edit_of_one_sentence_executes_nothing(tiny):
    with tiny.changed("index.ipynb", "A sentence.", "Another sentence."):
        done = tiny.build()
    assert done.returncode == 0 and "ran " not in done.stdout
    assert "Another sentence." in tiny.page("index")


def test_tag_is_shown_and_only_its_own_notebook_runs(tiny):
    with tiny.changed("index.ipynb", '"metadata": {},\n   "outputs"', '"metadata": {"tags": ["hide-input"]},\n   "outputs"'):
        done = tiny.build()
    assert done.returncode == 0, done.stderr
    assert "tag_hide-input" in tiny.page("index")
    assert "second.ipynb" not in done.stdout


def test_failing_cell_fails_the_build_each_time(tiny):
    with tiny.changed("second.ipynb", "1 + 1", "1 / 0"):
        for _ in range(2):
            done = tiny.build()
            assert done.returncode != 0
            assert "ZeroDivisionError" in done.stderr and "second" in done.stderr


def test_slow_cell_fails_the_build(tiny):
    with (tiny.changed("_config.yml", "timeout: 20", "timeout: 1"),
          tiny.changed("second.ipynb", "1 + 1", "__import__('time').sleep(2)")):
        done = tiny.build()
    assert done.returncode != 0 and "CellTimeoutError" in done.stderr


def test_warnings_fail_the_build_each_time(tiny):
    """Also over an existing build, where Sphinx itself would not repeat the warnings of pages it has parsed."""
    faults = "{ref}`no-such-place` [gone](gone.ipynb) {term}`no such word` {cite:p}`nobody`"
    with (tiny.changed("second.ipynb", "More text.", faults),
          tiny.changed("second.ipynb", "1 + 1", "__import__('warnings').warn('odd')")):
        for _ in range(2):
            done = tiny.build()
            assert done.returncode != 0
            for word in ("no-such-place", "gone.ipynb", "no such word", "nobody", "stderr"):
                assert word in done.stderr, word


def test_page_that_left_the_book_leaves_the_site(tiny):
    toc = "- caption: All\n  chapters:\n  - file: second\n"
    with (tiny.changed("_toc.yml", toc, "[]\n"), tiny.changed("_toc.yml", "parts:\n[]", "parts: []"),
          tiny.changed("index.ipynb", "See [the second page](second.ipynb) and {ref}`second-part`.", "")):
        done = tiny.build()
        assert done.returncode == 0, done.stderr
        assert not (tiny.root / "site" / "en" / "second.html").exists()


def test_cell_that_fails_leaves_the_stored_notebook_alone(tiny):
    before = (tiny.root / "second.ipynb").read_text()
    with tiny.changed("second.ipynb", "1 + 1", "1 / 0"):
        broken = (tiny.root / "second.ipynb").read_text()
        assert tiny.run("tools/run_notebooks.py", "second.ipynb").returncode != 0
        assert (tiny.root / "second.ipynb").read_text() == broken
    assert (tiny.root / "second.ipynb").read_text() == before


def test_notebooks_are_executed_in_place_and_the_same_twice(tiny):
    path = tiny.root / "second.ipynb"
    assert tiny.run("tools/run_notebooks.py", "second.ipynb").returncode == 0
    first = path.read_text()
    assert '"second 2\\n"' in first and "c1" in first
    assert tiny.run("tools/run_notebooks.py", "second.ipynb").returncode == 0
    assert path.read_text() == first


@pytest.mark.parametrize("name", ["attnbook/__init__.py", "attnbook/words.yaml", "attnbook/widgets/lab.js",
                                  "requirements.txt", "references.bib"])
def test_cache_belongs_to_package_data_and_pins(tiny, name):
    def key():
        return tiny.run("-c", "import sys; sys.path.insert(0, 'tools'); import executed; print(executed.key())").stdout
    tiny.write(name, "# one\n__version__ = \"9.9.9\"\n")
    before = key()
    tiny.write(name, "# two\n__version__ = \"9.9.9\"\n")
    assert before and key() != before
