"""Hints: jobs that carry ids as JSON, one waiting for each match, and none that ever fails."""

import json
import os
import signal
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex

import pytest
from redis import Redis

from events.redis_log import send
from service.adapters import jobs
from service.adapters.jobs import RqJobs, set_aside
from service.adapters.valkey import Valkey
from service.ports import Lane
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


def test_one_job_waits_for_a_match_at_most_and_the_next_once_it_was_taken(queue: Redis) -> None:
    hints = RqJobs(queue)
    lanes: tuple[Lane, ...] = ("turns", "overtime", "turns")
    for lane in lanes:
        hints.hint("m1", lane)
        hints.hint("m2", lane)
    assert (len(waiting(queue)), len(waiting(queue, "overtime"))) == (2, 0)
    queue.lpop("rq:queue:turns")
    hints.hint("m1", "overtime")
    hints.hint("m1")
    assert (len(waiting(queue)), len(waiting(queue, "overtime"))) == (1, 1)


def test_a_match_that_was_set_aside_gets_no_jobs(queue: Redis) -> None:
    set_aside(queue, "m1")
    RqJobs(queue).hint("m1")
    RqJobs(queue).hint("m2")
    assert len(waiting(queue)) == 1
    assert 0 < queue.ttl("queued:m1") <= jobs.SET_ASIDE_SECONDS


def test_a_wiped_queue_takes_hints_again(queue: Redis) -> None:
    hints = RqJobs(queue)
    hints.hint("m1")
    queue.flushall()
    hints.hint("m1")
    assert len(waiting(queue)) == 1


def test_a_dead_queue_costs_one_short_wait_and_is_told_in_the_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_PAUSE", 60.0)
    hints = RqJobs(jobs.connect(f"redis://127.0.0.1:{free_port()}/0"))
    assert seconds_of_hints(hints) < 1
    assert len(caplog.records) == 1
    set_aside(hints._client, "m1")


def test_a_queue_that_does_not_answer_costs_half_a_second_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_PAUSE", 60.0)
    with Valkey.start(tmp_path, durable=False) as server:
        os.kill(server.pid, signal.SIGSTOP)
        # A busy machine may hold a caller up, but not each of them.
        assert any(seconds_of_hints(RqJobs(jobs.connect(server.url))) < 0.9 for _ in range(4))
        server.kill()


def seconds_of_hints(hints: RqJobs) -> float:
    began = time.monotonic()
    for _ in range(100):
        hints.hint(token_hex(4))
    return time.monotonic() - began


def test_a_queue_that_came_back_is_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_PAUSE", 0.05)
    with Valkey.start(tmp_path, durable=False) as server, jobs.connect(server.url) as client:
        hints = RqJobs(client)
        hints.hint("m1")
        server.kill()
        hints.hint("m2")
        server.restart()
        until(lambda: time.monotonic() > hints._away_until, 5, "the pause is over")
        hints.hint("m3")
        assert len(waiting(client)) == 1
