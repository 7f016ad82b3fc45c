"""Shared by all suites: the tools of the Makefile can be imported, and run in the environment they set."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))

import environment  # noqa: E402

environment.prepare()
