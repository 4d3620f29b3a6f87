"""The sweeper enforces deadlines, and gives time back before it enforces any."""

import logging
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any

import pytest

from events.log import LogUnavailable
from events.record import MatchId
from events.redis_log import send
from service.adapters.beat import Beat
from service.adapters.memory import MemoryJobs
from service.automation import deadlines
from service.automation.bot_turns import advance
from service.errors import Refused
from service.match.model import GRACE_MS, Match
from service.repository.ports import Ports
from service.usecases.match_lifecycle import leave
from tests.service.games.toy.game import TOY
from tests.waiting import until
from tests.workers.world import Clock, World
from workers.rests import Rests
from workers.sweeper import Sweeper


@pytest.fixture
def clock(world: World) -> Clock:
    return Clock(world.service.ports.now())


@pytest.fixture
def hints() -> MemoryJobs:
    return MemoryJobs()


@pytest.fixture
def ports(world: World, clock: Clock, hints: MemoryJobs) -> Ports:
    return replace(world.service.ports, now=clock, jobs=hints)


@pytest.fixture
def sweeper(world: World, ports: Ports, clock: Clock) -> Sweeper:
    return Sweeper(ports, Beat(world.service.log_client), clock.steady)


def types(world: World, match: Match) -> list[str]:
    return [event.type for event in world.events(match)]


def silence(world: World, ms: int) -> None:
    """As if no sweeper had run for so long."""
    (at,) = send(world.service.log_client, ("HGET", "beat", "at"))
    send(world.service.log_client, ("HSET", "beat", "at", int(at) - ms))


