"""The pages as readers meet them, from the built site in Chromium.

Bytes of a first visit, time until the labs are alive, time of one update of a lab.
"""

import pathlib
import sys
import time

from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "browser")]
import _site  # noqa: E402
import chromium  # noqa: E402

BYTES = 1_000_000  # budget: gzip bytes of a first visit
ALIVE = 1.0  # budget: seconds
UPDATE = 16.0  # budget: milliseconds at the 95th percentile
TURNS = 60
CONTROLS = ".attn-handle, input[type=range], input[type=radio]"

# One change of a control, drawn and laid out, without the wait for the frame.
UPDATES = """async ([lab, selector, turns]) => {
  const frame = window.requestAnimationFrame, times = [];
  const controls = [...lab.querySelectorAll(selector)].filter(c => c.checkVisibility());
  for (let i = 0; controls.length && i < turns; i++) {
    const control = controls[i % controls.length], due = [];
    if (!control.isConnected) continue;
    window.requestAnimationFrame = draw => due.push(draw);
    const start = performance.now();
    if (control.type === "range") {
      control[i % 2 ? "stepDown" : "stepUp"]();
      control.dispatchEvent(new Event("input", { bubbles: true }));
    } else if (control.type === "radio") {
      control.checked = true;
      control.dispatchEvent(new Event("change", { bubbles: true }));
    } else control.dispatchEvent(new KeyboardEvent("keydown", { key: i % 2 ? "ArrowLeft" : "ArrowRight", bubbles: true }));
    due.forEach(draw => draw(performance.now()));
    lab.getBoundingClientRect();
    times.push(performance.now() - start);
    window.requestAnimationFrame = frame;
    await new Promise(done => frame(done));
  }
  window.requestAnimationFrame = frame;
  return times.sort((a, b) => a - b);
}"""


def run() -> bool:
    """Print a line for each page and each lab of the English edition; True if all are within the budgets."""
    good = True
    with _site.serve(_site.SITE) as base, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium.ensure(), args=["--no-sandbox"])
        for name in _site.page_names("en"):
            good &= _page(browser, f"{base}en/{name}.html", name)
        browser.close()
    return good


def _page(browser, url, name):
    """A first visit with an empty cache, then every lab of the page."""
    page, sizes = browser.new_context().new_page(), []
    page.on("requestfinished", lambda request: sizes.append(request.sizes()["responseBodySize"]))
    start = time.perf_counter()
    page.goto(url)
    page.wait_for_function("!document.querySelector('.attn-static[data-attn-model]')")
    alive = time.perf_counter() - start
    page.wait_for_load_state("networkidle")
    print(f"{name}: {sum(sizes) / 1000:.0f} kB, alive after {alive:.2f} s")
    updates = [_lab(page, lab) for lab in page.query_selector_all(".attn-lab:not(.attn-quiz)")]
    page.context.close()
    return sum(sizes) <= BYTES and alive <= ALIVE and all(updates)


def _lab(page, lab):
    times = page.evaluate(UPDATES, [lab, CONTROLS, TURNS])
    if not times:
        print(f"    no control in {lab.inner_text()[:40]!r}")
        return False
    late = times[int(0.95 * (len(times) - 1))]
    title = lab.query_selector(".attn-title").inner_text()
    print(f"    {title}: update {times[len(times) // 2]:.1f} ms, 95th percentile {late:.1f} ms")
    return late <= UPDATE
