"""The checks of the ledger. Each is measured once for this state of the package: by a page, or here."""

import pytest
from all_checks import CHECKS

from attnbook.claims import measure


@pytest.fixture(scope="session")
def measurements():
    """Measurements by check; what no page has measured yet is measured now and kept for the pages."""
    return {check: measure(check) for check in CHECKS}
