"""The cost of reads of one match: its rebuild from a snapshot, and any version of a long match."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median
from typing import Final

import msgspec

from events.chain import Draft, genesis, seal
from events.record import Event, MatchId, digest
from events.redis_keys import key
from events.redis_log import send
from events.redis_pool import Command
from service.container import Service
from service.games.registry import GAMES
from service.ops.simulate import play
from service.repository.match_history import History
from tests.api.checked import Client
from tests.service.games.toy.game import TOY

LONG: Final = 2_000
EARLY: Final = 50
EVENTS: Final = 200
REPEATS: Final = 15
BATCH: Final = 1_000
"""Commands in one pipeline."""
START: Final = 1_700_000_000_000
GAME: Final = "monkeys_on_the_moon"
SALT: Final = "5a" * 16


class Reader:
    """The API without sockets, on the log of a service.

    `empty_caches` empties its caches as a new process would, except for its connections.
    """

    def __init__(self, service: Service) -> None:
        self.settings = replace(service.settings, requests_by_token=10**6, requests_by_address=10**6)
        self.feed = service.feed
        self._service = service
        self.ports = service.ports
        self.client = Client(self, unchecked=True)

    def readiness(self) -> tuple[str, ...]:
        return ()

    def clock_fault(self) -> str | None:
        return None

    def warnings(self) -> tuple[str, ...]:
        return ()

    def empty_caches(self) -> None:
        ports = self._service.ports
        games = {**GAMES, TOY.info.id: TOY}
        self.ports = replace(ports, games=games, history=History(ports.log, games, ports.secret))

    def cold(self, path: str, token: str | None = None) -> float:
        """Milliseconds for the first answer of a process, as a median over processes."""
        return median(self._timed(path, token, cold=True) for _ in range(REPEATS))

    def warm(self, path: str, token: str | None = None) -> float:
        return median(self._timed(path, token, cold=False) for _ in range(REPEATS))

    def first(self, path: str, token: str | None = None) -> float:
        """Milliseconds for the first answer of one process. It also stores the snapshots that were missing."""
        return self._timed(path, token, cold=True)

    def _timed(self, path: str, token: str | None, *, cold: bool) -> float:
        if cold:
            self.empty_caches()
        began = time.perf_counter()
        self.client.ask(path, token)
        return 1000 * (time.perf_counter() - began)


class Reading(msgspec.Struct, frozen=True):
    """A row of the table: the time of an answer (ms), and what to compare it with."""

    what: str
    ms: float
    note: str


def copy(events: Sequence[Event], match: MatchId, by: str, at: int) -> tuple[bytes, ...]:
    """The events of a match as those of another match, with another player and time, chained again."""
    created = msgspec.json.decode(events[0].data)
    _, head = genesis(match, created["game"], created["ruleset"])
    found: list[bytes] = []
    for event in events:
        author = by if event.version == 1 else event.by
        sealed, head = seal(head, [Draft(event.type, author, bytes(event.data))], at + event.at, [SALT])
        found += sealed
    return tuple(found)


def store_commands(match: MatchId, stored: Sequence[bytes]) -> Iterator[Command]:
    """The commands that store the events of a match in the log, without the keys that only a writer needs."""
    for version, event in enumerate(stored, 1):
        yield ("XADD", key(match, "events"), f"{version}-0", "e", event, "h", digest(event))


def played(game: str, seats: int = 2, **options: object) -> list[Event]:
    ports, match = play({**GAMES, TOY.info.id: TOY}[game], ["random"] * seats, options, bytes(32))
    return [msgspec.json.decode(stored, type=Event) for stored in ports.log.read(match.id).events]


def readings(service: Service) -> Iterator[Reading]:
    """Fills the service's store and measures reads."""
    reader = Reader(service)
    yield from _rebuilds(service)
    yield from _versions(service, reader)


def _rebuilds(service: Service) -> Iterator[Reading]:
    """The time to read a match that is not in the cache of a process, from its newest snapshot."""
    for game in (GAME, "four_monkeys"):
        events = played(game, 4)[:EVENTS]
        send_all(service, list(store_commands(game, copy(events, game, "player:nobody", START))))
        times_ms = []
        for _ in range(REPEATS + 1):
            history = History(service.ports.log, GAMES, service.ports.secret)
            began = time.perf_counter()
            history.newest(game)
            times_ms.append(1000 * (time.perf_counter() - began))
        # The first read stores the snapshots.
        yield Reading(
            f"{game}: {len(events)} events read from the log",
            median(times_ms[1:]),
            f"aim 1.0 ms; once {times_ms[0]:.1f}",
        )


def _versions(service: Service, reader: Reader) -> Iterator[Reading]:
    events = played(TOY.info.id, tricks=LONG)[:LONG]
    send_all(service, list(store_commands("long", copy(events, "long", "player:nobody", START))))
    early, late = (f"/v1/matches/long?version={version}" for version in (EARLY, LONG - 1))
    yield Reading(f"a match of {LONG} events without snapshots, cold", reader.first("/v1/matches/long"), "once")
    for state, ask in (("cold", reader.cold), ("warm", reader.warm)):
        base = ask(early)
        yield Reading(f"GET ?version={EARLY}, {state}", base, "")
        ms = ask(late)
        yield Reading(f"GET ?version={LONG - 1}, {state}", ms, f"{ms / base:.2f} of version {EARLY}, aim 1.5 at most")


def send_all(service: Service, commands: Sequence[Command]) -> None:
    for first in range(0, len(commands), BATCH):
        send(service.log_client, *commands[first : first + BATCH])
