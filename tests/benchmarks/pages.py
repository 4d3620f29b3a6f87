"""The cost of pages: any page of the lists of a store with 100,000 matches, read from an API process."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import IO, Final

import msgspec
from msgspec.structs import replace

from events.record import Event
from events.redis_pool import Command
from service.container import Service
from service.match.events import SeatTaken
from service.repository import cursors, index_entry
from service.repository.index_entry import IndexEntry
from service.repository.match_history import CACHED_MATCHES
from service.usecases import accounts
from tests.benchmarks.api_process import ApiProcess, api_process
from tests.benchmarks.reads import BATCH, GAME, START, Reading, copy, played, send_all, store_commands

MATCHES: Final = 100_000
FINISHED: Final = 1_000
RUNNING: Final = 1_000
EVENTS: Final = 40
"""Events of a running match."""
PEOPLE: Final = 100
PAGE: Final = 50
EVICTING: Final = CACHED_MATCHES // PAGE + 1
"""So many pages of other matches empty the cache of a process."""


def readings(service: Service, environ: Mapping[str, str], log_file: IO[bytes]) -> Iterator[Reading]:
    """Fills the service's store and measures reads of pages."""
    player, token = accounts.sign_up(service.ports, "Ada")
    people = [accounts.sign_up(service.ports, f"Person {number}")[0].id for number in range(PEOPLE)]
    whole = played(GAME)
    _store(service, player.id, "finished", [whole], FINISHED)
    _store(service, player.id, "open", [whole[:1]], MATCHES - FINISHED)
    _store(service, player.id, "running", _with_people(whole[:EVENTS], people), RUNNING)
    others = [_page("open", MATCHES // 4 + PAGE * number) for number in range(EVICTING)]
    with api_process(service, environ, log_file) as api:
        for status_list, count in (("finished", FINISHED), ("open", MATCHES - FINISHED)):
            for name, number in (("first", count), ("middle", count // 2), ("last", PAGE)):
                yield from _list(
                    api, others, status_list, f"{name} page of {count // PAGE:,}", _page(status_list, number)
                )
        yield from _warm(api, f"running with {PEOPLE} people, first page", _page("running", RUNNING))
        for name, number in (("first", 0), ("last", FINISHED - PAGE)):
            path = f"/v1/matches?status=ended&limit={PAGE}&cursor={cursors.encode(number)}"
            yield _cold(api, others, f"ended, {name} page of {FINISHED // PAGE:,}", path)
        path = f"/v1/matches?status=finished&limit={PAGE}&game=ape_town"
        yield _cold(api, others, "finished of a game without matches", path, note="reads 200 matches")
        for name, number in (("first", MATCHES), ("last", PAGE)):
            path = f"/v1/me/matches?limit={PAGE}&cursor={_cursor(number)}"
            yield _cold(api, others, f"own matches, {name} page of {MATCHES // PAGE:,}", path, token)
        yield from _warm(api, "own matches, first page", f"/v1/me/matches?limit={PAGE}", token)


def _list(api: ApiProcess, others: Sequence[str], status_list: str, what: str, path: str) -> Iterator[Reading]:
    if status_list == "finished":
        yield Reading(f"{status_list}, {what} without snapshots, cold", api.once(path), "once")
    yield _cold(api, others, f"{status_list}, {what}", path)
    yield from _warm(api, f"{status_list}, {what}", path)


def _cold(
    api: ApiProcess,
    others: Sequence[str],
    what: str,
    path: str,
    token: str | None = None,
    note: str = "aim 50 ms",
) -> Reading:
    return Reading(f"{what}, cold", api.cold(path, others, token), note)


def _warm(api: ApiProcess, what: str, path: str, token: str | None = None) -> Iterator[Reading]:
    ms, note = api.warm(path, token)
    yield Reading(f"{what}, warm", ms, note)


def _cursor(number: int) -> str:
    return index_entry.encode(IndexEntry(START + number, ""))


def _page(status_list: str, number: int) -> str:
    """The path of the page of the matches before this number."""
    return f"/v1/matches?status={status_list}&limit={PAGE}&cursor={_cursor(number)}"


def _with_people(events: Sequence[Event], people: Sequence[str]) -> list[list[Event]]:
    """The events of a match, once for each person: in each of them two people have the seats."""
    return [_seated(events, [person, people[(7 * number + 1) % len(people)]]) for number, person in enumerate(people)]


def _seated(events: Sequence[Event], players: Sequence[str]) -> list[Event]:
    found = []
    for event in events:
        if event.type == "seat_taken":
            taken = msgspec.json.decode(event.data, type=SeatTaken)
            taken = replace(taken, player=players[taken.seat], kind="human")
            found.append(replace(event, data=msgspec.Raw(msgspec.json.encode(taken, order="sorted"))))
        else:
            found.append(event)
    return found


def _store(service: Service, creator: str, status_list: str, variants: Sequence[Sequence[Event]], count: int) -> None:
    """Store matches and their entries of the index. Their events are those of the variants in turn."""
    variant = cycle(variants)
    for first in range(0, count, BATCH):
        commands: list[Command] = []
        entries: list[int | str] = []
        for number in range(first, min(first + BATCH, count)):
            events = next(variant)
            match, at = f"{status_list}-{number}", START + number
            commands += store_commands(match, copy(events, match, f"player:{creator}", at))
            entries += [0, IndexEntry(at + events[0].at, match).stored]
        indices = (f"index:{status_list}", f"index:of:{creator}:all")
        send_all(service, [*commands, *(("ZADD", index, *entries) for index in indices)])
        if status_list == "finished":
            numbers = range(first + 1, len(entries) // 2 + first + 1)
            ends = [part for number, entry in zip(numbers, entries[1::2], strict=True) for part in (number, entry)]
            send_all(service, [("ZADD", "index:ended", *ends)])
