"""Rating by real workers: a backlog that many share, processes that are killed, and the ratings that follow."""

import signal
from typing import Final

import pytest

from events.log import MAX_EVENTS, Append
from events.record import Head, digest
from events.redis_keys import key
from events.redis_log import send
from service.adapters.beat import Beat
from service.adapters.memory import local_ports
from service.audit.ratings import Checked, faults
from service.automation import rating
from service.automation.bot_turns import advance
from service.match.due_times import due_times
from service.match.model import Match
from service.match.new_match import DEFAULT_CLOCK, NewMatch
from service.match.rating import stream_of
from service.repository.ports import Ports
from service.repository.rating_streams import entries
from service.usecases.match_lifecycle import create, join, leave
from tests.length import LONG
from tests.waiting import until
from tests.workers.world import World
from workers import process
from workers.sweeper import Sweeper

GAME: Final = "monsters_on_the_moon"
"""The game whose matches have the fewest events if all players leave."""
WORKERS: Final = 10
BACKLOG: Final = 1_000 if LONG else 40
POINTS: Final = ("rating-appended", "match-rated", "rating-decided", "rating-folded")
TIMEOUT_S: Final = 300 if LONG else 60


def over(ports: Ports, name: str, players: tuple[str, str]) -> Match:
    """A rated match that both players left, and that is over."""
    wanted = NewMatch(game=GAME, seats=2, clock=DEFAULT_CLOCK, rated=True)
    match = create(ports, "pl_host", wanted, name).match
    for player in players:
        join(ports, player, match.id, "join")
    for player in players:
        leave(ports, player, match.id, "leave")
    while advance(ports, match.id, moves=1_000):
        pass
    return ports.history.newest(match.id)[0]


def backlog(world: World, count: int) -> list[str]:
    """Many matches that are over and wait for their rating.

    They are played in memory and copied to the log: on a server, where each event is written to the disk, a thousand matches
    take several minutes.
    """
    memory, ports = local_ports(world.service.ports.games), world.service.ports
    matches = [over(memory, f"{number}", (f"pl_{number % 7}", f"pl_{7 + number % 5}")) for number in range(count)]
    for match in matches:
        head, seed = match.origin, memory.log.seed(match.id)
        stored = memory.log.read(match.id).events
        while head != match.head:
            part = stored[head.version : head.version + MAX_EVENTS]
            ports.log.append(Append(match.id, f"copy-{head.version}", "copy", head, part, seed=seed))
            head, seed = Head(head.version + len(part), digest(part[-1])), None
        ports.index.end(match.id, match.created_at, match.ended_at or 0)
        assert ports.log.rearm(match.id, match.head.version, due_times(match))
    return [match.id for match in matches]


def check(world: World, matches: list[str]) -> None:
    """Every match has exactly one entry, all entries are right, and soon nothing is due."""
    checked = Checked()
    assert list(faults(world.service.ports, GAME, checked)) == []
    assert (checked.entries, checked.waiting) == (len(matches), 0)
    assert sorted(entry.rated.match for entry in entries(world.service.ports.log, GAME)) == sorted(matches)
    # A worker that starts may set the due time of a match again that is rated meanwhile.
    until(lambda: not world.service.ports.log.scheduled("rating"), 30, "nothing is due")


@pytest.mark.long
def test_ten_workers_rate_one_backlog_each_match_once(world: World) -> None:
    matches = backlog(world, BACKLOG)
    ports = world.service.ports
    sweepers = [Sweeper(ports, Beat(world.service.log_client)) for _ in range(WORKERS)]
    for sweeper in sweepers:
        sweeper.start()
    try:
        until(lambda: not ports.log.scheduled("rating"), TIMEOUT_S, "all matches are rated")
    finally:
        for sweeper in sweepers:
            sweeper.stop()
    check(world, matches)


@pytest.mark.long
def test_workers_that_are_killed_again_and_again_rate_every_match_once(world: World) -> None:
    matches = backlog(world, BACKLOG // 2)
    ports = world.service.ports
    for point in POINTS if LONG else POINTS[:2]:
        crashing = world.worker("people", CRASH_AT=f"{point}:3")
        assert crashing.wait(TIMEOUT_S) == 137, point
    processes = [world.worker("people") for _ in range(2)]
    processes[0].send_signal(signal.SIGKILL)
    until(lambda: not ports.log.scheduled("rating"), TIMEOUT_S, "all matches are rated")
    check(world, matches)


def test_a_worker_rates_a_match_soon_after_its_end(world: World) -> None:
    world.worker("people")
    match = over(world.service.ports, "one", ("pl_a", "pl_b"))
    until(lambda: world.service.ports.ratings.standings(GAME, ("pl_a",)), 30, "the match is rated")
    until(lambda: not world.service.ports.log.scheduled("rating"), 30, "nothing is due")
    check(world, [match.id])


def test_leaderboards_that_lack_entries_are_completed_when_a_worker_starts(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    ports = world.service.ports
    for name in ("one", "two"):
        rating.rate(ports, over(ports, name, ("pl_a", "pl_b")).id)
    expected = ports.ratings.known(GAME, ("pl_a", "pl_b"), ())
    ports.ratings.clear(GAME)  # as an interrupted rebuild does
    process._adopt(ports, lambda: True)
    assert ports.ratings.known(GAME, ("pl_a", "pl_b"), ()) == expected
    assert caplog.messages == []
    send(world.service.log_client, ("XTRIM", key(stream_of(GAME), "events"), "MAXLEN", "0"))
    process._adopt(ports, lambda: True)
    assert "monsters_on_the_moon is not up to date: version 2: the leaderboards know another entry" in caplog.text
