"""Rating by real workers: a backlog that many share, processes that are killed, and the ratings that follow."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest

from service.audit.ratings import Checked, faults
from service.automation import rating
from service.automation.bot_turns import advance
from service.match.model import Match
from service.match.new_match import DEFAULT_CLOCK, NewMatch
from service.usecases.match_lifecycle import create, join, leave
from tests.length import LONG
from tests.waiting import until
from tests.workers.world import World
from workers.sweeper import HANDLED, LEASE_MS

GAME: Final = "ape_town"
WORKERS: Final = 10
BACKLOG: Final = 1_000 if LONG else 40
TIMEOUT_S: Final = 600 if LONG else 60


def over(world: World, name: str, players: tuple[str, str]) -> Match:
    """A rated match that both players left, and that is over."""
    ports = world.service.ports
    wanted = NewMatch(game=GAME, seats=2, clock=DEFAULT_CLOCK, rated=True)
    match = create(ports, "pl_host", wanted, name).match
    for player in players:
        join(ports, player, match.id, "join")
    for player in players:
        leave(ports, player, match.id, "leave")
    while advance(ports, match.id, moves=1_000):
        pass
    return world.newest(match)


def backlog(world: World, count: int) -> list[str]:
    return [over(world, f"{number}", (f"pl_{number % 7}", f"pl_{7 + number % 5}")).id for number in range(count)]


def check(world: World, matches: list[str]) -> None:
    """Every match has exactly one entry, all entries are right, and nothing is due."""
    checked = Checked()
    assert list(faults(world.service.ports, GAME, checked)) == []
    assert (checked.entries, checked.waiting) == (len(matches), 0)
    assert sorted(entry.rated.match for entry in rating.entries(world.service.ports, GAME)) == sorted(matches)
    assert world.service.ports.log.scheduled("rating") == ()


@pytest.mark.long
def test_ten_workers_rate_one_backlog_each_match_once(world: World) -> None:
    matches = backlog(world, BACKLOG)
    ports = world.service.ports

    def work(_: int) -> None:
        while claimed := ports.log.claim("rating", ports.now(), LEASE_MS, HANDLED):
            for due in claimed:
                rating.rate(ports, due.match)

    deadline = time.monotonic() + TIMEOUT_S
    while ports.log.scheduled("rating") and time.monotonic() < deadline:
        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(work, range(WORKERS)))
    check(world, matches)


@pytest.mark.long
def test_workers_that_are_killed_again_and_again_rate_every_match_once(world: World) -> None:
    matches = backlog(world, BACKLOG // 2)
    ports = world.service.ports
    for point in ("rating-decided", "rating-appended", "rating-folded", "match-rated"):
        crashing = world.worker("people", CRASH_AT=f"{point}:3")
        assert crashing.wait(TIMEOUT_S) == 137, point
    processes = [world.worker("people") for _ in range(2)]
    processes[0].send_signal(signal.SIGKILL)
    until(lambda: not ports.log.scheduled("rating"), TIMEOUT_S, "all matches are rated")
    check(world, matches)


def test_a_worker_rates_a_match_soon_after_its_end(world: World) -> None:
    world.worker("people")
    match = over(world, "one", ("pl_a", "pl_b"))
    until(lambda: world.service.ports.ratings.standings(GAME, ("pl_a",)), 30, "the match is rated")
    until(lambda: not world.service.ports.log.scheduled("rating"), 30, "nothing is due")
    check(world, [match.id])
