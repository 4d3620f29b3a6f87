"""The sweeper enforces deadlines, and gives time back before it enforces any."""

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any

import pytest

from events.log import LogUnavailable
from events.redis_log import send
from service.adapters.beat import RETURN_MS, Beat, Beaten
from service.adapters.memory import MemoryJobs
from service.automation import deadlines
from service.automation.bot_turns import advance
from service.match.model import GRACE_MS, Match
from service.repository.ports import Ports
from service.usecases.match_lifecycle import leave
from tests.service.games.toy.game import TOY
from tests.waiting import until
from tests.workers.world import Clock, World, silence
from workers.retry_delays import RetryDelays
from workers.sweeper import Sweeper


@pytest.fixture
def clock(world: World) -> Clock:
    return Clock(world.service.ports.now())


@pytest.fixture
def hints() -> MemoryJobs:
    return MemoryJobs()


@pytest.fixture
def ports(world: World, clock: Clock, hints: MemoryJobs) -> Ports:
    def lost(*args: int) -> int:
        return Beat(world.service.log_client, clock).lost(*args)  # outages of these tests follow one another at once

    return replace(world.service.ports, now=clock, jobs=hints, lost=lost)


@pytest.fixture
def sweeper(world: World, ports: Ports, clock: Clock) -> Sweeper:
    return Sweeper(ports, Beat(world.service.log_client, clock), clock.steady)


def types(world: World, match: Match) -> list[str]:
    return [event.type for event in world.events(match)]


def test_the_sweeper_leaves_jobs_and_matches_without_people_to_the_players(
    world: World, sweeper: Sweeper, clock: Clock, hints: MemoryJobs
) -> None:
    match = world.bots()
    clock.now = match.at + 3_600_000
    sweeper.sweep()
    assert hints.hinted == []
    assert world.newest(match) == match


def test_a_deadline_counts_once_for_any_number_of_sweepers_and_never_early(
    world: World, ports: Ports, clock: Clock
) -> None:
    match = world.people(clock=30)
    # A busy machine that delays this test is no outage.
    ports = replace(ports, lost=lambda *_: 0)
    sweepers = [Sweeper(ports, Beat(world.service.log_client, clock), clock.steady) for _ in range(10)]
    for one in sweepers:
        one._has_doubt = False
    due = ports.log.scheduled("clock")[0].at
    for early in (1000, 1):
        clock.now = due - early
        for one in sweepers:
            one.sweep()
            deadlines.enforce(ports, match.id)
        assert world.newest(match) == match
    assert [one.sweep() for one in sweepers] == [0.001] * 10
    clock.now = due
    barrier = Barrier(len(sweepers))

    def enforce_at_once(sweeper: Sweeper) -> None:
        barrier.wait()
        sweeper.sweep()
        deadlines.enforce(ports, match.id)

    with ThreadPoolExecutor(len(sweepers)) as pool:
        list(pool.map(enforce_at_once, sweepers))
    (event,) = world.events(match)[match.head.version :]
    assert (event.type, event.at) == ("default_action", due)


def test_a_game_s_timer_rings(world: World, sweeper: Sweeper, clock: Clock) -> None:
    match = world.people("toy", trick_ms=1000, countdown_ms=0)
    clock.now = match.at + 1100
    sweeper.sweep()
    assert types(world, match)[-1] == "timer"


def test_after_a_silence_the_time_is_given_back_once_before_any_deadline_counts(
    world: World, ports: Ports, clock: Clock
) -> None:
    matches = [world.people(clock=30), world.people("toy", trick_ms=2000)]
    clock.now = matches[-1].at
    sweepers = [Sweeper(ports, Beat(world.service.log_client, clock), clock.steady) for _ in range(2)]
    sweepers[0].sweep()
    silence(world, 60_000)
    clock.now += 61_000
    for _ in range(2):
        for one in sweepers:
            one.sweep()
    assert [world.newest(match) for match in matches] == matches, "players have time to return first"
    clock.now += RETURN_MS
    for _ in range(2):
        for one in sweepers:
            one.sweep()
    for match in matches:
        assert types(world, match)[match.head.version :] == ["clock_extended"]
        assert 59_000 <= world.newest(match).paused <= 70_000
    clock.now += 40_000
    sweepers[0].sweep()
    assert types(world, matches[0])[-2:] == ["clock_extended", "default_action"]


