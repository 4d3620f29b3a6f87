"""Two commands about seats at the same time, on a real server: each is carried out whole, or refused, and the match is valid."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from secrets import token_hex
from threading import Barrier
from typing import Final, NamedTuple, TypeAlias

import msgspec
import pytest
from redis import Redis

from events.record import MatchId, decode
from service.audit.stored_match import inspect
from service.automation.bot_turns import advance
from service.automation.expiry import expire
from service.container import Service, build
from service.errors import Refused
from service.match.model import ABSENCE_MS, Match
from service.match.new_match import NewMatch
from service.match.redaction import legal_actions
from service.repository.match_lock import MatchLocks
from service.repository.ports import Ports
from service.settings import read
from service.usecases import play
from service.usecases.held_seats import HELD_SEATS
from service.usecases.match_lifecycle import create, free_seat, join, leave
from service.usecases.mid_match import ask_abort, replace_absent, take_back
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


@pytest.fixture(scope="module")
def service(valkey_log_url: str, valkey_queue_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    Redis.from_url(valkey_log_url).flushall()
    folder = str(tmp_path_factory.mktemp("data"))
    environ = {"LOG_URL": valkey_log_url, "QUEUE_URL": valkey_queue_url, "DATA_DIR": folder}
    with closing(build(read({f"MOONSTONE_{name}": value for name, value in environ.items()}), listen=False)) as built:
        yield built


def ahead(ports: Ports, ms: int) -> Ports:
    return replace(ports, now=lambda: ports.now() + ms)


def made(ports: Ports, *players: str, seats: int = 2, **wanted: object) -> Match:
    match = create(ports, f"pl_{token_hex(6)}", NewMatch(GAME, seats, **wanted), "key").match  # type: ignore[arg-type]
    for player in players:
        match = join(ports, player, match.id, token_hex(8)).match
    return match


def names(count: int) -> list[str]:
    return [f"pl_{token_hex(8)}" for _ in range(count)]


def leave_at_the_start(ports: Ports) -> Race:
    anna, ben = names(2)
    match = made(ports, anna)

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert results[0] in {"done", "match-not-open"}
        assert results[1] == "done"
        assert "resigned" not in types
        assert (after.status == "running") == (results[0] != "done")

    calls = (
        lambda: leave(ports, anna, match.id, "leave", only="open"),
        lambda: join(ports, ben, match.id, "sit"),
    )
    return Race(match.id, calls, check)


def free_at_the_start(ports: Ports) -> Race:
    anna, ben = names(2)
    match = made(ports, anna)

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert results[1] == "done"
        assert (types.count("seat_freed"), after.status) == ((1, "open") if results[0] == "done" else (0, "running"))

    calls = (
        lambda: free_seat(ports, match.creator, match.id, "free", seat=0),
        lambda: join(ports, ben, match.id, "sit", seat=1),
    )
    return Race(match.id, calls, check)


def free_twice(ports: Ports) -> Race:
    match = made(ports, *names(1))

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert sorted(results) == ["done", "seat-free"]
        assert (types.count("seat_freed"), after.seats) == (1, (None, None))

    return Race(
        match.id,
        [partial(free_seat, ports, match.creator, match.id, key, seat=0) for key in ("one", "two")],
        check,
    )


def expire_at_the_start(ports: Ports) -> Race:
    anna, ben = names(2)
    match = made(ports, anna, open_ms=OPEN_MS)
    later = ahead(ports, OPEN_MS)

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert results[:2] == ["done", "done"]
        expected = ("running", 0) if results[2] == "done" else ("aborted", 1)
        assert (after.status, types.count("match_aborted")) == expected

    calls = (
        lambda: expire(later, match.id),
        lambda: expire(later, match.id),
        lambda: join(later, ben, match.id, "sit"),
    )
    return Race(match.id, calls, check)


def both_ask_for_the_end(ports: Ports) -> Race:
    players = names(2)
    match = made(ports, *players)

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert list(results) == ["done", "done"]
        assert types[-4:] == ["abort_asked", "abort_asked", "match_aborted", "seed_revealed"]
        assert after.status == "aborted"

    calls = [partial(ask_abort, ports, one, match.id, "abort") for one in players]
    return Race(match.id, calls, check)


def move_at_the_end(ports: Ports) -> Race:
    """The last request comes with an action of the seat that asked first, which takes its request back."""
    players = names(2)
    match = made(ports, *players)
    seat = match.decisions()[0].seat
    up, other = players[seat], players[1 - seat]
    match = ask_abort(ports, up, match.id, "abort").match
    action = next(iter(legal_actions(match, seat)))

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert results[1] == "done"
        expected = ("running", (1 - seat,)) if results[0] == "done" else ("aborted", (0, 1))
        assert (after.status, after.abort_asked) == expected
        assert types.count("match_aborted") == (after.status == "aborted")

    calls = (
        lambda: play.act(ports, up, match.id, play.ActionRequest(msgspec.to_builtins(action)), "move"),
        lambda: ask_abort(ports, other, match.id, "abort"),
    )
    return Race(match.id, calls, check)


def come_back_twice(ports: Ports) -> Race:
    players = names(2)
    match = made(ports, *players)
    seat = match.decisions()[0].seat
    replace_absent(ahead(ports, ABSENCE_MS), players[1 - seat], match.id, "replace", seat=seat)
    while advance(ports, match.id):
        pass

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert sorted(results) == ["done", "not-seated"]
        assert (types.count("seat_handed_over"), after.seat_of(players[seat])) == (2, seat)

    calls = [partial(take_back, ports, players[seat], match.id, key) for key in ("one", "two")]
    return Race(match.id, calls, check)


def move_at_the_last_moment(ports: Ports) -> Race:
    players = names(2)
    match = made(ports, *players)
    seat = match.decisions()[0].seat
    later = ahead(ports, ABSENCE_MS)
    action = next(iter(legal_actions(match, seat)))

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert results in (["done", "not-seated"], ["seat-not-absent", "done"])
        assert (types.count("seat_handed_over") == 1) == (results[0] == "done")
        assert after.status == "running"

    calls = (
        lambda: replace_absent(later, players[1 - seat], match.id, "replace", seat=seat),
        lambda: play.act(later, players[seat], match.id, play.ActionRequest(msgspec.to_builtins(action)), "move"),
    )
    return Race(match.id, calls, check)


RACES: Final[Mapping[str, Callable[[Ports], Race]]] = {
    one.__name__: one
    for one in (
        leave_at_the_start,
        free_at_the_start,
        free_twice,
        expire_at_the_start,
        both_ask_for_the_end,
        move_at_the_end,
        come_back_twice,
        move_at_the_last_moment,
    )
}


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


@pytest.mark.long
@pytest.mark.parametrize("name", RACES)
def test_of_two_commands_at_once_each_is_done_whole_or_refused(service: Service, name: str) -> None:
    for number in range(TRIES):
        # Requests to one process wait for each other; those to two processes meet only in the log.
        ports = replace(service.ports, match_locks=NoLocks()) if number % 2 else service.ports
        race = RACES[name](ports)
        results = at_once(race.calls)
        stored = service.ports.log.read(race.match).events
        race.check(inspect(service.ports, race.match), results, [decode(entry).type for entry in stored])


@pytest.mark.long
def test_a_player_who_joins_everywhere_at_once_holds_twenty_seats(service: Service) -> None:
    for _ in range(1 + TRIES // 20):
        (anna,) = names(1)
        matches = [made(service.ports, seats=3) for _ in range(HELD_SEATS + 5)]
        calls = [partial(join, service.ports, anna, match.id, "sit") for match in matches]
        results = at_once(calls)
        assert (results.count("done"), results.count("too-many-seats")) == (HELD_SEATS, 5)
        seated = [match for match in matches if inspect(service.ports, match.id).seat_of(anna) is not None]
        assert len(seated) == HELD_SEATS
