"""Commands to one match at the same time, on a real server: each is carried out whole, or refused, and the match is valid."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from secrets import token_hex
from threading import Barrier
from typing import Final, NamedTuple, TypeAlias

from events.record import MatchId, decode
from service.audit.stored_match import inspect
from service.errors import Refused
from service.match.model import Match
from service.match.new_match import NewMatch
from service.repository.match_lock import MatchLocks
from service.repository.ports import Ports
from service.usecases.match_lifecycle import create, join
from tests.length import LONG

TRIES: Final = 200 if LONG else 4
GAME: Final = "monkeys_on_the_moon"
OPEN_MS: Final = 60_000

Call: TypeAlias = Callable[[], object]
Results: TypeAlias = Sequence[str]
"""The result of each call: `done`, or the code of its refusal."""


class NoLocks(MatchLocks):
    @contextmanager
    def holding(self, match_id: MatchId) -> Iterator[None]:  # noqa: ARG002
        yield


class Race(NamedTuple):
    """Calls to make at the same time, and the function that checks the match and the results afterwards."""

    match: str
    calls: Sequence[Call]
    check: Callable[[Match, Results, list[str]], None]


def ahead(ports: Ports, ms: int) -> Ports:
    return replace(ports, now=lambda: ports.now() + ms)


def made(ports: Ports, *players: str, seats: int = 2, **wanted: object) -> Match:
    match = create(ports, f"pl_{token_hex(6)}", NewMatch(GAME, seats, **wanted), "key").match  # type: ignore[arg-type]
    for player in players:
        match = join(ports, player, match.id, token_hex(8)).match
    return match


def names(count: int) -> list[str]:
    return [f"pl_{token_hex(8)}" for _ in range(count)]


def at_once(calls: Sequence[Call]) -> list[str]:
    """The results of calls that are made at the same time."""
    barrier = Barrier(len(calls))

    def run(call: Call) -> str:
        barrier.wait()
        try:
            call()
        except Refused as refusal:
            return refusal.code
        return "done"

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def run(ports: Ports, make: Callable[[Ports], Race], tries: int = TRIES) -> None:
    """Run a race this many times."""
    for number in range(tries):
        # Requests to one process wait for each other; those to two processes meet only in the log.
        race = make(replace(ports, match_locks=NoLocks()) if number % 2 else ports)
        results = at_once(race.calls)
        stored = ports.log.read(race.match).events
        race.check(inspect(ports, race.match), results, [decode(entry).type for entry in stored])
