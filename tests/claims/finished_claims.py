"""The claims of finished sections, and the checks they name."""

from attnbook.claims import FINISHED_SECTIONS, all_claims

FINISHED = [claim for claim in all_claims().values() if claim.section in FINISHED_SECTIONS]
CHECKS = sorted({check for claim in FINISHED for check in claim.checks})
