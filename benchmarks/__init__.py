"""Measurements of speed and memory, apart from the tests: ratios in one interleaved run, never absolute times."""

import os

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # the profiler that counts memory also logs to stderr
