"""Serve the built book on this machine only: python tools/serve.py [PORT]"""

import functools
import http.server
import sys

from environment import SITE

PORT = 8000


def server(port: int) -> http.server.ThreadingHTTPServer:
    """A server of the site on the port, or on the next free one."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(SITE))
    for candidate in range(port, port + 20):
        try:
            return http.server.ThreadingHTTPServer(("127.0.0.1", candidate), handler)
        except OSError:
            continue
    sys.exit(f"ports {port} to {port + 19} are all in use; name another: make serve PORT=9000")


def main(port: int) -> None:
    """Serve until interrupted."""
    if not (SITE / "index.html").exists():
        sys.exit("there is no book yet; run `make book` first")
    with server(port) as running:
        print(f"http://127.0.0.1:{running.server_port}/   (stop with Ctrl-C)", flush=True)
        try:
            running.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else PORT)
