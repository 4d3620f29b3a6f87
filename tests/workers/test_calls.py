"""The process `calls`: it claims due entries and handles each in time, whatever the others do."""

import asyncio
import signal
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from events.log import LogUnavailable
from tests.waiting import until
from tests.workers.calling import calling
from tests.workers.world import World
from workers.lane import Claimed, Handler, Kind, Lane, Slots


def run(world: World, kind: Kind, done: Callable[[], bool]) -> None:
    """Handle the entries of the kind `toy` until a condition is true."""
    with calling(world, {"toy": kind}):
        until(done, 20, "all entries are handled")


def due_matches(world: World, count: int) -> Sequence[str]:
    matches = [world.people().id for _ in range(count)]
    for match in matches:
        version = world.service.ports.history.newest(match)[0].head.version
        assert world.service.ports.log.rearm(match, version, {"toy": 1})
    return matches


def recording(handled: list[str]) -> Handler:
    async def handle(lane: Lane, due: Claimed) -> None:
        match, _ = await lane.run(lane.ports.history.newest, due.id)
        assert due.until > lane.ports.now()
        handled.append(due.id)
        await lane.run(lane.ports.log.rearm, due.id, match.head.version, {"toy": None})

    return handle


def test_every_entry_is_handled_once(world: World) -> None:
    matches, handled = due_matches(world, 20), list[str]()
    run(world, Kind(recording(handled), 60_000, 4), lambda: len(handled) >= 20)
    assert sorted(handled) == sorted(matches)
    assert world.service.ports.log.scheduled("toy") == ()


def test_an_entry_whose_handler_fails_or_hangs_is_due_again_and_delays_no_other(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    failing, hanging, *_ = matches = due_matches(world, 6)
    handled: list[str] = []
    record = recording(handled)

    async def handle(lane: Lane, due: Claimed) -> None:
        times = sum(one == f"tried {due.id}" for one in handled)
        handled.append(f"tried {due.id}")
        if times == 0 and due.id == failing:
            raise ZeroDivisionError
        if times == 0 and due.id == hanging:
            await asyncio.sleep(60)
        await record(lane, due)

    run(world, Kind(handle, 600, 8), lambda: set(matches) <= set(handled))
    assert [handled.count(f"tried {match}") for match in (failing, hanging)] == [2, 2]
    assert {record.levelname for record in caplog.records} == {"ERROR", "WARNING"}


def test_no_more_entries_are_claimed_than_can_be_handled(world: World) -> None:
    due_matches(world, 9)
    running = [0, 0]

    async def handle(lane: Lane, due: Claimed) -> None:
        running[0] += 1
        running[1] = max(running)
        await asyncio.sleep(0.05)
        running[0] -= 1
        await recording([])(lane, due)

    run(world, Kind(handle, 60_000, 3), lambda: not world.service.ports.log.scheduled("toy"))
    assert running == [0, 3]


def test_an_outage_of_the_log_delays_entries_but_loses_none(world: World) -> None:
    matches, handled = due_matches(world, 3), list[str]()
    log = world.service.ports.log
    outage = [LogUnavailable("unavailable")] * 2

    class Failing:
        def __getattr__(self, name: str) -> object:
            if name == "claim" and outage:
                raise outage.pop()
            return getattr(log, name)

    world.service = replace(world.service, ports=replace(world.service.ports, log=Failing()))  # type: ignore[arg-type]
    run(world, Kind(recording(handled), 60_000, 8), lambda: len(handled) >= 3)
    assert sorted(handled) == sorted(matches)


def test_slots_are_limited_in_total_by_host_and_by_owner() -> None:
    slots = Slots(3, by_host=2, by_owner=2)
    with slots.taken("a", "x") as first, slots.taken("a", "y") as second:
        assert (first, second) == (True, True)
        with slots.taken("a", "z") as third:
            assert not third
        with slots.taken("b", "x") as other, slots.taken("c", "z") as fourth:
            assert (other, fourth) == (True, False)
        with slots.taken("b", "x") as again:
            assert again
    assert slots._used == {}


def test_the_process_ends_with_a_signal_and_without_a_server_at_once(
    world: World, capfd: pytest.CaptureFixture[str]
) -> None:
    process = world.program("workers.calls")
    (match,) = due_matches(world, 1)
    world.service.ports.webhooks.watch((match,), 1)
    until(lambda: not world.service.ports.log.scheduled("news"), 60, "the process has begun")
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    del world.environ["MOONSTONE_LOG_URL"]
    assert world.program("workers.calls").wait(60) == 1
    assert "the calls cannot start" in capfd.readouterr().err
