"""`python -m tests.chaos.survivors`: whether mutmut left no more mutants alive than are known to say nothing.

`mutmut show NAME` prints one; what a test should have found gets the test, and its file a smaller number here.
"""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

MOST: Final[Mapping[str, int]] = {
    "events.chain": 8,
    "service.games.visibility": 8,
    "service.match.decide": 15,
    "service.match.redaction": 8,
    "service.match.redecide": 22,
    "service.match.rulings": 70,
    "service.match.transitions": 28,
    "service.usecases.submit": 59,
}
"""Mutants of a module that may live: words in a message, `strict` of a `zip`, sizes of caches, pauses, failpoints."""
FOUND: Final = {"killed", "timeout"}


def alive(results: str) -> Mapping[str, Counter[str]]:
    """By module, how many mutants have which status, of those that no test found; `results` is what mutmut prints."""
    counts: dict[str, Counter[str]] = {}
    for line in filter(None, map(str.strip, results.splitlines())):
        name, _, status = line.rpartition(": ")
        if status not in FOUND:
            counts.setdefault(name.rpartition(".")[0], Counter())[status] += 1
    return counts


def too_many(counts: Mapping[str, Counter[str]]) -> Iterator[str]:
    for module, found in sorted(counts.items()):
        if found.total() > MOST.get(module, 0):
            told = ", ".join(f"{number} {status}" for status, number in sorted(found.items()))
            yield f"{module}: {told}; {MOST.get(module, 0)} at most may live"


def main() -> None:
    listed = subprocess.run(
        [sys.executable, "-m", "mutmut", "results"], capture_output=True, text=True, check=True
    ).stdout
    counts = alive(listed)
    for module in MOST:
        print(f"{module}: {counts.get(module, Counter()).total()} of {MOST[module]} live")
    sys.exit("\n".join(too_many(counts)) or None)


if __name__ == "__main__":
    main()
