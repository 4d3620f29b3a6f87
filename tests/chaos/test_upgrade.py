"""A rolling upgrade: processes of the previous release and of this one share one log and one queue."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from http.client import HTTPResponse
from math import inf
from pathlib import Path
from threading import Event
from typing import Final

import pytest
from redis import Redis

from events.chain import follow
from events.record import Event as Stored
from events.redis_log import send
from service.adapters.valkey import Valkey
from service.audit.match_file import export
from service.container import Service, build
from service.match.due_times import KINDS
from service.settings import read
from service.usecases.match_lists import ended_page
from tests.api.live import Follower, get
from tests.chaos.history import History
from tests.chaos.releases import Release, two_releases
from tests.chaos.tables import TURN_SECONDS, Driver, Game, Order, Stage, Table
from tests.length import LONG
from tests.ports import free_port, tcp_url
from tests.waiting import until

MATCHES: Final = 50
"""Matches per game."""
BOT_MATCH_S: Final = 300
"""Approximate duration of a match without people."""
MOVES_PER_STAGE: Final = 2
"""Moves of the people of a match in each stage except the last."""
DRIVERS: Final = 8
MATCHES_PER_FOLLOWER: Final = 30
"""One of this many matches has a follower: an API process allows eight streams per address."""
STAGE_TIMEOUT_S: Final = 900
"""Time limit of each stage."""

FAST: Final = (Game("ape_town", 150), Game("monkeys_on_the_moon", 115), Game("monsters_on_the_moon", 12, 4))
REAL_TIME: Final = Game(
    "four_monkeys",
    3,
    options={"round_seconds": 60, "countdown_seconds": 0},
    pause_s=1.5,
    has_clocks=False,
    races=True,
)
BOTS_AND_PEOPLE: Final = ((1, 1), (0, 2), (1, 2), (2, 1))
CLOCKS: Final = (None, {"turn_seconds": 600}, {"bank_seconds": 600, "increment_seconds": 10})


def people_playing(game: Game, count: int) -> Iterator[Order]:
    """Matches with people. In the first, one of two people leaves."""
    yield Order(game, "leaves", 1, 2, pause_s=game.pause_s)
    for number in range(1, count):
        clock = CLOCKS[number % 3] if game.has_clocks else None
        yield Order(game, "people", *BOTS_AND_PEOPLE[number % 4], clock, game.pause_s)


def self_playing(game: Game) -> Iterator[Order]:
    """Matches that continue without moves of people.

    One has only bots, one has only bots after its only person has left, and in one a clock runs out.
    """
    pace_ms = BOT_MATCH_S * 1000 // game.turns
    yield Order(game, "bots", game.bot_seats, 0, {"bot_pace_ms": pace_ms} if game.has_clocks else None)
    yield Order(game, "leaves", 1, 1, {"bot_pace_ms": 2 * pace_ms} if game.has_clocks else None, game.pause_s)
    if game.has_clocks:
        clock = {"turn_seconds": TURN_SECONDS, "on_timeout": "bot"}
        yield Order(game, "goes away", 0, 2, clock, min(2 * BOT_MATCH_S / game.turns, TURN_SECONDS / 4))


def all_orders() -> tuple[list[Order], list[Order]]:
    """All matches: first those that wait for people, then those that do not."""
    early = [order for game in FAST for order in people_playing(game, MATCHES - 3)]
    late = [order for game in FAST for order in self_playing(game)]
    return early, [*late, *self_playing(REAL_TIME), *people_playing(REAL_TIME, MATCHES - 2 - 3 * (MATCHES // 5))]


class Matches:
    """All matches, and the threads that play them."""

    def __init__(self, port: int) -> None:
        self.stage = Stage(port, MOVES_PER_STAGE)
        self.history = History()
        self._stopped = Event()
        self._drivers = [Driver(self.stage, number, self.history, self._stopped) for number in range(DRIVERS)]
        for driver in self._drivers:
            driver.start()

    @property
    def tables(self) -> list[Table]:
        return [table for driver in self._drivers for table in driver.tables]

    def make(self, orders: Iterable[Order]) -> None:
        for number, order in enumerate(orders):
            self._drivers[number % DRIVERS].orders.append(order)

    def wait(self, done: Callable[[Table], bool], what: str) -> None:
        """Wait until `done` is true for all tables. Fails immediately if a client got a response that breaks a guarantee."""

        def is_done() -> bool:
            assert self.history.violations == []
            return not any(driver.orders for driver in self._drivers) and all(map(done, self.tables))

        try:
            until(is_done, STAGE_TIMEOUT_S, what)
        except AssertionError:
            print(*(table for table in self.tables if not done(table)), sep="\n")
            raise

    def play_stage(self, *ports: int, bots_play: bool = True, matches_begin: bool = True) -> None:
        """Play a stage: the APIs on `ports` serve, and all matches make some progress, those without people only if `bots_play`.

        Real-time matches do not wait for a stage, so some begin in each, unless `matches_begin` is false: processes of the
        previous release cannot play matches that the new one creates.
        """
        self._begin_stage(self.stage.moves + MOVES_PER_STAGE, *ports)
        if matches_begin:
            self.make(people_playing(REAL_TIME, MATCHES // 5))

        def is_done(table: Table) -> bool:
            may_pause = not (bots_play or table.has_people)
            return table.is_stage_done or may_pause or (table.is_over and not table.waits_for_stage)

        self.wait(is_done, f"matches continue with {ports}")

    def play_last_stage(self, *ports: int) -> None:
        """Play all matches to their ends."""
        self._begin_stage(inf, *ports)
        self.wait(lambda table: table.is_over, "matches end")

    def _begin_stage(self, moves: float, *ports: int) -> None:
        for table in self.tables:
            table.begin_stage()
        stage = self.stage
        stage.is_first, stage.ports, stage.moves_before, stage.moves = False, ports, int(stage.moves), moves

    def close(self) -> None:
        self._stopped.set()
        for driver in self._drivers:
            driver.join(60)
            assert not driver.is_alive()
            driver.close()


def libraries(log: Redis) -> set[bytes]:
    """The names of the Redis Functions libraries on the log's server. Each release loads its own."""
    (found,) = send(log, ("FUNCTION", "LIST"))
    return {library[library.index(b"library_name") + 1] for library in found}


