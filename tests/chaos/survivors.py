"""`python -m tests.chaos.survivors` fails if more mutants of mutmut survived than are allowed here.

`mutmut show NAME` prints a mutant. If a test should have found it, write the test, and lower the number of its module here.
"""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

MAX_ALIVE: Final[Mapping[str, int]] = {
    "events.chain": 8,
    "service.games.visibility": 8,
    "service.match.decide": 15,
    "service.match.redaction": 4,
    "service.match.redecide": 11,
    "service.match.rulings": 70,
    "service.match.transitions": 16,
    "service.usecases.submit": 30,
}
"""Number of mutants that may survive, by module: they change messages, metrics, `strict` of a `zip`, cache sizes, pauses, failpoints."""
FOUND: Final = {"killed", "timeout"}


def alive(results: str) -> Mapping[str, Counter[str]]:
    """Numbers of surviving mutants by module and status; `results` is the output of `mutmut results`."""
    counts: dict[str, Counter[str]] = {}
    for line in filter(None, map(str.strip, results.splitlines())):
        name, _, status = line.rpartition(": ")
        if status not in FOUND:
            counts.setdefault(name.rpartition(".")[0], Counter())[status] += 1
    return counts


def too_many(counts: Mapping[str, Counter[str]]) -> Iterator[str]:
    for module, found in sorted(counts.items()):
        if found.total() > MAX_ALIVE.get(module, 0):
            statuses = ", ".join(f"{number} {status}" for status, number in sorted(found.items()))
            yield f"{module}: {statuses}; {MAX_ALIVE.get(module, 0)} at most may survive"


def main() -> None:
    listed = subprocess.run(
        [sys.executable, "-m", "mutmut", "results"], capture_output=True, text=True, check=True
    ).stdout
    counts = alive(listed)
    for module in MAX_ALIVE:
        print(f"{module}: {counts.get(module, Counter()).total()} of {MAX_ALIVE[module]} survive")
    sys.exit("\n".join(too_many(counts)) or None)


if __name__ == "__main__":
    main()
