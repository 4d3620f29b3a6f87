"""Calls of hosted bots whose process is killed at any step, or whose clock is set meanwhile."""

import socket
from typing import Any, Final

import pytest

from service.automation.bot_calls import LEASE_MS
from service.observability.failpoints import KILLED
from tests.length import LONG
from tests.service.adapters.receivers import receiving, status
from tests.waiting import until
from tests.workers.calling import calling
from tests.workers.hosting import SOON_S, Task, header, hosted, match_of, player, plays, records, task_of
from tests.workers.world import GAME, World


def test_nothing_follows_from_an_answer_while_the_clock_of_the_machine_is_wrong(world: World) -> None:
    faults: list[str] = []
    with player() as receiver:
        answer = plays(receiver.requests)

        def sets_clock(connection: socket.socket) -> None:
            if len(receiver.requests) == 1:
                faults.append("this machine's clock is an hour ahead")
            answer(connection)

        receiver.answer = sets_clock
        bots = [hosted(world, receiver.url) for _ in range(2)]
        match = match_of(world, *bots, turn_seconds=600)
        with calling(world, clock_fault=lambda: faults[0] if faults else None):
            until(lambda: world.service.ports.log.next_due(["call"]) == 0, SOON_S, "the call is left to others")
            assert (len(receiver.requests), world.newest(match).head) == (1, match.head)
            faults.clear()
            until(lambda: world.newest(match).head.version > match.head.version, SOON_S, "the bot is called again")
    assert world.events(match)[match.head.version].type == "action"
    assert len({header(request, "webhook-id") for request in receiver.requests[:2]}) == 1


def without_pattern(task: Task) -> Any:
    """The first legal action that is complete."""
    return next(one for one in task["legal_actions"] if not any(isinstance(value, dict) for value in one.values()))


@pytest.mark.long
@pytest.mark.parametrize("game", [GAME, "four_monkeys"] if LONG else [GAME])
def test_a_bot_is_called_again_after_the_process_was_killed_during_its_call(world: World, game: str) -> None:
    with receiving() as receiver:
        receiver.answer = receiver.hang
        bots = [hosted(world, receiver.url) for _ in range(2)]
        if game == GAME:
            match = match_of(world, *bots, turn_seconds=600)
        else:
            match = match_of(world, bots[0], "random", game=game, bot_pace_ms=0)
        ports = world.service.ports
        doomed = world.calls()
        until(lambda: receiver.requests, SOON_S, "the bot is called")
        doomed.kill()
        doomed.wait()
        assert 0 < (ports.log.next_due(["call"]) or 0) <= ports.now() + LEASE_MS  # while there is time
        first = task_of(receiver.requests[0])
        receiver.answer = plays(receiver.requests, without_pattern)
        world.calls()
        bot = bots[first["seat"]]
        until(lambda: records(world, bot)[0].outcome, SOON_S, "the task has ended")
    assert (records(world, bot)[0].task, records(world, bot)[0].outcome) == (first["task"], "accepted")
    assert [task_of(request)["task"] for request in receiver.requests[:2]] == [first["task"]] * 2
    assert world.events(match)[first["version"]].by == f"seat:{first['seat']}"


POINTS: Final = ("calls-begun", "call-answered", "answer-applied")
KILLS: Final = [
    ("fallback-applied", "a failure"),
    *((point, answer) for point in POINTS for answer in ("an action", "a failure")),
]


@pytest.mark.long
@pytest.mark.parametrize(("point", "answer"), KILLS if LONG else KILLS[-2:])
def test_a_call_goes_on_after_its_process_was_killed_at_any_step(world: World, point: str, answer: str) -> None:
    """The next process calls again with the same id, unless the match has gone on. No decision is taken twice."""
    with player(None if answer == "an action" else status(400)) as receiver:
        bots = [hosted(world, receiver.url) for _ in range(2)]
        match = match_of(world, *bots, turn_seconds=600)
        killed = world.calls(CRASH_AT=point)
        assert killed.wait(SOON_S) == KILLED
        world.calls()
        until(lambda: world.newest(match).head.version >= match.head.version + 4, SOON_S, "the match goes on")
    decisions = [event for event in world.events(match) if event.type in {"action", "default_action"}]
    assert {event.type for event in decisions} == {"action" if answer == "an action" else "default_action"}
    calls: dict[int, set[str]] = {}
    for request in receiver.requests:
        calls.setdefault(task_of(request)["version"], set()).add(header(request, "webhook-id"))
    assert {len(ids) for ids in calls.values()} == {1}
