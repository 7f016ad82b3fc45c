"""The base of the labs: identity, bundle, static picture, and FormulaLab's arithmetic in Python."""

import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
import torch
import traitlets

from attnbook import widgets
from attnbook.attention import attention
from attnbook.widgets import FormulaLab, _lab, _svg
from attnbook.widgets._lab import Lab, bilingual
from attnbook.widgets.formula import attend


class Plain(Lab):
    """The smallest lab; it borrows a module that exists."""

    module = "formula"
    shown = ("size",)
    title = bilingual("A < B", "甲 < 乙")
    size = traitlets.Int(3).tag(sync=True)

    def picture(self, label):
        return _svg.picture(10, 10, _svg.text(1, 2, "in & out", "进 & 出"), labelled_by=label)

    def caption(self):
        return f"The size is {self.size}.", f"大小为 {self.size}。"


def bundle_of(lab):
    return lab._repr_mimebundle_()[0]


def test_importing_the_widgets_needs_neither_torch_nor_matplotlib():
    code = ("import sys; from attnbook import widgets; widgets.FormulaLab(); widgets.Quiz; "
            "sys.exit(any(name in sys.modules for name in ('torch', 'matplotlib', 'numpy')))")
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_every_name_offered_is_a_lab():
    for name in widgets.__all__:
        assert issubclass(getattr(widgets, name), Lab)


def test_identities_are_the_same_in_every_run_and_different_on_a_page():
    code = "from attnbook.widgets import FormulaLab as F; print(F().model_id, F().model_id, F().layout.model_id)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["FormulaLab-1", "FormulaLab-2", "FormulaLab-3-layout"]


def test_a_stored_output_has_widget_picture_and_plain_text():
    lab = Plain(size=4)
    data = bundle_of(lab)
    assert data["text/plain"] == repr(lab) == "Plain(size=4)"
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == lab.model_id
    assert f'data-attn-model="{lab.model_id}"' in data["text/html"]
    assert "The size is 4." in data["text/html"] and "大小为 4。" in data["text/html"]


def test_words_in_the_static_picture_are_escaped():
    html = bundle_of(Plain())["text/html"]
    assert "A &lt; B" in html and "in &amp; out" in html and "A < B" not in html


def test_an_unknown_trait_is_named():
    with pytest.raises(TypeError, match=r"Plain got 'sise'; expected one of size, title"):
        Plain(sise=2)


def test_a_lab_without_picture_says_so():
    class Bare(Lab):
        module = "formula"

    with pytest.raises(NotImplementedError, match="Bare has no static picture"):
        Bare()._repr_mimebundle_()


@pytest.mark.parametrize("name", sorted(set(widgets.__all__) - {"Lab"}))
def test_bundle_is_one_small_module(name):
    source = getattr(widgets, name)._esm
    assert not re.search(r"^\s*(import\b|//)", source, re.MULTILINE)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", source)
    assert not re.search(r"export (async )?(function|const) (render|initialize)\b", source)
    assert len(re.findall(r"^export default\b", source, re.MULTILINE)) == 1


def test_shared_parts_are_small():
    assert len(_lab._COMMENTS.sub("", (_lab.STATIC / "shared.js").read_text(encoding="utf-8"))) < 8_192
    assert len(_lab.style("formula")) < 8_192


# -- FormulaLab ---------------------------------------------------------------------------

def test_formula_lab_computes_attention():
    lab = FormulaLab()
    q, k, v = (torch.tensor(x, dtype=torch.float64) for x in (lab.q, lab.k, lab.v))
    output, weights = attention(q, k, v)
    _, scaled, mine, mixed = attend(lab.q, lab.k, lab.v)
    torch.testing.assert_close(torch.tensor(scaled, dtype=torch.float64), q @ k.T / math.sqrt(2))
    torch.testing.assert_close(torch.tensor(mine, dtype=torch.float64), weights)
    torch.testing.assert_close(torch.tensor(mixed, dtype=torch.float64), output)


def test_formula_lab_refuses_vectors_outside_the_plane():
    with pytest.raises(traitlets.TraitError):
        FormulaLab(q=[[9.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    with pytest.raises(traitlets.TraitError):
        FormulaLab(k=[[0.0, 0.0]])
    with pytest.raises(traitlets.TraitError):
        FormulaLab(row=3)


def pictures(html):
    return [ET.fromstring(text) for text in re.findall(r"<svg.*?</svg>", html, re.DOTALL)]


def test_static_picture_is_valid_and_takes_the_colours_of_the_page():
    lab = FormulaLab(row=1)
    html = bundle_of(lab)["text/html"]
    assert len(pictures(html)) == 2
    for colour in re.findall(r'(?:fill|stroke)="([^"]+)"', html):
        assert colour == "none" or re.fullmatch(r"var\(--attn-[a-z]+, (#[0-9A-F]{6}|currentColor)\)", colour)
    assert f'role="img" aria-labelledby="{lab.model_id}-caption"' in html and f'id="{lab.model_id}-caption"' in html


def test_static_picture_speaks_both_languages():
    html = bundle_of(FormulaLab())["text/html"]
    assert html.count('class="lang-en"') == html.count('class="lang-zh"') >= 7


def test_static_picture_follows_the_state():
    assert FormulaLab(row=0).picture("x") != FormulaLab(row=2).picture("x")
    assert FormulaLab().picture("x") == FormulaLab().picture("x")


# -- numbers in words ---------------------------------------------------------------------

@pytest.mark.parametrize("x, words", [
    (0.62, "0.620"), (12.34, "12.3"), (1230.4, "1230"), (999.96, "1000"), (-3.0, "−3.00"), (0.0, "0"), (-1e-320, "0"),
    (1.2e-5, "1.20×10⁻⁵"), (-5e7, "−5.00×10⁷"), (math.inf, "∞"), (-math.inf, "−∞"), (math.nan, "–"),
])
def test_fmt_writes_three_significant_digits(x, words):
    if x == -1e-320:
        assert _svg.fmt(x).startswith("−")  # tiny, but not zero
    else:
        assert _svg.fmt(x) == words


@pytest.mark.parametrize("x, words", [(0.004, "0.00"), (-0.004, "0.00"), (-1.5, "−1.50")])
def test_fix_never_writes_minus_zero(x, words):
    assert _svg.fix(x) == words
