"""One widget on a bare page: rendered from Python as the book does it, without building the book."""

import contextlib
import json
import pathlib

from ipywidgets.embed import embed_data

ROOT = pathlib.Path(__file__).resolve().parents[2]
STATE = "application/vnd.jupyter.widget-state+json"


def page_html(*widgets, language: str = "en", dark: bool = False) -> str:
    """A whole HTML page with the widgets' static pictures, their state and the book's own host and style."""
    state = embed_data(views=list(widgets), drop_defaults=False)["manager_state"]
    boxes = "".join(w._repr_mimebundle_()[0]["text/html"] for w in widgets)
    static = ROOT / "static"
    host, style = ((static / name).read_text(encoding="utf-8") for name in ("anywidget-lite.js", "attnbook.css"))
    saved = json.dumps(state).replace("</", "<\\/")
    theme = "dark" if dark else "light"
    return (f'<!doctype html><html lang="{language}" data-theme="{theme}"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width"><title>widgets</title>'
            f"<style>{style}body{{margin:8px;color:var(--attn-ink);background:var(--attn-paper);"
            f"font-family:sans-serif}}</style></head><body><main><h1>Widgets</h1>{boxes}</main>"
            f'<script type="{STATE}">{saved}</script><script>{host}</script></body></html>')


@contextlib.contextmanager
def shown(browser, *widgets, language="en", dark=False, width=760, js=True):
    """A page with the widgets, ready for the reader; leaving it fails if the page met an error."""
    context = browser.new_context(viewport={"width": width, "height": 900}, java_script_enabled=js,
                                  color_scheme="dark" if dark else "light", reduced_motion="reduce")
    page, problems = context.new_page(), []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: message.type == "error" and problems.append(message.text))
    page.set_content(page_html(*widgets, language=language, dark=dark))
    if js:
        alive = "n => document.querySelectorAll('.attn-widget[data-ready]').length === n"
        page.wait_for_function(alive, arg=len(widgets))
    yield page
    context.close()
    assert not problems, "\n".join(problems)


def module(page, source: str):
    """Load an ES module's text in the page as `window.lab`, so that a test can call what it exports."""
    page.evaluate("""async (source) => {
        window.lab = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    }""", source)
