"""The loop of a stream: heartbeats, tokens, ends, and the cost of many streams."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import msgspec
import pytest

from service.errors import Refused
from service.match import redaction
from service.repository.verified_events import CACHED_EVENTS
from service.subscriptions import match_watch, streams
from service.subscriptions.frames import EVENT_STREAM, NDJSON
from service.subscriptions.player_stream import PlayerSubscription
from service.subscriptions.situation import NOTHING, Include
from service.usecases import accounts
from tests.api.table import Table
from tests.service.subscriptions.stream_server import (
    HEARTBEAT_S,
    StreamServer,
    end,
    idle_waiters,
    in_time,
    lines,
    up_to_date,
)
from tests.waiting import until


def test_a_lost_wake_up_delays_an_event_by_at_most_one_heartbeat(server: StreamServer, table: Table) -> None:
    stream = server.follow(table.match_id)
    match, _ = server.ports.history.newest(table.match_id)
    up_to_date(stream, match.head)
    server.drops_wakes = True
    table.play(server.other_process)
    pieces = iter(lambda: next(stream), None)
    heartbeats = 0
    while next(pieces) == NDJSON.heartbeat:
        heartbeats += 1
    assert heartbeats == 1


def test_heartbeats_come_in_time_while_nothing_happens(server: StreamServer, table: Table) -> None:
    match, _ = server.ports.history.newest(table.match_id)
    stream = server.follow(table.match_id, after=match.head, form=EVENT_STREAM)
    assert next(stream).startswith(b"retry: 1000\nevent: hello\ndata: {")
    began = time.monotonic()
    assert [next(stream) for _ in range(4)] == [b":\n\n"] * 4
    assert time.monotonic() - began >= 3 * HEARTBEAT_S


def test_a_revoked_token_ends_only_its_own_streams(server: StreamServer, table: Table) -> None:
    match, _ = server.ports.history.newest(table.match_id)
    mine, other = (
        up_to_date(server.follow(table.match_id, player=player, token=token), match.head)
        for player, token in ((table.ben, table.ben_token), (table.anna, table.anna_token))
    )
    accounts.revoke(server.ports, table.ben_token)
    assert end(mine) == "token-revoked"
    assert next(other) == NDJSON.heartbeat


@pytest.mark.parametrize("how", ["server", "feed"])
def test_a_server_that_stops_ends_its_streams(server: StreamServer, table: Table, how: str) -> None:
    match, _ = server.ports.history.newest(table.match_id)
    stream = up_to_date(server.follow(table.match_id), match.head)
    if how == "feed":
        server.feed.close()
    server.alive = how != "server"
    assert end(stream) == "restart"


def test_a_stream_ends_at_its_maximum_age(server: StreamServer, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    match, _ = server.ports.history.newest(table.match_id)
    stream = up_to_date(server.follow(table.match_id), match.head)
    assert next(stream) == NDJSON.heartbeat
    monkeypatch.setattr(streams, "MAX_AGE_S", HEARTBEAT_S)
    assert end(stream) == "max-age"


def test_an_outage_of_the_log_ends_no_stream(server: StreamServer, table: Table) -> None:
    match, _ = server.ports.history.newest(table.match_id)
    stream = up_to_date(server.follow(table.match_id), match.head)
    table.play(server.other_process)
    server.log.fails = lambda _: True
    assert [next(stream) for _ in range(3)] == [NDJSON.heartbeat] * 3
    server.log.fails = lambda _: False
    assert msgspec.json.decode(next(lines(stream)))["version"] == match.head.version + 1


def test_a_read_that_fails_is_not_tried_again_before_the_next_heartbeat(
    server: StreamServer, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT_S", 0.4)
    monkeypatch.setattr(streams, "HANG_UP_CHECK_S", 0.01)
    match, _ = server.ports.history.newest(table.match_id)
    stream = up_to_date(server.follow(table.match_id), match.head)
    server.drops_wakes = True
    table.play(server.other_process, CACHED_EVENTS + 1)  # more events than the cache holds
    server.log.fails = lambda last: last is not None
    assert next(stream) == NDJSON.heartbeat
    server.log.reads = 0
    assert next(stream) == NDJSON.heartbeat
    assert server.log.reads == 2


def test_a_false_wake_up_causes_one_read(server: StreamServer, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT_S", 0.6)
    match, _ = server.ports.history.newest(table.match_id)

    def reads() -> int:
        """The number of reads until the next heartbeat; 0 if it was due before the stream could read."""
        stream = up_to_date(server.follow(table.match_id), match.head)
        server.feed.wake(table.match_id, 999)
        server.log.reads = 0
        assert next(stream) == NDJSON.heartbeat
        return server.log.reads

    # On a busy machine the heartbeat may come first, but not five times in a row.
    assert next(filter(None, (reads() for _ in range(5))), 0) == 1


def test_reads_for_false_wake_ups_are_limited(
    server: StreamServer, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match_watch, "_FALSE_WAKE_DELAY_S", 0.05)
    match, _ = server.ports.history.newest(table.match_id)
    following = [up_to_date(server.follow(table.match_id), match.head) for _ in range(5)]
    monkeypatch.setattr(streams, "HEARTBEAT_S", 0.5)
    server.log.reads = 0
    over = threading.Event()

    def flood() -> None:
        for version in count(1000):
            server.feed.wake(table.match_id, version)
            if over.wait(0.001):
                return

    with ThreadPoolExecutor(len(following) + 1) as pool:
        began = time.monotonic()
        pool.submit(flood)
        for sent in [pool.submit(next, stream) for stream in following]:
            assert sent.result(30) == NDJSON.heartbeat
        over.set()
    assert server.log.reads <= 2 + (time.monotonic() - began) / 0.05


def test_a_new_event_is_read_once_and_encoded_once_per_form_for_all_streams(
    server: StreamServer, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT_S", 60.0)
    match, _ = server.ports.history.newest(table.match_id)
    ben = {"player": table.ben, "token": table.ben_token}
    kinds: list[dict[str, Any]] = [
        {**viewer, "form": form, "include": Include(language=language)}
        for viewer in ({}, ben)
        for form in (NDJSON, EVENT_STREAM)
        for language in (None, "en", "de")
    ]
    following = [server.follow(table.match_id, after=match.head, **kind) for kind in kinds * 5]
    for player in (table.anna, table.ben):
        subscription = PlayerSubscription(server.ports, server.streams, player.id, NDJSON, NOTHING)
        following.append(in_time(server.streams.run(subscription, lambda: None)))
    for stream in following:
        assert next(stream)
    waiting = idle_waiters(monkeypatch)
    redacted, see = [], redaction.see_event

    def counted(*arguments: Any) -> Any:
        redacted.append(arguments)
        return see(*arguments)

    monkeypatch.setattr(redaction, "see_event", counted)
    with ThreadPoolExecutor(len(following)) as pool:
        sent = [pool.submit(next, stream) for stream in following]
        until(lambda: len(waiting) == len(following), 30, "all streams wait")
        server.log.reads, server.log.seconds = 0, 0.05
        after = table.play(server.other_process)
        bodies = [one.result(30) for one in sent[: len(kinds) * 5]]
        assert server.log.reads == 1
        assert len(redacted) == len(kinds)
        assert all(len(set(bodies[kind :: len(kinds)])) == 1 for kind in range(len(kinds)))
        server.feed.close()
    assert {msgspec.json.decode(body)["version"] for body in bodies if body[:1] == b"{"} == {after.head.version}


def test_streams_are_limited_per_holder_and_per_process(server: StreamServer, monkeypatch: pytest.MonkeyPatch) -> None:
    slots = [server.streams.enter("ben") for _ in range(8)]
    with pytest.raises(Refused, match="too-many-streams"):
        server.streams.enter("ben")
    anna = server.streams.enter("anna")
    assert server.streams.open == 9
    slots[0].release()
    slots[0].release()
    slots[0] = server.streams.enter("ben")
    monkeypatch.setattr(streams, "MAX_STREAMS_PER_PROCESS", 9)
    with pytest.raises(Refused, match="too-many-streams"):
        server.streams.enter("cleo")
    for slot in (anna, *slots):
        slot.release()
    assert server.streams.open == 0