class CurrentRelease:
    """An HTTP client that uses the APIs of the current stage in turn."""

    def __init__(self, stage: Stage) -> None:
        self._next_port = stage.next_port()

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> AbstractContextManager[HTTPResponse]:
        return get(self._next_port(), path, headers or {})


def stored(service: Service, match_id: str) -> list[tuple[Stored, str]]:
    """The events of a match with their hashes. Checks the chain."""
    match, _ = service.ports.history.newest(match_id)
    head = match.origin
    events = []
    for entry in service.ports.log.read(match.id).events:
        event, head = follow(head, entry)
        events.append((event, head.hash))
    return events


def exported(service: Service, match_ids: Iterable[str], folder: Path) -> Iterator[Path]:
    for match_id in match_ids:
        file = folder / f"{match_id}.ndjson"
        file.write_bytes(b"".join(export(service.ports, service.ports.history.newest(match_id)[0])))
        yield file


SETTINGS: Final = {
    "MOONSTONE_API_WORKERS": "1",
    "MOONSTONE_REQUESTS_BY_TOKEN": "1000000",
    "MOONSTONE_MOVES_BY_TOKEN": "1000000",
    "MOONSTONE_REQUESTS_BY_ADDRESS": "1000000",
    "MOONSTONE_CREATIONS_BY_TOKEN": "1000000",
}
NEW_SETTINGS: Final = {"MOONSTONE_CREATIONS_BY_ADDRESS": "1000000", "MOONSTONE_BOT_MATCHES_BY_ADDRESS": "1000000"}


