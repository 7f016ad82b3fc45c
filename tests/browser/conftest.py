"""A browser and the built site for the tests: pages that refuse, record and report everything that goes wrong.

`new_page(width=1280, dark=False, js=True)` opens a page in a shared browser context. Requests that leave the
machine are refused; such requests, answers of 400 and above, console errors and page errors are collected in
the list `problems`, and a test that leaves one there fails. A test that provokes an error on purpose takes the
fixture `problems`, looks at it and clears it.
"""

import contextlib
import itertools

import chromium
import pytest
from playwright.sync_api import sync_playwright

import _site

FLAGS = ("--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
         " --disable-component-update --disable-sync").split()
LOCAL = ("data:", "blob:", "about:")
SCREEN_HEIGHT = 800  # CSS pixels
PHONE = 768  # CSS pixels; narrower screens are touched


@pytest.fixture(scope="session")
def site():
    """Base URL of the built site, with a slash at the end; the editions are below en/ and zh/."""
    if not (_site.SITE / "en" / "index.html").exists():
        pytest.fail(f"no built book in {_site.SITE}; run `make book` first", pytrace=False)
    with _site.serve(_site.SITE) as base:
        yield base


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium: the system's if there is one, else the one Playwright installed."""
    found = chromium.find()
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=found, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def contexts(browser):
    """Browser contexts by settings; shared, so that scripts and styles are fetched once."""
    made = {}
    yield made
    for context in made.values():
        context.close()


@pytest.fixture
def problems():
    """What went wrong on the pages of this test; must be empty at its end."""
    return []


@contextlib.contextmanager
def _watched(browser, contexts, site, problems):
    """Factory of pages; at the end they are closed, and an error is raised if one had a problem."""
    pages = []

    def make(width: int = 1280, dark: bool = False, js: bool = True):
        page = _context(browser, contexts, width, dark, js).new_page()
        _watch(page, site, problems)
        pages.append(page)
        return page

    yield make
    for page in pages:
        page.close()
    assert not problems, "\n".join(problems)


@pytest.fixture
def new_page(browser, contexts, site, problems):
    """Factory of watched pages: new_page(width=1280, dark=False, js=True); the test fails if one had a problem."""
    with _watched(browser, contexts, site, problems) as make:
        yield make


@pytest.fixture(scope="module", params=_site.all_pages())
def visited(request, browser, contexts, site):
    """(path, page): each written page, loaded once for all tests of a file that only look at it."""
    with _watched(browser, contexts, site, []) as make:
        page = make()
        page.goto(site + request.param)
        _site.settle(page)
        yield request.param, page


@pytest.fixture(scope="module", params=itertools.product(_site.chapters(), (True, False)),
                ids=lambda both: f"{both[0]}-{'js' if both[1] else 'no-js'}")
def chapter(request, browser, contexts, site):
    """(path, page): each chapter with and without JavaScript, loaded once for all tests of a file."""
    path, js = request.param
    with _watched(browser, contexts, site, []) as make:
        page = make(js=js)
        page.goto(site + path)
        yield path, page


def _context(browser, contexts, width, dark, js):
    key = (width, dark, js)
    if key not in contexts:
        contexts[key] = browser.new_context(
            viewport={"width": width, "height": SCREEN_HEIGHT}, color_scheme="dark" if dark else "light",
            java_script_enabled=js, reduced_motion="reduce", has_touch=width < PHONE)
    return contexts[key]


def _watch(page, base, problems):
    """Refuse what is not ours and note every fault of the page."""
    def foreign(url):
        return not url.startswith((base, *LOCAL))

    def refuse(route):
        problems.append(f"request leaves the machine: {route.request.url} from {page.url}")
        route.abort()

    page.route(foreign, refuse)
    page.on("response", lambda r: r.status >= 400 and problems.append(f"status {r.status}: {r.url} on {page.url}"))
    page.on("pageerror", lambda e: problems.append(f"page error on {page.url}: {str(e)[:300]}"))
    page.on("console", lambda m: m.type == "error" and problems.append(f"console error on {page.url}: {m.text[:300]}"))
