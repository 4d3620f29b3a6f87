"""A kind of due entry that exists only in a test: the entry and its handler."""

from dataclasses import replace

import pytest

from events.record import MatchId
from service.adapters.beat import Beat
from service.match.due_times import KINDS
from service.repository.ports import Ports
from tests.workers.world import Clock, World
from workers.sweeper import LEASE_MS, Sweeper


@pytest.fixture
def clock(world: World) -> Clock:
    return Clock(world.service.ports.now())


def test_a_new_kind_needs_only_an_entry_and_a_handler(
    world: World, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    monkeypatch.setitem(KINDS, "toy", lambda match, _after: match.at + 500)
    match = world.people()
    handled: list[MatchId] = []

    def handle(ports: Ports, match_id: MatchId) -> None:
        handled.append(match_id)
        if len(handled) == 3:
            newest, _ = ports.history.newest(match_id)
            ports.log.rearm(match_id, newest.head.version, {"toy": None})

    ports = replace(world.service.ports, now=clock)
    sweeper = Sweeper(ports, Beat(world.service.log_client), clock.steady, handlers={"toy": handle})
    clock.now = match.at
    for ms, times in ((499, 0), (1, 1), (LEASE_MS - 1, 1), (1, 2), (LEASE_MS, 3), (LEASE_MS, 3)):
        clock.now += ms
        sweeper.sweep()
        assert handled == [match.id] * times


def test_a_handler_that_fails_for_a_match_does_not_stop_other_matches(
    world: World, monkeypatch: pytest.MonkeyPatch, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(KINDS, "toy", lambda match, _after: match.at)
    ids = {world.people().id for _ in range(3)}
    handled: set[MatchId] = set()

    def handle(_ports: Ports, match_id: MatchId) -> None:
        handled.add(match_id)
        raise ZeroDivisionError

    ports = replace(world.service.ports, now=clock)
    clock.now = ports.now() + 10_000
    Sweeper(ports, Beat(world.service.log_client), clock.steady, handlers={"toy": handle}).sweep()
    assert handled == ids
    assert {world.service.ports.history.newest(one)[0].status for one in ids} == {"running"}
    assert [record.levelname for record in caplog.records] == ["ERROR"] * 3
