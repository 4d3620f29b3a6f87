"""Worker processes play and score matches and enforce deadlines, even if processes are killed and the queue is lost."""

import signal
import time
from functools import partial
from itertools import pairwise
from typing import Final

import pytest
from msgspec import to_builtins
from redis import Redis

from events.record import Event
from events.redis_log import send
from service.match.model import GRACE_MS, Match
from service.match.new_match import NewMatch
from service.match.redaction import legal_actions
from service.observability.failpoints import KILLED, VARIABLE
from service.usecases.match_lifecycle import create, join, leave
from service.usecases.play import ActionRequest, act
from tests.length import LONG
from tests.waiting import in_time, until
from tests.workers.world import GAME, World

TIMEOUT_S: Final = 60
"""For a worker to start and play on a slow machine."""
POINTS: Final = ("append-written", "job-claimed", "append-decided")


def finished(world: World, *matches: Match) -> bool:
    return all(world.newest(match).status == "finished" for match in matches)


def has_played(world: World, match: Match, version: int) -> bool:
    return world.newest(match).head.version > version


def beat_at(world: World) -> int:
    (at,) = send(world.service.log_client, ("HGET", "beat", "at"))
    return int(at or 0)


def wait_for_sweeper(world: World) -> None:
    before = beat_at(world)
    until(lambda: beat_at(world) > before, TIMEOUT_S, "a sweeper runs")


def test_a_match_of_bots_is_played_and_scored_and_listed_as_finished(world: World) -> None:
    worker = world.program("workers")
    match = world.bots()
    until(lambda: world.newest(match).server_seed, TIMEOUT_S, "the match is scored and its seed revealed")
    verdict = world.verified(match)
    assert verdict.match.outcome is not None
    assert [entry.match_id for entry in world.service.ports.index.page("finished", None, 5)] == [match.id]
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(15) == 0


def first_default(world: World, match: Match) -> Event | None:
    """The first default action of a match."""
    return next((event for event in world.events(match) if event.type == "default_action"), None)


def gaps(world: World, match: Match) -> list[int]:
    """Milliseconds from each event to the next."""
    at = [event.at for event in world.events(match)]
    return [later - before for before, later in pairwise(at)]


def test_workers_killed_in_their_jobs_lose_and_repeat_no_turn_and_delay_no_match(world: World) -> None:
    points = ("append-decided:3", "append-written:9", "job-played:1")
    doomed = [world.worker(**{VARIABLE: point}) for point in points]
    world.worker()
    with Redis.from_url(world.queue.url, protocol=2) as queue:
        until(lambda: queue.scard("rq:workers") == 4, TIMEOUT_S, "all workers wait for jobs")
    matches: list[Match] = []

    def all_died() -> bool:
        if finished(world, *matches):
            matches.extend(world.bots() for _ in range(6))
        return all(worker.poll() == KILLED for worker in doomed)

    until(all_died, TIMEOUT_S, "three are killed in mid-match")
    until(lambda: finished(world, *matches), TIMEOUT_S, "every match ends")
    for match in matches:
        world.verified(match)
        # One match may have had all three kills. With RQ's own recovery each would take ten times as long.
        assert max(gaps(world, match)) < 3000 * len(doomed)


@pytest.mark.long
@pytest.mark.parametrize("point", POINTS if LONG else POINTS[:2])
def test_a_match_goes_on_within_three_seconds_of_the_return_of_workers_that_were_all_killed(
    world: World, point: str
) -> None:
    def goes_on() -> float:
        match = world.bots()
        if point == "job-claimed":
            world.service.queue_client.flushall()  # or a hint in the queue may end the match before any claim
        assert world.worker(**{VARIABLE: point}).wait(TIMEOUT_S) == KILLED
        before = world.newest(match).head.version
        successor = world.worker()
        wait_for_sweeper(world)
        began = time.monotonic()
        until(partial(has_played, world, match, before), TIMEOUT_S, "the match goes on")
        took = time.monotonic() - began
        until(lambda: finished(world, match), TIMEOUT_S, "the match ends")
        world.verified(match)
        successor.kill()
        successor.wait()
        return took

    in_time(goes_on, 3, "the match goes on")


