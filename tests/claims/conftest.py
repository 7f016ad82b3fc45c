"""The checks of all finished sections, run once and afresh for the whole test session."""

import pytest
from finished_claims import CHECKS

from attnbook.claims import measure


@pytest.fixture(scope="session")
def measurements():
    """Fresh measurements by check; they also fill the cache that pages read."""
    return {check: measure(check, fresh=True) for check in CHECKS}
