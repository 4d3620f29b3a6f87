"""The cost of 20 open matches by one and by two filters, among 100 and among 100,000 open matches, and what the lists take.

`python -m tests.benchmarks.finding` prints a table. The aim is a ratio of 2 at most.
"""

import sys
import tempfile
import time
from collections.abc import Mapping
from itertools import combinations, product
from pathlib import Path
from typing import Any, Final

from events.redis_log import send
from events.redis_pool import Command
from service.adapters.valkey import Valkey
from service.container import Service, build
from service.match.facets import Facets, facets_of, lookups
from service.repository.index_entry import IndexEntry
from service.settings import read
from service.usecases import accounts
from service.usecases.finding import Wanted, open_page
from tests.benchmarks.reads import BATCH, START, copied, put
from tests.service.arena import Arena

MONKEYS: Final = "monkeys_on_the_moon"
FEW: Final = 100
MANY: Final = 100_000
PAGE: Final = 20
REPEATS: Final = 25
FILTERS: Final[Mapping[str, Any]] = {
    "game": MONKEYS,
    "seats": 3,
    "free_seats": 2,
    "clock": "bank",
    "speed": "days",
    "option": ("treachery:true",),
    "bots": True,
}


def kinds() -> list[tuple[list[Any], Facets]]:
    """One open match of each kind: its events and its facets."""
    arena = Arena()
    clocks: tuple[Mapping[str, int] | None, ...] = (None, {"turn_seconds": 60}, {"bank_seconds": 90_000})
    found = []
    for number, (clock, treachery, seats, bots) in enumerate(product(clocks, (True, False), (2, 3, 4), (0, 1))):
        made = arena.create(
            MONKEYS, seats, clock=clock, options={"treachery": treachery}, bots=("random",) * bots, by=f"host-{number}"
        )
        found.append((arena.events(made), facets_of(arena.match(made))))
    return found


def fill(service: Service, prefix: str, count: int) -> None:
    """Store open matches of all kinds, in turn, with all entries of the index."""
    player, _ = accounts.sign_up(service.ports, "Ada")
    every = kinds()
    commands: list[Command] = []
    for number in range(count):
        events, facets = every[number * 7 % len(every)]
        match, at = f"{prefix}-{number}", START + number
        commands += put(match, copied(events, match, f"player:{player.id}", at - events[0].at))
        entry = IndexEntry(at, match).stored
        own = frozenset(one for one in facets if not one.startswith("creator="))
        commands += [("ZADD", f"index:find:{'&'.join(sorted(lookup))}", 0, entry) for lookup in lookups(own)]
        if len(commands) > BATCH:
            send(service.log_client, *commands)
            commands.clear()
    send(service.log_client, *commands)


def milliseconds(service: Service, wanted: Wanted) -> float:
    """The best of several runs for a page of 20, from the newest and from the oldest matches that fit."""
    best = 1e9
    for _ in range(REPEATS):
        began = time.perf_counter()
        views, _ = open_page(service.ports, wanted, None, PAGE)
        best = min(best, 1000 * (time.perf_counter() - began))
        assert views
    return best


def measure(service: Service) -> Mapping[str, tuple[int, float]]:
    """The number of matches and the time of each filter and each pair."""
    found = {}
    for size in (1, 2):
        for chosen in combinations(FILTERS.items(), size):
            wanted = Wanted(**dict(chosen))
            views, _ = open_page(service.ports, wanted, None, PAGE)
            found["+".join(name for name, _ in chosen)] = len(views), milliseconds(service, wanted)
    return found


def used_bytes(service: Service) -> int:
    (info,) = send(service.log_client, ("INFO", "memory"))
    return int(info["used_memory"] if isinstance(info, dict) else 0)


def main() -> None:
    tables: list[Mapping[str, tuple[int, float]]] = []
    for count in (FEW, MANY):
        with tempfile.TemporaryDirectory() as folder, Valkey.start(Path(folder) / "log", durable=False) as server:
            environ = {
                "MOONSTONE_LOG_URL": server.url,
                "MOONSTONE_QUEUE_URL": server.url,
                "MOONSTONE_DATA_DIR": folder,
                "MOONSTONE_ALLOW_VOLATILE": "1",
            }
            service = build(read(environ), listen=False)
            before = used_bytes(service)
            fill(service, "m", count)
            sys.stdout.write(f"{count} matches: {(used_bytes(service) - before) / count:.0f} bytes each\n")
            tables.append(measure(service))
            service.close()
    for name, (size, few) in tables[0].items():
        many_size, many = tables[1][name]
        sys.stdout.write(f"{name:22} {size:3} {few:6.2f} ms {many_size:3} {many:6.2f} ms  ratio {many / few:.2f}\n")


if __name__ == "__main__":
    main()
