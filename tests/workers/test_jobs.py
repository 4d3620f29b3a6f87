"""Jobs: safe to run twice at once, and quiet about a match that cannot be played on."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from events.redis_log import send
from tests.workers.world import World
from workers.jobs import Turns


def test_jobs_that_run_at_once_double_nothing(world: World) -> None:
    match = world.bots()
    turns = [Turns(world.service) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        while world.newest(match).status != "finished":
            list(pool.map(lambda one: one.advance(match.id), turns))
    world.verified(match)


def test_a_job_that_did_not_get_to_the_end_asks_for_overtime_and_a_done_one_for_nothing(world: World) -> None:
    match = world.bots()
    queue = world.service.queue_client
    queue.flushall()
    Turns(world.service).advance(match.id)
    assert (queue.llen("rq:queue:turns"), queue.llen("rq:queue:overtime")) == (0, 1)
    while world.newest(match).status != "finished":
        Turns(world.service).advance(match.id)
    queue.flushall()
    Turns(world.service).advance(match.id)
    assert queue.dbsize() == 0


def test_a_match_that_is_not_there_or_is_broken_is_set_aside(world: World, caplog: pytest.LogCaptureFixture) -> None:
    broken = world.bots()
    (key,) = world.service.log_client.keys("match:*:events")
    send(world.service.log_client, ("XADD", key, "99-0", "e", "no event"))
    for match_id in (broken.id, "nowhere"):
        Turns(world.service).advance(match_id)
        assert world.service.queue_client.get(f"queued:{match_id}") == b"aside"
    assert len(caplog.records) == 2
