"""Chromium for the browser tests: find it, or install it: python tools/chromium.py"""

import os
import pathlib
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def system() -> str | None:
    """Path of a Chromium that the machine has; ATTNBOOK_CHROMIUM may name one."""
    return os.environ.get("ATTNBOOK_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def playwrights() -> str | None:
    """Path of the Chromium that Playwright has downloaded."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if pathlib.Path(path).exists() else None


def works(path: str | None) -> bool:
    """Whether the file is a browser that starts; Ubuntu's package is an empty shell without snap."""
    if not path:
        return False
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def find() -> str | None:
    """Path of a working Chromium, the system's first."""
    path = system()
    if works(path):
        return path
    path = playwrights()
    return path if works(path) else None


def install() -> None:
    """Install one: from the system's packages as root on Debian and its kin, else by Playwright."""
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
        subprocess.run(["apt-get", "-qq", "update"], **quiet)
        subprocess.run(["apt-get", "-qq", "install", "-y", "--no-install-recommends", "chromium"], **quiet)
        if works(system()):
            return
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"])


def ensure() -> str:
    """Path of a working Chromium, installed if need be; ends the program if there is no way."""
    path = find()
    if path is None:
        print("No Chromium found; installing one.", flush=True)
        install()
        path = find()
    if path is None:
        sys.exit("No Chromium, and neither apt-get (as root) nor Playwright could install one. The browser tests\n"
                 "cannot run. Install Chromium or set ATTNBOOK_CHROMIUM to the path of one.")
    return path


if __name__ == "__main__":
    print(ensure())
