"""The base of all labs: widgets whose controls and arithmetic run in the page, with or without a kernel.

How a lab is made
-----------------
1.  `static/<name>.js` draws it. It starts with no import: the helpers of `static/shared.js` (tr, fmt, fix, softmax,
    dot, mulberry, normals, h, s, put, picture, mark, arrow, card, button, slider, choice, toggle, handle, frame, save,
    watch, still) stand in front of it in the same module, so these names are taken. It exports its pure functions by name, for the
    tests that compare them with Python, and ends with

        export default {
          render({ model, el }) {
            const title = tr(...model.get("title"));
            const lab = card(el, { title, ask: tr("Does ...?", "……？"), reset: () => save(model, START) });
            const control = slider(tr("distance", "距离"), 2, 64, 1, model.get("distance"), String,
                                   (v) => save(model, { distance: v }));
            lab.controls.append(control.node);
            function draw() { control.set(model.get("distance")); ...; lab.say(tr("...", "……")); }
            draw();                                             // the first state already shows the point
            return watch(model, ["distance"], frame(draw));     // every later one, once a frame
          },
        };

    Words stand beside each other as tr("English", "中文"). Colours are CSS classes of `static/lab.css`: fill-query,
    line-key, ink-value (words), muted, axis ..., so light and dark need no code; rules that only this lab needs go
    into `static/<name>.css`. Comment lines are left out of the bundle. Never export anything named `render` or
    `initialize`.

2.  `<name>.py` holds the class:

        class RelayLab(Lab):
            module = "relay"                                    # static/relay.js
            shown = ("distance",)                               # traits in the repr
            title = bilingual("Relay or broadcast", "接力还是广播")
            distance = traitlets.Int(16, min=2, max=64).tag(sync=True)

            def picture(self, label):  # the same first state as SVG, from _svg.py; label: id for aria-labelledby
                return _svg.picture(340, 200, ..., labelled_by=label)

            def caption(self):         # one sentence with the numbers, (en, zh): caption and name of the picture
                return f"After {self.distance} hops ...", f"经过 {self.distance} 跳……"

    and is named in `widgets/__init__.py`.

What the base gives: an identity that does not change from run to run (`RelayLab-1`), the widget, the static picture
(text/html) that the book shows first and keeps without JavaScript, and a plain repr without addresses. Data of a
model goes into a trait, rounded and compact. A lab never needs a kernel; with one, `observe` works as usual.
"""

import html
import pathlib
import re
from collections import Counter
from functools import cache

import anywidget
import ipywidgets
import traitlets

STATIC = pathlib.Path(__file__).parent / "static"

# Comments that have their lines to themselves, and empty lines.
_COMMENTS = re.compile(r"^[ \t]*(?:/\*\*(?:(?!\*/).)*\*/|//[^\n]*)?[ \t]*\n", re.MULTILINE | re.DOTALL)


@cache
def bundle(name: str) -> str:
    """The ES module of a lab: shared.js and the lab's own file as one, without the comment lines."""
    source = "\n".join((STATIC / f"{part}.js").read_text(encoding="utf-8") for part in ("shared", name))
    return _COMMENTS.sub("", source)


@cache
def style(name: str) -> str:
    """The style sheet all labs share, with the lab's own static/<name>.css if there is one."""
    sheets = (STATIC / "lab.css", STATIC / f"{name}.css")
    source = "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets if sheet.exists())
    return re.sub(r"/\*.*?\*/\n?", "", source, flags=re.DOTALL)


def bilingual(en: str, zh: str) -> traitlets.List:
    """A trait that holds words in both languages, [en, zh]."""
    return traitlets.List(traitlets.Unicode(), default_value=[en, zh], minlen=2, maxlen=2).tag(sync=True)


def spans(en: str, zh: str) -> str:
    """Both languages as HTML: a page of the book shows its own (static/attnbook.css), other viewers show English."""
    return both(html.escape(en), html.escape(zh))


def both(en: str, zh: str) -> str:
    """As `spans`, for words that are markup already."""
    return f'<span class="lang-en">{en}</span><span class="lang-zh" lang="zh-CN" hidden>{zh}</span>'


class Lab(anywidget.AnyWidget):
    """A widget of the book. Subclasses set module, title, shown, and write picture() and caption()."""

    module: str  # name of the file in static/, without .js
    shown: tuple[str, ...] = ()  # traits that the repr names

    title = bilingual("", "")

    _made = Counter()

    def __init_subclass__(cls, **kwargs):
        if "module" in cls.__dict__:
            cls._esm, cls._css = bundle(cls.module), style(cls.module)
        super().__init_subclass__(**kwargs)

    def __init__(self, **traits):
        unknown = [name for name in traits if name not in self.trait_names() and name != "model_id"]
        if unknown:
            known = ", ".join(self._own_traits())
            raise TypeError(f"{type(self).__name__} got {unknown[0]!r}; expected one of {known}")
        traits.setdefault("model_id", self._next_id())
        traits.setdefault("layout", ipywidgets.Layout(model_id=f"{traits['model_id']}-layout"))
        super().__init__(**traits)

    @classmethod
    def _next_id(cls) -> str:
        """The same for the same cell in every run of a notebook, so that stored outputs do not change."""
        Lab._made[cls.__name__] += 1
        return f"{cls.__name__}-{Lab._made[cls.__name__]}"

    @classmethod
    def _own_traits(cls) -> list[str]:
        return sorted(n for n, t in cls.class_traits(sync=True).items() if issubclass(t.this_class, Lab))

    def picture(self, label: str) -> str:
        """The present state as an SVG, named by the element with the id `label`."""
        raise NotImplementedError(f"{type(self).__name__} has no static picture")

    def caption(self) -> tuple[str, str]:
        """What the picture shows, in a sentence with its numbers: (en, zh)."""
        raise NotImplementedError(f"{type(self).__name__} has no caption")

    def static(self) -> str:
        """What stands in place of the widget without JavaScript: title, picture, caption."""
        label = f"{self.model_id}-caption"
        return (f'<p><strong>{spans(*self.title)}</strong></p>{self.picture(label)}'
                f'<p id="{label}">{spans(*self.caption())}</p>')

    def _repr_mimebundle_(self, **kwargs):
        data, metadata = super()._repr_mimebundle_(**kwargs)
        box = f'<div class="attn-static" data-attn-model="{self.model_id}">{self.static()}</div>'
        return {**data, "text/plain": repr(self), "text/html": box}, metadata

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.shown)})"
