"""Hints are jobs with an id as JSON; at most one waits for each match, and giving a hint never fails."""

import json
import os
import signal
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from secrets import token_hex

import pytest
from redis import Redis

from events.redis_log import send
from service.adapters import jobs
from service.adapters.jobs import RqJobs
from service.adapters.valkey import Valkey
from service.repository.ports import Lane
from tests.ports import free_port
from tests.waiting import until


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Redis]:
    with Valkey.start(tmp_path, durable=False) as server, jobs.connect(server.url) as client:
        yield client


def waiting(queue: Redis, lane: Lane = "turns") -> list[bytes]:
    (jobs_waiting,) = send(queue, ("LRANGE", f"rq:queue:{lane}", 0, -1))
    return list(jobs_waiting)


def test_a_job_is_json_with_a_match_id_and_nothing_else_and_keeps_no_result(queue: Redis) -> None:
    RqJobs(queue).hint("m1")
    (job,) = waiting(queue)
    ((data, result_ttl, failure_ttl),) = send(
        queue, ("HMGET", f"rq:job:{job.decode()}", "data", "result_ttl", "failure_ttl")
    )
    assert json.loads(zlib.decompress(data)) == ["workers.jobs.advance", None, ["m1"], {}]
    assert (result_ttl, failure_ttl) == (b"0", b"60")


def test_at_most_one_job_of_a_match_waits_until_it_is_taken(queue: Redis) -> None:
    hints = RqJobs(queue)
    lanes: tuple[Lane, ...] = ("turns", "bots", "turns")
    for lane in lanes:
        hints.hint("m1", lane)
        hints.hint("m2", lane)
    assert (len(waiting(queue)), len(waiting(queue, "bots"))) == (2, 0)
    queue.lpop("rq:queue:turns")
    hints.hint("m1", "bots")
    hints.hint("m1")
    assert (len(waiting(queue)), len(waiting(queue, "bots"))) == (1, 1)


@pytest.mark.parametrize(
    "mark",
    [
        ("SET", "queued:m1", "aside"),
        ("SET", "queued:m1", "no-such-job"),
        ("LPUSH", "queued:m1", "x"),
        ("HSET", "queued:m1", "x", "y"),
    ],
)
def test_a_mark_without_its_job_or_of_a_wrong_type_stops_no_hint_and_is_repaired(
    queue: Redis, mark: Sequence[str]
) -> None:
    send(queue, tuple(mark))
    hints = RqJobs(queue)
    hints.hint("m1")
    hints.hint("m1")
    assert len(waiting(queue)) == 1
    assert 0 < queue.ttl("queued:m1") <= jobs.HINT_SECONDS


def test_all_keys_of_a_hint_expire_except_the_queue(queue: Redis) -> None:
    RqJobs(queue).hint("m1")
    (keys,) = send(queue, ("KEYS", "*"))
    lasting = {key for key in keys if queue.ttl(key) == -1}
    assert lasting == {b"rq:queue:turns", b"rq:queues"}


def test_each_lane_has_its_own_limit_of_hints(queue: Redis) -> None:
    hints = RqJobs(queue)
    for number in range(jobs.LANE_LENGTH + 5):
        hints.hint(f"b{number}", "bots")
    hints.hint("m1")
    assert (len(waiting(queue, "bots")), len(waiting(queue))) == (jobs.LANE_LENGTH, 1)


def test_a_wiped_queue_accepts_hints_again(queue: Redis) -> None:
    hints = RqJobs(queue)
    hints.hint("m1")
    queue.flushall()
    hints.hint("m1")
    assert len(waiting(queue)) == 1


def test_a_dead_queue_costs_one_short_wait_and_is_logged(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_RETRY_DELAY_S", 60.0)
    hints = RqJobs(jobs.connect(f"redis://127.0.0.1:{free_port()}/0"))
    assert seconds_of_hints(hints) < 1
    assert len(caplog.records) == 1


def test_a_queue_that_does_not_answer_costs_half_a_second_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_RETRY_DELAY_S", 60.0)
    with Valkey.start(tmp_path, durable=False) as server:
        os.kill(server.pid, signal.SIGSTOP)
        # A busy machine may delay one call, but not each of them.
        assert any(seconds_of_hints(RqJobs(jobs.connect(server.url))) < 0.9 for _ in range(4))
        server.kill()


def seconds_of_hints(hints: RqJobs) -> float:
    began = time.monotonic()
    for _ in range(100):
        hints.hint(token_hex(4))
    return time.monotonic() - began


def test_a_queue_that_came_back_is_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_RETRY_DELAY_S", 0.05)
    with Valkey.start(tmp_path, durable=False) as server, jobs.connect(server.url) as client:
        hints = RqJobs(client)
        hints.hint("m1")
        server.kill()
        hints.hint("m2")
        server.restart()
        until(lambda: time.monotonic() > hints._skip_until, 5, "the pause is over")
        hints.hint("m3")
        assert len(waiting(client)) == 1
