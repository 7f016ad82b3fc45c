"""The built site: where it lies, which pages it has, and a server that gzips as a real host would."""

import contextlib
import functools
import gzip
import http.server
import io
import os
import pathlib
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = pathlib.Path(os.environ.get("ATTNBOOK_SITE", ROOT / "site"))
PACKED = (".html", ".js", ".css", ".svg", ".json", ".txt", ".inv")
SPHINX_PAGES = ("genindex", "search", "py-modindex", "prf-prf")


def page_names(edition: str) -> list[str]:
    """Written pages of one edition ("en" or "zh") as paths without .html; Sphinx's own pages are left out."""
    root = SITE / edition
    names = (f.relative_to(root).with_suffix("").as_posix() for f in sorted(root.rglob("*.html")))
    return [name for name in names if not name.startswith("_") and name not in SPHINX_PAGES]


def all_pages() -> list[str]:
    """Paths of the written pages of both editions, from the root of the site: `en/index.html` and so on."""
    return [f"{edition}/{name}.html" for edition in ("en", "zh") for name in page_names(edition)]


def chapters() -> list[str]:
    """Paths of the chapters of both editions."""
    return [path for path in all_pages() if "/chapters/" in path]


class Handler(http.server.SimpleHTTPRequestHandler):
    """Static files, quiet, compressed when the type is worth it and the browser agrees."""

    def log_message(self, *args):
        pass

    def send_head(self):
        path = pathlib.Path(self.translate_path(self.path))
        accepts = "gzip" in self.headers.get("Accept-Encoding", "")
        if not (path.is_file() and path.suffix in PACKED and accepts):
            return super().send_head()
        body = _packed(path, path.stat().st_mtime_ns)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return io.BytesIO(body)


@functools.lru_cache(maxsize=512)
def _packed(path: pathlib.Path, stamp: int) -> bytes:
    """The file's bytes, compressed; stamp is its time of change, so that a new build is seen."""
    return gzip.compress(path.read_bytes(), 6)


@contextlib.contextmanager
def serve(folder: pathlib.Path):
    """Serve folder in a thread; gives the base URL with a slash at the end."""
    handler = functools.partial(Handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def settle(page, seconds: float = 30) -> None:
    """Wait until formulas are set, then at most some seconds until every widget is alive."""
    page.evaluate("async () => { await window.MathJax?.startup?.promise; }")
    page.wait_for_function("!document.querySelector('.attn-static[data-attn-model]')", timeout=1000 * seconds)
