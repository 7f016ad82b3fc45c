"""References of the claims, from references.bib."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

BIB = Path(__file__).with_name("references.bib")  # in the repository a link to the file at the root


@dataclass(frozen=True)
class Reference:
    """A reference as cards print it: authors and year, title, and where to find it (text and address, or None)."""

    label: str
    title: str
    link: tuple[str, str] | None


@lru_cache(maxsize=1)
def references() -> dict[str, Reference]:
    """All references by key. Raises FileNotFoundError if references.bib is missing."""
    from pybtex.database import parse_file  # slow to import; needed by cards only

    return {key: _reference(entry) for key, entry in parse_file(BIB, "bibtex").entries.items()}


def _reference(entry):
    from pybtex.richtext import Text

    def plain(latex):
        return str(Text.from_latex(latex)).replace("\u00a0", " ")

    names = [plain(" ".join(p.prelast_names + p.last_names)) for p in entry.persons["author"]]
    return Reference(f"{_and(names)} {entry.fields['year']}", plain(entry.fields["title"]), _link(entry.fields))


def _and(names):
    """One or two names in full, else the first and "et al."."""
    if len(names) > 2 or names[-1] == "others":
        return f"{names[0]} et al."
    return " and ".join(names)


def _link(fields):
    if "eprint" in fields:
        return f"arXiv:{fields['eprint']}", f"https://arxiv.org/abs/{fields['eprint']}"
    if "doi" in fields:
        return f"doi:{fields['doi']}", f"https://doi.org/{fields['doi']}"
    address = re.search(r"\\url\{(https?://(?:www\.)?([^/}]+)[^}]*)\}", fields.get("howpublished", ""))
    return (address[2], address[1]) if address else None
