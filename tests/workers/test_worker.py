"""The RQ worker runs jobs that call an allowed function, and refuses all others."""

import json
import logging
import os
import signal
import time
import zlib
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from rq import Callback, Queue
from rq.results import Result
from rq.serializers import DefaultSerializer, JSONSerializer

from events.log import Append, Appended, Conflict, Reused
from events.record import MatchId
from events.redis_log import send
from service.adapters.jobs import ADVANCE, FAILED_SECONDS, LANES
from service.games.registry import GAMES
from service.match.new_match import NewMatch
from service.repository.match_history import History
from service.repository.ports import Ports
from service.usecases.match_lifecycle import create
from tests.waiting import in_time
from tests.workers.world import GAME, World
from workers import jobs, worker
from workers.time_limits import cpu_time_limit, wall_time_limit
from workers.turns import Turns
from workers.worker import TurnWorker


@pytest.fixture
def turn_worker(world: World) -> TurnWorker:
    play_with(world.service.ports)
    return TurnWorker(world.queue.url)


def play_with(ports: Ports, **limits: Any) -> None:
    """Let each job play until nothing is due in its match, in this thread."""
    turns = Turns(ports, **limits)

    def play(match_id: MatchId) -> None:
        while turns.play(match_id) is not None:
            pass

    jobs.use(play)


def queue_of(world: World, lane: str = "turns") -> Queue:
    return Queue(lane, connection=world.service.queue_client, serializer=JSONSerializer)


def run(turn_worker: TurnWorker) -> None:
    turn_worker.work(burst=True, logging_level="WARNING")


@pytest.mark.parametrize(
    "call",
    [
        ("os.system", "touch {}"),
        ("builtins.eval", "open('{}', 'w')"),
        ("workers.jobs.use", "{}"),
        ("workers.jobs.none_such", "{}"),
    ],
)
def test_a_function_that_is_not_on_the_list_is_refused_and_the_next_job_runs(
    world: World, turn_worker: TurnWorker, tmp_path: Path, caplog: pytest.LogCaptureFixture, call: tuple[str, str]
) -> None:
    trap = tmp_path / "trap"
    world.service.queue_client.flushall()
    queue_of(world).enqueue(call[0], call[1].format(trap))
    match = world.bots()
    run(turn_worker)
    assert not trap.exists()
    assert f"{call[0]!r} is not an allowed function" in caplog.text
    assert world.newest(match).head.version > match.head.version