def test_a_queue_that_is_wiped_in_mid_match_is_filled_again_from_the_log(world: World) -> None:
    ports = world.service.ports
    worker = world.worker()
    wait_for_sweeper(world)
    match = create(ports, "pl_a", NewMatch(game=GAME, seats=2, bots=("random",)), "create").match
    join(ports, "pl_a", match.id, "join")
    acted = 0
    took = []

    def my_turn() -> bool:
        return world.newest(match).decisions()[0].seat == 1

    with Redis.from_url(world.queue.url) as queue:
        for _ in range(5):
            # A job that has already begun would go on by itself.
            until(lambda: my_turn() and not queue.keys("rq:job:*"), TIMEOUT_S, "the bot plays")
            worker.send_signal(signal.SIGSTOP)
            while my_turn():
                acted += 1
                action = legal_actions(world.newest(match), 1)[0]
                act(ports, "pl_a", match.id, ActionRequest(to_builtins(action)), str(acted))
            before = world.newest(match).head.version
            assert queue.keys("rq:job:*"), "there is a hint for the bot"
            queue.flushall()
            worker.send_signal(signal.SIGCONT)
            began = time.monotonic()
            until(partial(has_played, world, match, before), TIMEOUT_S, "the bot plays")
            took.append(time.monotonic() - began)
    # The median: a machine may be busy with something else for a moment.
    assert sorted(took)[2] < 5, took
    leave(ports, "pl_a", match.id, "leave")
    until(lambda: finished(world, match), TIMEOUT_S, "the match ends")
    assert world.verified(match).match.outcome is not None
    by_person = [event.type for event in world.events(match) if event.by == "seat:1"]
    assert by_person == [*["action"] * acted, "resigned"]


def test_damaged_jobs_are_skipped_by_the_same_process(world: World) -> None:
    """Some of these entries end RQ's worker; the next one in the same process takes over."""
    queue = world.service.queue_client
    queue.hset("rq:job:noise", mapping={"data": b"\x00\xff", "created_at": b"never", "timeout": b"x"})
    queue.hset("rq:job:empty", mapping={"status": b"queued"})
    queue.set("rq:job:text", "no hash")
    noise = (b"no-such-job", b"noise", b"empty", b"text", b"\xff\xfe", b"")
    queue.rpush("rq:queue:turns", *noise)
    worker = world.worker()
    match = world.bots()
    until(lambda: finished(world, match), TIMEOUT_S, "the match ends")
    until(lambda: queue.llen("rq:queue:turns") == 0, TIMEOUT_S, "all is taken from the queue")
    assert worker.poll() is None


def test_a_worker_process_uses_the_queue_again_after_its_server_restarts(world: World) -> None:
    worker = world.worker()
    first = world.bots()
    until(lambda: finished(world, first), TIMEOUT_S, "the first match ends")
    world.queue.kill()
    second = world.bots()
    world.queue.restart()
    until(lambda: finished(world, second), TIMEOUT_S, "the second match ends")
    assert worker.poll() is None


def test_a_worker_process_uses_the_log_again_after_its_server_restarts(
    world: World, capfd: pytest.CaptureFixture[str]
) -> None:
    worker = world.program("workers")  # `capfd` has what it writes
    wait_for_sweeper(world)  # a process that finds no log at its start ends
    match = world.bots()
    world.log.kill()
    until(lambda: "the log is not available" in capfd.readouterr().err, TIMEOUT_S, "the worker finds no log")
    world.log.restart()
    until(lambda: finished(world, match), TIMEOUT_S, "the match ends")
    world.verified(match)
    another = world.bots()
    until(lambda: finished(world, another), TIMEOUT_S, "a match that began afterwards ends")
    assert worker.poll() is None


@pytest.mark.long
def test_a_deadline_is_enforced_in_time_after_every_worker_was_killed(world: World) -> None:
    workers = [world.worker() for _ in range(2 if LONG else 1)]
    wait_for_sweeper(world)  # before any clock runs: before the first beat no outage is found
    matches = [world.people(clock=seconds) for seconds in (5, 6, 7)]
    for worker in workers:
        worker.kill()
        worker.wait()
    for _ in workers:
        world.worker()
    late = []
    for match in matches:
        event = until(partial(first_default, world, match), TIMEOUT_S, "the deadline is enforced")
        # On a slow machine the start may take so long that the clock is extended.
        deadline = world.service.ports.history.at(match.id, event.version - 1).decisions()[0].deadline
        assert deadline is not None
        late.append(event.at - deadline)
    assert min(late) >= GRACE_MS
    # The median, as above.
    assert sorted(late)[1] <= 2000, late


@pytest.mark.parametrize("missing", ["MOONSTONE_LOG_URL", "MOONSTONE_QUEUE_URL"])
def test_a_process_without_a_server_exits_with_status_1(world: World, missing: str) -> None:
    del world.environ[missing]
    assert world.program("workers").wait(TIMEOUT_S) == 1
