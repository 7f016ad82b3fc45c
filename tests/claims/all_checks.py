"""The claims of the ledger, and the checks they name."""

from attnbook.claims import all_claims

CLAIMS = list(all_claims().values())
CHECKS = sorted({check for claim in CLAIMS for check in claim.checks})