def test_callbacks_methods_and_pickles_in_the_queue_do_nothing(
    world: World, turn_worker: TurnWorker, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    trap = tmp_path / "trap"
    match = world.bots()
    world.service.queue_client.flushall()
    evil = Callback("os.mkdir")
    queue_of(world).enqueue(ADVANCE, match.id, on_success=evil, on_failure=evil, on_stopped=evil)
    odd = queue_of(world).create_job("format", args=["x"])
    odd.data = b'["format", "a string", ["x"], {}]'
    queue_of(world).enqueue_job(odd)
    queue_of(world).enqueue(ADVANCE, match_id=match.id)
    Queue("turns", connection=world.service.queue_client, serializer=DefaultSerializer).enqueue("os.mkdir", str(trap))
    run(turn_worker)
    assert not trap.exists()
    assert world.newest(match).head.version > match.head.version
    assert ["is refused" in record.getMessage() for record in caplog.records] == [True] * 3


def test_a_failed_job_is_logged_with_its_traceback_and_kept_for_a_minute(
    world: World, turn_worker: TurnWorker, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "ALLOWED_FUNCTIONS", {*worker.ALLOWED_FUNCTIONS, "math.sqrt"})
    world.service.queue_client.flushall()
    job = queue_of(world).enqueue("math.sqrt", "four", failure_ttl=60)
    with caplog.at_level(logging.ERROR):
        run(turn_worker)
    assert [record.exc_info is not None for record in caplog.records] == [True]
    assert 0 < world.service.queue_client.ttl(job.key) <= 60
    texts = [result.exc_string for result in Result.all(job)]
    assert texts == [""], "the text of an exception may contain hidden information"


def test_a_bot_that_hangs_is_interrupted_and_its_default_action_is_played(
    world: World, turn_worker: TurnWorker
) -> None:
    def hang(*_: object) -> Any:
        time.sleep(20)

    games = {GAME: replace(GAMES[GAME], bots={"slow": hang})}
    ports = replace(
        world.service.ports, games=games, history=History(world.service.ports.log, games, world.service.ports.secret)
    )
    turns = Turns(ports, bot_limit=wall_time_limit)

    def play_once(match_id: MatchId) -> None:
        turns.play(match_id)

    jobs.use(play_once)
    match = create(ports, "pl_a", NewMatch(game=GAME, seats=2, bots=("slow", "slow")), "k").match
    turn_worker.work(burst=True, max_jobs=1, logging_level="WARNING")
    default = next(event for event in world.events(match) if event.type == "default_action")
    assert b'"reason":"bot-failed"' in bytes(default.data)


def test_rules_that_hang_suspend_the_match(world: World, turn_worker: TurnWorker) -> None:
    def hang(*_: object) -> Any:
        while True:
            pass

    games = {GAME: replace(GAMES[GAME], decide=hang)}
    ports = replace(
        world.service.ports, games=games, history=History(world.service.ports.log, games, world.service.ports.secret)
    )
    match = world.bots()
    play_with(ports, rules_limit=partial(cpu_time_limit, 0.2))
    turn_worker.work(burst=True, max_jobs=1, logging_level="WARNING")
    assert world.newest(match).status == "suspended"


def test_time_that_a_job_waits_for_the_log_does_not_count_against_its_limit(
    world: World, turn_worker: TurnWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    play_with(world.service.ports, rules_limit=partial(cpu_time_limit, 1.0))
    append, slow = world.service.ports.log.append, count()

    def late(request: Append) -> Appended | Conflict | Reused:
        if next(slow) == 3:
            time.sleep(2)
        return append(request)

    match = world.bots()
    monkeypatch.setattr(world.service.ports.log, "append", late)
    run(turn_worker)
    assert next(slow) > 4
    assert world.newest(match).status == "finished"


# Fields of a job's record that RQ would obey, and calls that are larger than ours or damaged.
RECORDS: dict[str, dict[str, str | bytes]] = {
    "a short time-out": {"timeout": "1"},
    "many retries": {"retries_left": "1000", "number_of_retries": "1000", "retry_intervals": "[0]"},
    "repetitions": {"repeats_left": "1000", "repeat_intervals": "[0]"},
    "kept for ever": {"result_ttl": "-1", "failure_ttl": "-1"},
    "a call that is large when decompressed": {"data": zlib.compress(b" " * 50_000_000, level=1)},
    "a long argument": {"data": json.dumps([ADVANCE, None, ["m" * 5_000], {}]).encode()},
    "an argument that is no id": {"data": json.dumps([ADVANCE, None, [{"m": 1}], {}]).encode()},
    "an unknown status": {"status": "nonsense", "origin": b"\xff"},
    "invalid dates": {"created_at": "yesterday", "enqueued_at": "2026-13-41T00:00:00Z"},
}


@pytest.mark.parametrize("record_name", RECORDS)
def test_only_the_call_is_read_from_a_job_s_record(
    world: World, turn_worker: TurnWorker, caplog: pytest.LogCaptureFixture, record_name: str
) -> None:
    client = world.service.queue_client
    client.flushall()
    job = queue_of(world).enqueue(ADVANCE, "no-such-match")
    client.hset(job.key, mapping=RECORDS[record_name])  # type: ignore[arg-type]  # its stub is wrong
    match = world.bots()
    run(turn_worker)
    assert world.newest(match).status == "finished"
    assert [len(record.getMessage()) < 300 for record in caplog.records] == [True]
    assert client.ttl(job.key) <= FAILED_SECONDS
    assert client.zcard("rq:scheduled:turns") == 0


def test_a_key_in_the_queue_does_not_suspend_the_workers(world: World, turn_worker: TurnWorker) -> None:
    match = world.bots()
    world.service.queue_client.set("rq:suspended", 1)
    run(turn_worker)
    assert world.newest(match).status == "finished"


def test_turns_of_matches_with_people_come_first(turn_worker: TurnWorker) -> None:
    assert [queue.name for queue in turn_worker.queues] == list(LANES) == ["turns", "bots"]


def test_a_hanging_queue_does_not_delay_the_shutdown(
    world: World, turn_worker: TurnWorker, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "SHUTDOWN_TIMEOUT_S", 0.01)

    def shut_down() -> float:
        began = time.monotonic()
        turn_worker.teardown()
        return time.monotonic() - began

    os.kill(world.queue.pid, signal.SIGSTOP)
    try:
        in_time(shut_down, 10, "it shuts down", tries=1)  # while it works, it waits 20 s for an answer
    finally:
        os.kill(world.queue.pid, signal.SIGCONT)
    assert "the queue does not answer" in caplog.text


def test_jobs_leave_no_keys_in_the_queue(world: World, turn_worker: TurnWorker) -> None:
    match = world.bots()
    run(turn_worker)
    assert world.newest(match).status == "finished"
    (keys,) = send(world.service.queue_client, ("KEYS", "*"))
    assert not [name for name in keys if name.startswith((b"rq:job:", b"rq:queue:", b"rq:wip:"))]
