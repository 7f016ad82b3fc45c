"""Run the ledger from a shell: python -m attnbook.claims [ids or sections] [--json] [--fresh]

Prints verdict and measured sentence of each claim. Exit status 0 if every check holds, 1 if one does not,
2 for an unknown id.
"""

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from attnbook.claims.cache import measure
from attnbook.claims.ledger import VERDICTS, measured, select, sentence

MANY = 10  # checks; below, a second process costs more than it saves


def main(arguments: list[str] | None = None) -> int:
    """Measure the claims named (all if none is) and print them; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m attnbook.claims", description="Run the ledger's checks.")
    parser.add_argument("claims", nargs="*", metavar="id-or-section", help="for example 2.1.1-h or 2.1; default: all")
    parser.add_argument("--json", action="store_true", help="print the values as JSON")
    parser.add_argument("--fresh", action="store_true", help="measure anew instead of reading the cache")
    options = parser.parse_args(arguments)
    try:
        chosen = select(*options.claims)
    except ValueError as error:
        parser.error(str(error))
    results = _results(chosen, options.fresh)
    print(json.dumps(results, indent=1, ensure_ascii=False) if options.json else _report(results))
    return 0 if all(result["holds"] is not False for result in results) else 1


def _results(chosen, fresh):
    """One record a claim; checks that several claims share run once, and many of them on two processes."""
    checks = sorted({check for one in chosen for check in one.checks})
    if len(checks) > MANY:
        with ProcessPoolExecutor(2, get_context("spawn")) as processes:
            list(processes.map(partial(measure, fresh=fresh), checks))
    elif fresh:
        for check in checks:
            measure(check, fresh=True)
    return [_record(one, measured(one)) for one in chosen]


def _record(one, measurement):
    return {
        "id": one.id, "section": one.section, "verdict": one.verdict, "checks": list(one.checks),
        "holds": None if measurement is None else measurement.holds,
        "values": {} if measurement is None else measurement.values,
        "shows": sentence(one, measurement, "en"),
    }


def _report(results):
    lines = []
    for result in results:
        lines.append(f"{result['id']:<12} {VERDICTS[result['verdict']].en}")
        if result["shows"]:
            lines.append(f"{'':<12} {result['shows']}")
        if result["holds"] is False:
            lines.append(f"{'':<12} THE CHECK DOES NOT HOLD: {', '.join(result['checks'])}")
    failed = sum(result["holds"] is False for result in results)
    run = sum(result["holds"] is not None for result in results)
    lines.append(f"claims: {len(results)}, measured: {run}, not backed by their check: {failed}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