def test_a_match_that_does_not_need_the_time_back_gets_no_event(world: World, sweeper: Sweeper, clock: Clock) -> None:
    match = world.people(clock=300)
    sweeper.sweep()
    silence(world, 60_000)
    clock.now += 60_000
    for _ in range(3):
        sweeper.sweep()
        clock.now += RETURN_MS
    assert world.newest(match) == match
    clock.now = match.at + 300_000 + GRACE_MS
    sweeper.sweep()
    assert types(world, match)[match.head.version :] == ["clock_extended"]
    assert 60_000 <= world.newest(match).paused <= 70_000


def test_the_time_of_two_outages_that_are_found_together_is_given_back(
    world: World, sweeper: Sweeper, clock: Clock
) -> None:
    match = world.people(clock=30)
    sweeper.sweep()
    silence(world, 10_000)
    clock.now += 15_000
    Beat(world.service.log_client, clock).beat()  # by a sweeper that dies before it gives any time back
    silence(world, 60_000)
    clock.now += 80_000
    for _ in range(2):
        sweeper.sweep()
        clock.now += RETURN_MS
    assert types(world, match)[match.head.version :] == ["clock_extended"]
    assert world.newest(match).paused >= 70_000


def test_a_sweeper_that_saw_the_log_fail_notes_a_short_silence_and_another_does_not(
    world: World, ports: Ports, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that has just begun cannot know whether the log failed, and assumes that it did."""
    client = world.service.log_client
    match = world.people(clock=30)
    clock.now = match.at
    one = Sweeper(ports, Beat(client, clock), clock.steady)
    one.sweep()
    silence(world, 1_000)
    clock.now += 1_200
    one.sweep()
    assert ports.lost(match.at, clock.now, 250) == 0
    silence(world, 1_000)
    clock.now += 1_200
    Sweeper(ports, Beat(client, clock), clock.steady).sweep()
    assert 1_000 <= ports.lost(match.at, clock.now, 250) <= 1_200
    clock.now += 60_000
    with monkeypatch.context() as patch:
        patch.setattr(one, "_sweep", fail)
        with pytest.raises(LogUnavailable):
            one.sweep()
    silence(world, 1_000)
    one.sweep()
    assert 1_000 <= ports.lost(clock.now - 5_000, clock.now, 250) <= 5_000


def test_time_in_which_the_log_hung_is_given_back_although_another_sweeper_wrote_the_beat_first(
    world: World, ports: Ports, sweeper: Sweeper, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = world.service.log_client
    match = world.people(clock=30)
    clock.now = match.at
    sweeper.sweep()
    overdue = ports.log.overdue

    def hang(*args: Any) -> Any:
        clock.now += 180
        Beat(client, clock).beat()
        return overdue(*args)

    with monkeypatch.context() as patch:
        patch.setattr(ports.log, "overdue", hang)
        sweeper.sweep()
    sweeper.sweep()
    assert ports.lost(match.at, clock.now, 250) == 180
    sweeper.sweep()
    clock.now += 1_000
    sweeper.sweep()
    assert ports.lost(match.at, clock.now, 250) == 180


def fail() -> float:
    raise LogUnavailable("unavailable")


def test_a_jump_of_every_clock_is_given_back_before_a_deadline_is_enforced(
    world: World, sweeper: Sweeper, clock: Clock
) -> None:
    match = world.people(clock=30)
    clock.now = match.at
    sweeper.sweep()
    silence(world, 7_200_000)
    clock.jump(7_200_000)
    sweeper.sweep()
    clock.now += RETURN_MS
    sweeper.sweep()
    assert types(world, match)[match.head.version :] == ["clock_extended"]
    assert 7_199_000 <= world.newest(match).paused <= 7_260_000


@pytest.mark.parametrize("hours", [-1, 2])
def test_a_jump_of_only_the_processes_clocks_costs_no_player_the_turn(
    world: World, ports: Ports, clock: Clock, hours: int
) -> None:
    matches = [world.people(clock=30), world.people("toy", trick_ms=60_000), world.people(clock=3600)]
    clock.now = matches[-1].at
    sweepers = [Sweeper(ports, Beat(world.service.log_client, clock), clock.steady) for _ in range(2)]
    for one in sweepers:
        one.sweep()
    jump = hours * 3_600_000
    clock.jump(jump)
    for one in sweepers * 3:
        one.sweep()
        clock.now += RETURN_MS
    for match in matches:
        # Each process finds its own jump, and gives back no more time than has passed.
        assert {*types(world, match)[match.head.version :]} == ({"clock_extended"} if hours > 0 else set())
        assert max(jump, 0) <= world.newest(match).paused <= max(jump, 0) + 20_000
    for _ in range(2):  # the first may give back the time between the jumps of the two processes
        deadline = world.newest(matches[0]).decisions()[0].deadline
        assert deadline is not None
        clock.now = deadline + GRACE_MS
        sweepers[0].sweep()
        if types(world, matches[0])[-1] == "default_action":
            break
    event = world.events(matches[0])[-1]
    assert (event.type, event.at) == ("default_action", clock.now)
    assert "default_action" not in types(world, matches[2])


def test_a_broken_match_delays_no_other_deadline_and_is_skipped_for_a_while(
    world: World,
    sweeper: Sweeper,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sweeper, "_retry_delays", RetryDelays(first=60.0))
    broken = world.people(clock=10)
    match = world.people(clock=30)
    client = world.service.log_client
    (key,) = (name for name in client.keys(f"match:*:{broken.id}:events"))
    send(client, ("XADD", key, "99-0", "e", "no event"))
    clock.now = match.at + 31_000
    caplog.set_level(logging.ERROR)
    assert [sweeper.sweep() > 0 for _ in range(5)] == [True] * 5
    assert types(world, match)[-1] == "default_action"
    assert [broken.id in record.getMessage() for record in caplog.records] == [True]


def test_rules_that_fail_at_a_deadline_suspend_their_match(world: World, ports: Ports, clock: Clock) -> None:
    def fail(*_: Any) -> Any:
        raise ZeroDivisionError

    match = world.people("toy", trick_ms=1000, countdown_ms=0)
    games = {"toy": replace(TOY, decide=fail)}
    broken = replace(ports, games=games, history=type(ports.history)(ports.log, games, ports.secret))
    clock.now = match.at + 1100
    Sweeper(broken, Beat(world.service.log_client, clock), clock.steady).sweep()
    assert types(world, match)[-1] == "match_suspended"
    assert ports.log.scheduled("clock") == ()


def test_a_seat_that_was_left_is_hinted_at_and_played_on(world: World, ports: Ports, hints: MemoryJobs) -> None:
    match = world.people()
    seat = match.decisions()[0].seat
    leave(ports, "pl_a" if seat == 0 else "pl_b", match.id, "leave")
    assert hints.hinted == [match.id]
    advance(ports, match.id)
    assert types(world, match)[-1] == "default_action"


def test_the_sweeper_goes_on_after_the_log_was_unavailable(world: World, caplog: pytest.LogCaptureFixture) -> None:
    match = world.people(clock=5)
    running = Sweeper(world.service.ports, Beat(world.service.log_client))
    running.start()
    world.log.kill()
    until(lambda: "the log is not available" in caplog.text, 60, "the sweeper finds no log")
    world.log.restart()
    until(lambda: "default_action" in types(world, match), 60, "the deadline is enforced")
    running.stop()


@pytest.mark.parametrize(("gap_ms", "level"), [(999, logging.INFO), (1000, logging.WARNING)])
def test_an_outage_below_a_second_is_no_warning(
    sweeper: Sweeper,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    gap_ms: int,
    level: int,
) -> None:
    sweeper.sweep()
    monkeypatch.setattr(sweeper._beat, "beat", lambda _longest: Beaten(True, gap_ms, 0))
    clock.now += 200
    with caplog.at_level(logging.INFO, "moonstone.sweeper"):
        sweeper.sweep()
    assert [record.levelno for record in caplog.records if f"outage of {gap_ms} ms" in record.getMessage()] == [level]
