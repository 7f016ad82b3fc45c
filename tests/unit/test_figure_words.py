"""The extension that puts figures into the page: labels, their translation, colours and ids."""

import pathlib
import sys

import matplotlib
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "_ext"))

from attnbook_sphinx import labels, svg  # noqa: E402

from attnbook.figures.style import STYLE, new_figure, to_svg  # noqa: E402

WORDS = {"seed {}": "种子 {}", "distance $T - t$": "距离 $T - t$", "plain": "朴素",
         "{} of {} words": "{1} 个词中的 {0} 个"}


@pytest.fixture(scope="module")
def figure():
    """An SVG as the notebooks store it: plain words, formulas, a legend, a label on a coloured cell."""
    with matplotlib.rc_context(STYLE):
        drawn, axes = new_figure(2.5)
        axes.semilogy(np.arange(1, 4), [1e-3, 1, 10], color="#0072B2", label="seed 3")
        axes.plot([1, 2], [1, 2], color="black", label=r"$\|\partial h_T / \partial h_t\|$")
        axes.set(xlabel="distance $T - t$", ylabel="plain", title="not in the list")
        axes.text(1, 1, "0.5", color="white").set_gid("attn-fixed-cell")
        axes.legend()
        return to_svg(drawn)


@pytest.mark.parametrize("label", [
    "T", "$d_k$", "10", r"$\mathdefault{10^{-3}}$", "h₁", "1.5", r"$\mathrm{softmax}$", ""])
def test_symbols_need_no_words(label):
    assert not labels.needs_words(label)
    assert labels.translate(label, {}) == label


@pytest.mark.parametrize("label", ["distance", "seed 3", "RNN", "distance $T$", "首 word"])
def test_words_need_a_translation(label):
    assert labels.needs_words(label)
    assert labels.translate(label, {}) is None


@pytest.mark.parametrize(("label", "said"), [
    ("plain", "朴素"), ("seed 3", "种子 3"), ("seed 0.95", "种子 0.95"), ("seed −1", "种子 −1"),
    ("3 of 10 words", "10 个词中的 3 个")])
def test_numbers_are_carried_over(label, said):
    assert labels.translate(label, WORDS) == said


def test_simple_formulas_are_cut_into_runs():
    assert labels.pieces(r"$h_T^{10}$ left") == [
        ("h", True, 0), ("T", True, -1), ("1", False, 1), ("0", False, 1), (" left", False, 0)]
    assert labels.pieces(r"$\mathrm{tanh}\ x$")[0] == ("t", False, 0)
    assert labels.pieces(r"$\frac{1}{2}$") is None


def test_missing_words_are_named(figure):
    assert svg.missing(figure, WORDS) == ["not in the list"]


def test_a_figure_becomes_part_of_the_page(figure):
    words = WORDS | {"not in the list": "标题"}
    page = svg.inline(figure, prefix="fig7-", alt='a "quoted" description', words=words)
    for said in ("种子 3", "距离 ", "朴素", "标题", 'aria-label="a &quot;quoted&quot; description"'):
        assert said in page
    for gone in ("seed", "distance", "font-family", "<metadata", "<style", "<?xml", "DOCTYPE"):
        assert gone not in page
    assert "var(--attn-query)" in page and "#0072b2" not in page.lower()
    root = svg.read(page)
    ids = [node.get("id") for node in root.iter() if node.get("id")]
    assert ids and all(name.startswith("fig7-") for name in ids)
    links = [value for node in root.iter() for key, value in node.attrib.items() if key.endswith("href")]
    assert links and all(value.startswith("#fig7-") for value in links)


def test_without_a_catalogue_labels_stay(figure):
    page = svg.inline(figure, prefix="f-", alt="x")
    assert "seed 3" in page and "not in the list" in page


def test_text_on_a_coloured_cell_keeps_its_colour(figure):
    assert "fill: #ffffff" in svg.inline(figure, prefix="f-", alt="x")


def test_words_of_a_role_take_the_tone_for_words():
    with matplotlib.rc_context(STYLE):
        drawn, axes = new_figure(2.0)
        axes.text(0, 0, "key", color="#D55E00")
        assert "var(--attn-key-ink)" in svg.inline(to_svg(drawn), prefix="f-", alt="x")


def test_a_figure_is_the_same_every_time(figure):
    assert svg.inline(figure, prefix="f-", alt="x") == svg.inline(figure, prefix="f-", alt="x")