def test_jobs_and_what_matches_without_people_are_owed_are_left_to_the_players(
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
    sweepers = [Sweeper(ports, Beat(world.service.log_client), clock.steady) for _ in range(10)]
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

    def ring(sweeper: Sweeper) -> None:
        barrier.wait()
        sweeper.sweep()
        deadlines.enforce(ports, match.id)

    with ThreadPoolExecutor(len(sweepers)) as pool:
        list(pool.map(ring, sweepers))
    (event,) = world.events(match)[match.head.version :]
    assert (event.type, event.at) == ("default_action", due)


def test_the_bell_of_a_game_rings(world: World, sweeper: Sweeper, clock: Clock) -> None:
    match = world.people("toy", trick_ms=1000, countdown_ms=0)
    clock.now = match.at + 1100
    sweeper.sweep()
    assert types(world, match)[-1] == "timer"


def test_after_a_silence_the_time_is_given_back_once_before_any_deadline_counts(
    world: World, ports: Ports, clock: Clock
) -> None:
    matches = [world.people(clock=30), world.people("toy", trick_ms=2000)]
    clock.now = matches[-1].at
    sweepers = [Sweeper(ports, Beat(world.service.log_client), clock.steady) for _ in range(2)]
    sweepers[0].sweep()
    silence(world, 60_000)
    clock.now += 61_000
    for _ in range(2):
        for one in sweepers:
            one.sweep()
    for match in matches:
        assert types(world, match)[match.head.version :] == ["clock_extended"]
        assert 59_000 <= world.newest(match).paused <= 70_000
    clock.now += 40_000
    sweepers[0].sweep()
    assert types(world, matches[0])[-2:] == ["clock_extended", "default_action"]


def test_an_outage_outlives_the_sweeper_that_found_it(
    world: World, ports: Ports, sweeper: Sweeper, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    matches = [world.people(clock=30) for _ in range(3)]
    sweeper.sweep()
    silence(world, 60_000)
    clock.now += 60_000
    extend = deadlines.extend
    done: list[MatchId] = []

    def die_in_the_middle(ports: Ports, match_id: MatchId, outage: str, ms: int) -> None:
        if done:
            raise LogUnavailable("unavailable")
        extend(ports, match_id, outage, ms)
        done.append(match_id)

    with monkeypatch.context() as patch:
        patch.setattr(deadlines, "extend", die_in_the_middle)
        with pytest.raises(LogUnavailable):
            sweeper.sweep()
    heir = Sweeper(ports, Beat(world.service.log_client), clock.steady)
    heir.sweep()
    heir.sweep()
    assert [Counter(types(world, match))["clock_extended"] for match in matches] == [1, 1, 1]
    assert [Counter(types(world, match))["default_action"] for match in matches] == [0, 0, 0]


def test_two_outages_that_come_to_light_together_cost_no_time(world: World, sweeper: Sweeper, clock: Clock) -> None:
    match = world.people(clock=30)
    sweeper.sweep()
    silence(world, 10_000)
    Beat(world.service.log_client).beat()  # of a sweeper that dies before it gives anything back
    silence(world, 60_000)
    clock.now += 80_000
    sweeper.sweep()
    sweeper.sweep()
    assert types(world, match)[match.head.version :] == ["clock_extended"]
    assert world.newest(match).paused >= 70_000


def test_no_deadline_counts_while_an_outage_is_not_settled(
    world: World, sweeper: Sweeper, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = world.people(clock=30)
    sweeper.sweep()
    silence(world, 60_000)
    clock.now += 60_000

    def lose_every_race(*_: object) -> None:
        raise Refused("version-conflict", "")

    with monkeypatch.context() as patch:
        patch.setattr(deadlines, "extend", lose_every_race)
        sweeper.sweep()
    assert types(world, match)[-1] == "match_started"
    sweeper.sweep()
    assert types(world, match)[-1] == "clock_extended"


def test_beats_close_together_are_no_outage_and_two_silences_are_two(world: World) -> None:
    beat = Beat(world.service.log_client)
    assert [beat.beat(), beat.beat()] == [[], []]
    silence(world, 1_500)
    assert beat.beat() == []
    silence(world, 3_001)
    (first,) = beat.beat()
    silence(world, 50_000)
    short, long = sorted(outage.ms for outage in beat.beat())
    assert 3_001 <= short < 30_000
    assert 50_000 <= long < 90_000
    beat.settle(first)
    assert len(beat.beat()) == 1


def test_a_silence_counts_for_everyone_while_it_lasts_and_until_it_is_settled(world: World) -> None:
    beat = Beat(world.service.log_client)
    asked = world.service.ports.outage_ms
    assert asked() == 0
    beat.beat()
    silence(world, 1_500)
    assert asked() == 0
    silence(world, 10_000)
    assert 11_500 <= asked() < 30_000
    (outage,) = beat.beat()
    assert asked() == outage.ms
    beat.settle(outage)
    assert asked() == 0


def test_a_jump_of_every_clock_is_asked_about_before_a_deadline_is_judged(
    world: World, sweeper: Sweeper, clock: Clock
) -> None:
    match = world.people(clock=30)
    clock.now = match.at
    sweeper.sweep()
    silence(world, 7_200_000)
    clock.jump(7_200_000)
    sweeper.sweep()
    assert types(world, match)[match.head.version :] == ["clock_extended"]
    assert 7_199_000 <= world.newest(match).paused <= 7_260_000


@pytest.mark.parametrize("hours", [-1, 2])
def test_a_jump_of_the_clock_of_processes_alone_costs_nobody_the_turn(
    world: World, ports: Ports, clock: Clock, hours: int
) -> None:
    matches = [world.people(clock=30), world.people("toy", trick_ms=60_000), world.people(clock=3600)]
    clock.now = matches[-1].at
    sweepers = [Sweeper(ports, Beat(world.service.log_client), clock.steady) for _ in range(2)]
    for one in sweepers:
        one.sweep()
    jump = hours * 3_600_000
    clock.jump(jump)
    for one in sweepers * 3:
        one.sweep()
        clock.now += 100
    for match in matches:
        # Each process finds its jump by itself; what is given back for it is no more than passed.
        assert {*types(world, match)[match.head.version :]} == ({"clock_extended"} if hours > 0 else set())
        assert max(jump, 0) <= world.newest(match).paused <= max(jump, 0) + 10_000
    assert world.service.ports.outage_ms() == 0
    deadline = world.newest(matches[0]).decisions()[0].deadline
    assert deadline is not None
    clock.now = deadline + GRACE_MS
    sweepers[0].sweep()
    event = world.events(matches[0])[-1]
    assert (event.type, event.at) == ("default_action", clock.now)
    assert "default_action" not in types(world, matches[2])


def test_a_broken_match_keeps_no_other_from_its_deadline_and_is_left_alone_for_a_while(
    world: World,
    sweeper: Sweeper,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sweeper, "_rests", Rests(first=60.0))
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
    Sweeper(broken, Beat(world.service.log_client), clock.steady).sweep()
    assert types(world, match)[-1] == "match_suspended"
    assert ports.log.scheduled("clock") == ()


def test_a_seat_that_was_left_is_hinted_at_and_played_on(world: World, ports: Ports, hints: MemoryJobs) -> None:
    match = world.people()
    seat = match.decisions()[0].seat
    leave(ports, "pl_a" if seat == 0 else "pl_b", match.id, "leave")
    assert hints.hinted == [match.id]
    advance(ports, match.id)
    assert types(world, match)[-1] == "default_action"


def test_the_thread_outlives_a_log_that_goes_away(world: World, caplog: pytest.LogCaptureFixture) -> None:
    match = world.people(clock=5)
    running = Sweeper(world.service.ports, Beat(world.service.log_client))
    running.start()
    world.log.kill()
    until(lambda: "the log is not available" in caplog.text, 60, "the sweeper finds no log")
    world.log.restart()
    until(lambda: "default_action" in types(world, match), 60, "the deadline is enforced")
    running.stop()