@pytest.fixture
def environ(tmp_path: Path) -> Iterator[Mapping[str, str]]:
    """The settings of a new log and a new queue, on TCP ports: the previous release does not support Unix sockets."""
    with ExitStack() as stack:
        servers = [
            stack.enter_context(Valkey.start(tmp_path / name, durable=durable, options={"port": str(free_port())}))
            for name, durable in (("log", True), ("queue", False))
        ]
        yield {
            "MOONSTONE_LOG_URL": tcp_url(servers[0]),
            "MOONSTONE_QUEUE_URL": tcp_url(servers[1]),
            "MOONSTONE_DATA_DIR": str(tmp_path / "data"),
            **SETTINGS,
        }


@pytest.mark.long
@pytest.mark.skipif(not LONG, reason="only in the long form")
def test_row_54_matches_continue_while_one_release_replaces_another(tmp_path: Path, environ: Mapping[str, str]) -> None:
    with (
        two_releases(tmp_path, environ, NEW_SETTINGS) as (old, new),
        Redis.from_url(environ["MOONSTONE_LOG_URL"], protocol=2) as log,
    ):
        old.start_api()
        old.start_workers()
        with closing(Matches(old.port)) as matches:
            for orders in all_orders():
                matches.make(orders)
                matches.wait(lambda table: table.is_stage_done, "matches begin")
            followers = [
                Follower(CurrentRelease(matches.stage), table.match) for table in matches.tables[::MATCHES_PER_FOLLOWER]
            ]
            for follower in followers:
                follower.start()
            assert libraries(log) == {b"moonstone_1"}
            hand_over(old, new, matches)
            for follower in followers:
                follower.join(60)
                assert not follower.is_alive()
        assert libraries(log) > {b"moonstone_1"}

        with closing(build(read(environ), listen=False)) as service:
            until(lambda: not any(map(service.ports.log.scheduled, KINDS)), 60, "no due entries are left")
            new.stop()
            events = {table.match: stored(service, table.match) for table in matches.tables}
            assert matches.history.faults(events) == []
            assert {events[match][-1][0].type for match in events} == {"seed_revealed"}
            assert not [match for match, all_ in events.items() if "match_suspended" in {one.type for one, _ in all_}]
            listed, _ = ended_page(service.ports, 0, len(events) + 1)
            assert sorted(summary.id for summary in listed) == sorted(events)
            files = list(exported(service, events, tmp_path))
        for follower in followers:
            assert [event["version"] for event in follower.events] == list(range(1, len(follower.events) + 1))
            assert follower.ends[-1] == "finished"
        old.verify(files)
        new.verify(files)
        assert [*old.faults(), *new.faults()] == []
        print_summary(matches, events)


def hand_over(old: Release, new: Release, matches: Matches) -> None:
    """Change from one release to the other, and partly back, and play all matches to their ends.

    Every combination of API and workers occurs. Workers of the previous release do not know the due entries `bots`: if only
    they run, a match without people pauses.
    """
    new.start_workers()
    old.kill_workers()
    matches.play_stage(old.port)

    old.start_workers()
    new.start_api()
    new.kill_workers()
    old.kill_api()
    matches.play_stage(new.port, bots_play=False, matches_begin=False)

    old.start_api()
    new.start_workers()
    matches.play_stage(old.port, new.port, matches_begin=False)

    old.stop()
    matches.play_last_stage(new.port)


def print_summary(matches: Matches, events: Mapping[str, Sequence[tuple[Stored, str]]]) -> None:
    types = Counter(event.type for stored in events.values() for event, _ in stored)
    print(f"{len(events)} matches, {types.total()} events: {dict(types)}")
    history = matches.history
    print(f"{history.acknowledged} commands acknowledged, {history.replays} sent again, {history.retries} retries")
