"""Streams of several matches: each match has the events that a spectator's stream of this match alone has."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec
import pytest

from events.chain import genesis
from events.record import Head, MatchId
from service.match.model import Match
from service.match.redaction import see_decisions
from service.subscriptions import match_watch, spectator_stream
from service.subscriptions.frames import EVENT_STREAM, NDJSON, Form
from service.subscriptions.situation import NOTHING, Include
from service.subscriptions.spectator_stream import SpectatorSubscription
from tests.api.table import Table, set_table
from tests.service.subscriptions.stream_server import StreamServer, in_time

Frame = dict[str, Any]


def beginning(match: Match) -> Head:
    return genesis(match.id, match.created.game, match.created.ruleset)[1]


def watch(
    server: StreamServer, sent: Sequence[tuple[Match, Head]], form: Form = NDJSON, include: Include = NOTHING
) -> Iterator[bytes]:
    subscription = SpectatorSubscription(server.ports, server.streams, form, sent, include)
    return in_time(server.streams.run(subscription, lambda: None))


def frames(pieces: Iterator[bytes]) -> Iterator[Frame]:
    for piece in pieces:
        yield from (msgspec.json.decode(line) for line in piece.split(b"\n") if line)


def newest(server: StreamServer, tables: Sequence[Table]) -> list[Match]:
    return [server.other_process.history.newest(table.match_id)[0] for table in tables]


def events_of(server: StreamServer, match_id: MatchId) -> list[Frame]:
    match, _ = server.other_process.history.newest(match_id)
    return [
        msgspec.json.decode(msgspec.json.encode(one))
        for one in server.other_process.history.events(match, None, 0, 10**4)
    ]


@pytest.mark.unmeasured
def test_every_event_of_each_match_is_sent_once_and_in_order(server: StreamServer) -> None:
    tables = [set_table(server.ports) for _ in range(3)]
    stream = frames(watch(server, [(match, beginning(match)) for match in newest(server, tables)]))
    hello = next(stream)
    assert [one["match"] for one in hello["matches"]] == [table.match_id for table in tables]
    for table in tables[1:]:
        table.play(server.other_process, 5)
    for table in reversed(tables):
        table.finish(server.other_process)
    sent = list(stream)
    *sent, last = sent
    assert last == {"type": "end", "reason": "finished"}
    for match in newest(server, tables):
        *events, end = [frame for frame in sent if frame["match"] == match.id]
        assert events == events_of(server, match.id)
        assert end == {
            "type": "match_end",
            "match": match.id,
            "reason": "finished",
            "version": match.head.version,
            "head": match.head.hash,
        }


@pytest.mark.parametrize("drops_wakes", [False, True], ids=["woken", "at heartbeats"])
def test_a_stream_from_the_newest_version_sends_open_decisions_and_later_events(
    server: StreamServer, drops_wakes: bool
) -> None:
    tables = [set_table(server.ports) for _ in range(3)]
    before = newest(server, tables)
    include = Include(decisions=True, language="en")
    stream = frames(watch(server, [(match, match.head) for match in before], include=include))
    hello = next(stream)
    for match, seen in zip(before, hello["matches"], strict=True):
        assert seen["version"] == match.head.version
        assert [one["id"] for one in seen["decisions"]] == [one.id for one in see_decisions(match, None)]
        assert all(one["text"] for one in seen["decisions"])
    server.drops_wakes = drops_wakes
    for table in (tables[2], tables[0]):
        after = table.play(server.other_process)
        for event in events_of(server, table.match_id)[before[tables.index(table)].head.version :]:
            sent = next(stream)
            assert sent["text"]
            then = server.other_process.history.at(after.id, event["version"])
            assert [one["id"] for one in sent["decisions"]] == [one.id for one in see_decisions(then, None)]
            assert {name: sent[name] for name in event} == event


def test_an_id_has_the_last_sent_version_of_each_match(server: StreamServer) -> None:
    tables = [set_table(server.ports) for _ in range(2)]
    before = newest(server, tables)
    pieces = watch(server, [(match, match.head) for match in before], EVENT_STREAM)
    position = [match.head.version for match in before]
    assert b"retry: 1000\nevent: hello\nid: %d,%d\n" % tuple(position) in next(pieces)
    for at in (1, 0):
        position[at] = tables[at].play(server.other_process).head.version
        piece = next(piece for piece in pieces if piece != EVENT_STREAM.heartbeat)
        assert piece.endswith(b"\n\nid: %d,%d\n\n" % tuple(position))
        assert piece.count(b"id: ") == 1, "an id inside the piece would resume in the middle of another match"


def test_an_unreadable_match_ends_without_the_others(server: StreamServer) -> None:
    tables = [set_table(server.ports) for _ in range(2)]
    stream = frames(watch(server, [(match, match.head) for match in newest(server, tables)]))
    next(stream)
    broken, sound = tables
    server.log._matches[broken.match_id].events.append(b"{}")
    sent = next(stream)
    assert (sent["type"], sent["match"], sent["reason"]) == ("match_end", broken.match_id, "match-corrupt")
    server.wake(broken.match_id, 10**6)
    sound.play(server.other_process)
    assert next(stream)["match"] == sound.match_id


def test_a_diverged_history_ends_its_match(server: StreamServer) -> None:
    (match,) = newest(server, [set_table(server.ports)])
    stream = frames(watch(server, [(match, Head(match.head.version - 1, "0" * 64))]))
    _, end, last = stream
    assert (end["reason"], end["version"], last["reason"]) == ("history-diverged", match.head.version - 1, "finished")


def test_a_long_backlog_of_one_match_does_not_delay_the_others(server: StreamServer) -> None:
    tables = [set_table(server.ports) for _ in range(2)]
    tables[0].finish(server.other_process)
    long, short = newest(server, tables)
    assert long.head.version > match_watch.CHUNK_EVENTS
    pieces = watch(server, [(match, beginning(match)) for match in (long, short)])
    _, first, second = islice((piece for piece in pieces if piece != NDJSON.heartbeat), 3)
    assert (long.id.encode() in first, short.id.encode() in second) == (True, True)


@pytest.mark.unmeasured
def test_a_heartbeat_reads_all_matches_in_one_round_trip(server: StreamServer) -> None:
    matches = newest(server, [set_table(server.ports) for _ in range(spectator_stream.MAX_MATCHES)])
    pieces = watch(server, [(match, match.head) for match in matches])
    next(pieces)
    server.log.reads = 0
    assert [next(pieces) for _ in range(3)] == [NDJSON.heartbeat] * 3
    assert server.log.reads == 3, "one read at the beginning, and one at each heartbeat but the last"


def test_events_that_an_outage_delays_are_sent_after_a_later_heartbeat(server: StreamServer) -> None:
    table = set_table(server.ports)
    (match,) = newest(server, [table])
    stream = watch(server, [(match, match.head)])
    next(stream)
    server.log.fails = lambda _: True
    server.drops_wakes = True
    table.play(server.other_process)
    assert next(stream) == NDJSON.heartbeat
    server.log.fails = lambda _: False
    assert next(frames(stream))["match"] == match.id
