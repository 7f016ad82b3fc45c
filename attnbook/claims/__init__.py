"""The ledger: 200 claims about attention, each with a verdict, the correct statement and what was measured.

claim("2.1.1-h") shows one of them as a card; claims(...) shows several; claim_list(...) lists all or some of them;
counts() says how many hold, and how far.
`python -m attnbook.claims` runs them from a shell.
"""

from attnbook.claims.cache import measure
from attnbook.claims.card import Card, claim, claims
from attnbook.claims.ledger import VERDICTS, Claim, Verdict, all_claims, counts, select
from attnbook.claims.measurement import Measurement
from attnbook.claims.page import ClaimList, claim_list

__all__ = ["VERDICTS", "Card", "Claim", "ClaimList", "Measurement", "Verdict",
           "all_claims", "claim", "claim_list", "claims", "counts", "measure", "select"]
