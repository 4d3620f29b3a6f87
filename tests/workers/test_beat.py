"""The sweepers' heartbeat on the log's server. A long silence between two beats is an outage."""

import time
from typing import Any

import pytest

from events.redis_log import send
from service.adapters import beat as beat_module
from service.adapters.beat import LATE_MS, RETURN_MS, Beat, covered
from service.adapters.clock import wall_clock
from tests.workers.world import Clock, World, silence


def test_a_short_gap_between_beats_is_no_outage_and_each_long_gap_is_one(world: World) -> None:
    clock = Clock(world.service.ports.now())
    began = clock.now
    beat = Beat(world.service.log_client, clock)
    assert [beat.beat().found, beat.beat().found] == [False, False]
    silence(world, 1_500)
    assert not beat.beat().found
    silence(world, 3_001)
    assert beat.beat().found
    clock.now += 100_000
    silence(world, 50_000)
    second = beat.beat()
    assert second.found
    assert 50_000 <= second.silence_ms < 90_000
    assert second.returning_ms == RETURN_MS
    assert beat.lost(began, clock.now, 250) == RETURN_MS + second.silence_ms
    assert beat.lost(clock.now, clock.now + 60_000, 250) == RETURN_MS


def test_a_silence_is_lost_time_while_it_lasts_and_counts_once_afterwards(world: World) -> None:
    clock = Clock(world.service.ports.now())
    beat = Beat(world.service.log_client, clock)

    def lost_ms() -> int:
        return Beat(world.service.log_client, clock).lost(clock.now - 20_000, clock.now, 250)

    assert lost_ms() == 0
    beat.beat()
    assert lost_ms() < 1_000
    silence(world, 10_000)
    assert 10_000 <= lost_ms() < 20_000
    silence_ms = beat.beat().silence_ms
    assert lost_ms() == silence_ms
    clock.now += 100_000
    assert lost_ms() == 0


def test_outages_are_read_once_for_all_that_need_them_at_once_and_again_when_one_may_be_new(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = world.service.log_client
    beat = Beat(client)
    beat.beat()
    reads = 0

    def counting(*args: Any) -> Any:
        nonlocal reads
        reads += 1
        return send(*args)

    def lost_ms(ago_ms: int) -> int:
        now = wall_clock()
        return beat.lost(now - ago_ms, now, 250)

    monkeypatch.setattr(beat_module, "send", counting)
    monkeypatch.setattr(beat_module, "FRESH_MS", 200)
    assert [lost_ms(5_000), lost_ms(100), lost_ms(9_000)] == [0, 0, 0]
    assert reads == 1
    assert lost_ms(60_000) == 0
    assert reads == 2  # nothing was read for the time before
    silence(world, 100)
    monkeypatch.setattr(beat_module, "FRESH_MS", 0)
    time.sleep(0.001)
    assert lost_ms(1_000) == 0
    assert reads == 3  # what was read is too old
    monkeypatch.setattr(beat_module, "FRESH_MS", 200)
    assert lost_ms(1_000) == 0
    assert reads == 4  # the beat before the last read is so old that a sweeper may have found an outage since
    silence(world, 2_000)
    Beat(client).beat(250)
    assert lost_ms(5_000) >= 2_000


def test_a_beat_that_the_server_reads_long_after_it_was_sent_does_not_count(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = world.service.log_client
    beat = Beat(client)
    beat.beat()
    silence(world, 10_000)
    before = send(client, ("HGETALL", "beat"))
    with monkeypatch.context() as patch:
        patch.setattr(beat_module, "TRIES", 1)
        patch.setattr(beat, "_server_lead", beat._server_lead - 2 * LATE_MS)
        assert not beat.beat().found
    assert send(client, ("HGETALL", "beat")) == before
    assert beat.beat().found


def test_outages_that_overlap_count_once() -> None:
    assert covered([(0, 10), (5, 15), (6, 7), (20, 30)], 2, 25) == 18
    assert covered([(0, 10)], 10, 20) == covered([], 0, 9) == covered([(5, 9)], 8, 3) == 0


def test_the_previous_release_and_this_one_read_the_outages_that_the_other_wrote(world: World) -> None:
    clock = Clock(world.service.ports.now())
    client = world.service.log_client
    beat = Beat(client, clock)
    beat.beat()
    send(client, ("HSET", "beat", clock.now - 9_000, 4_000, f"jump:{clock.now - 20_000}", 3_500))
    for _ in range(2):
        assert beat.lost(clock.now - 60_000, clock.now, 250) in range(7_500, 7_500 + 2 * RETURN_MS + 1)
        beat.beat()
    assert send(client, ("HKEYS", "beat")) == [[b"at"]]
    silence(world, 10_000)
    ms = beat.beat().silence_ms
    (fields,) = send(client, ("HGETALL", "beat"))
    assert [int(value) for name, value in fields.items() if name != b"at"] == [ms]
    silence(world, 2_000)
    beat.beat(0)
    assert len(send(client, ("HKEYS", "beat"))[0]) == 2, "the previous release records no outages that are so short"
