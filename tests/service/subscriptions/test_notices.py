"""Streams of one player: notices, heartbeats and ends."""

import threading
import time
from typing import Any

import msgspec
import pytest

from events.feed import Waiter
from events.log import LogUnavailable
from service.adapters.memory import MemoryIndex
from service.repository import cursors
from service.subscriptions import followed, streams
from service.subscriptions.frames import EVENT_STREAM, NDJSON
from service.subscriptions.player_stream import PlayerSubscription
from service.subscriptions.situation import NOTHING
from service.usecases import match_codes
from tests.api.checked import Client
from tests.api.conftest import problem
from tests.service.arena import person
from tests.service.subscriptions.players import Frame, Players, type_and_match


def test_the_first_frame_has_all_matches_that_are_not_over(players: Players) -> None:
    waiting, running, over = players.create(), players.monkeys("anna", "ben"), players.toy("anna", "carl")
    players.join(waiting, "anna")
    players.play_out(over)
    hello = next(players.sent("anna"))
    assert (hello["type"], hello["player"], hello["followed"]) == ("hello", "anna", followed.MAX_FOLLOWED)
    assert hello["now"] == players.time
    found = {match["id"]: match for match in hello["matches"]}
    assert found.keys() == {waiting, running}
    assert {match["seat"] for match in found.values()} == {0}
    assert found[waiting]["decisions"] == []
    assert [decision["seat"] for decision in found[running]["decisions"]] in ([], [0])


def test_a_waiting_stream_sends_the_start_and_the_turns_of_every_match(players: Players) -> None:
    first, second = players.create("monkeys_on_the_moon"), players.create("monkeys_on_the_moon")
    stream = players.sent("anna")
    assert next(stream)["matches"] == []
    for one in (first, second):
        threading.Timer(0.05, players.join, (one, "anna", "ben")).start()
    sent = [next(stream) for _ in range(2)]
    while len({type_and_match(one) for one in sent if one["type"] == "started"}) < 2:
        sent.append(next(stream))
    assert {type_and_match(one) for one in sent} >= {("started", first), ("started", second)}
    with_decisions = [one for one in sent if one["decisions"]]
    assert all(decision["seat"] == one["seat"] == 0 for one in with_decisions for decision in one["decisions"])


@pytest.mark.parametrize("later_ms", [-1, 1])
def test_an_entry_of_another_copy_of_the_creation_hides_no_match(players: Players, later_ms: int) -> None:
    """Two processes create the same match at once, and a stream reads the index in between."""
    table = match_codes.match_id_of(players.ports.secret, "host", "k")
    players.index.enrol("host", table, players.time + later_ms)
    stream = players.sent("host")
    assert next(stream)["matches"] == []
    threading.Timer(0.05, lambda: players.join(players.create(key="k"), "anna", "ben")).start()
    assert type_and_match(next(stream)) == ("started", table)
    players.index.enrol("host", table, players.time + later_ms)
    hello, _ = players.sent_at_once("host")
    assert [match["id"] for match in hello["matches"]] == [table]


def test_each_turn_and_the_end_are_sent_once(players: Players) -> None:
    table = players.toy("anna", "ben")
    stream = players.sent("anna")
    hello = next(stream)
    known = {decision["id"] for match in hello["matches"] for decision in match["decisions"]}
    threading.Timer(0.05, players.play_out, (table,)).start()
    sent: list[Frame] = []
    while not sent or sent[-1]["type"] != "finished":
        sent.append(next(stream))
    assert all(type_and_match(one) == ("your_turn", table) for one in sent[:-1])
    turns = [tuple(decision["id"] for decision in one["decisions"]) for one in sent[:-1]]
    assert all(set(ids) - known for ids in turns)
    assert (sent[-1]["status"], sent[-1]["decisions"]) == ("finished", [])
    assert sent[-1]["outcome"]["ranks"]
    assert players.index.matches_of("anna", "active", None, 9) == []


def test_a_wake_up_without_a_notice_does_not_delay_the_stream(
    players: Players, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Moves of the player and of an unfinished turn of the opponent wake the stream without a notice."""
    table = players.monkeys("anna", "ben")
    others = [players.monkeys("anna", "ben") for _ in range(49)]
    waits: list[bool] = []
    reads: list[int] = []
    slept: list[threading.Thread] = []

    def wait(waiter: Waiter, _timeout: float) -> bool:
        """Make the next move when the stream would wait."""
        waits.append(bool(waiter.wakes))
        if not waiter.wakes:
            before = players.log.calls.count("read")
            players.act(table, str(person(players.match(table), players.match(table).decisions()[0].seat)))
            reads.append(players.log.calls.count("read") - before)
        return bool(waiter.wakes)

    stream = players.sent("anna")
    assert {match["id"] for match in next(stream)["matches"]} == {table, *others}
    monkeypatch.setattr(Waiter, "wait", wait)
    monkeypatch.setattr(time, "sleep", lambda _: slept.append(threading.current_thread()))
    players.log.calls.clear()
    for _ in range(20):
        sent = next(stream)
        match = players.ports.history._recent[table]
        assert (type_and_match(sent), sent["version"]) == (("your_turn", table), match.head.version)
        assert [one.seat for one in match.decisions()] == [0]
    assert not any(waits), "it waited although there was a wake-up"
    assert len(waits) > 20 + 10, "too few wake-ups were without a notice"
    assert threading.current_thread() not in slept
    assert players.log.calls.count("read") - sum(reads) <= len(waits)


def test_a_seat_that_is_lost_to_a_bot_and_the_end_are_sent(players: Players) -> None:
    clock = {"turn_seconds": 20, "on_timeout": "bot"}
    table = players.join(players.create("monkeys_on_the_moon", clock=clock, private=True), "anna", "ben")
    slow = ("anna", "ben")[players.match(table).decisions()[0].seat]
    stream = players.sent(slow)
    assert [match["seat"] for match in next(stream)["matches"]] == [players.match(table).seat_of(slow)]
    threading.Timer(0.05, players.ring, (table,)).start()
    sent = next(stream)
    assert (type_and_match(sent), sent["seat"], sent["status"]) == (("seat_lost", table), None, "running")
    threading.Timer(0.05, players.play_out, (table,)).start()
    assert type_and_match(next(stream)) == ("finished", table)


def test_an_aborted_match_has_no_outcome(players: Players) -> None:
    table = players.create()
    stream = players.sent("host")
    assert [match["seat"] for match in next(stream)["matches"]] == [None]
    threading.Timer(0.05, players.leave, (table, "host")).start()
    sent = next(stream)
    assert (type_and_match(sent), sent["status"], sent["outcome"]) == (("finished", table), "aborted", None)


def test_an_event_without_a_wake_up_is_sent_at_the_next_heartbeat(with_heartbeats: Players) -> None:
    table = with_heartbeats.create("monkeys_on_the_moon")
    stream = with_heartbeats.sent("anna")
    next(stream)
    with_heartbeats.drops_wakes = True
    with_heartbeats.join(table, "anna", "ben")
    assert type_and_match(next(stream)) == ("started", table)


def test_a_match_that_the_player_left_is_no_longer_followed(with_heartbeats: Players) -> None:
    left, followed_match = with_heartbeats.create(seats=3), with_heartbeats.create(seats=3)
    for one in (left, followed_match):
        with_heartbeats.join(one, "anna")
    stream = with_heartbeats.sent("anna")
    assert len(next(stream)["matches"]) == 2
    with_heartbeats.leave(left, "anna")
    with_heartbeats.join(left, "ben", "carl", "dora")
    with_heartbeats.join(followed_match, "ben", "carl")
    assert type_and_match(next(stream)) == ("started", followed_match)


def test_a_stream_follows_at_most_the_newest_matches(players: Players, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed, "MAX_FOLLOWED", 2)
    tables = []
    for _ in range(3):
        tables.append(players.create())
        players.wait(1)
    assert [match["id"] for match in next(players.sent("host"))["matches"]] == tables[:0:-1]


@pytest.mark.parametrize("reason", ["restart", "max-age", "token-revoked"])
def test_the_last_frame_of_a_stream_has_the_reason_of_its_end(
    with_heartbeats: Players, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    stream = with_heartbeats.sent("anna")
    cursor = next(stream)["cursor"]
    if reason == "restart":
        with_heartbeats.feed.close()
    elif reason == "max-age":
        monkeypatch.setattr(streams, "MAX_AGE_S", 0.0)
    else:
        with_heartbeats.revoked = True
    assert list(stream) == [{"type": "end", "reason": reason, "cursor": cursor}]


def test_a_stream_ends_when_the_clock_of_its_process_is_wrong(with_heartbeats: Players) -> None:
    players, faults = with_heartbeats, iter([None, None, "30 s ahead"])
    subscription = PlayerSubscription(
        players.ports, players.streams, "anna", NDJSON, NOTHING, clock_fault=lambda: next(faults, None)
    )
    *_, last = players.streams.run(subscription, players.authorize)
    assert msgspec.json.decode(last)["reason"] == "restart"


def test_a_stream_survives_an_outage_of_the_log(with_heartbeats: Players, monkeypatch: pytest.MonkeyPatch) -> None:
    table = with_heartbeats.create("monkeys_on_the_moon")
    stream = with_heartbeats.sent("host")
    next(stream)
    failed = threading.Event()
    listed = MemoryIndex.matches_of

    def answer(self: MemoryIndex, *arguments: Any) -> Any:
        if not failed.is_set():
            failed.set()
            raise LogUnavailable("unavailable")
        return listed(self, *arguments)

    monkeypatch.setattr(MemoryIndex, "matches_of", answer)
    with_heartbeats.drops_wakes = True
    with_heartbeats.join(table, "anna", "ben")
    assert type_and_match(next(stream)) == ("started", table)
    assert failed.is_set()


def test_frames_of_an_event_stream_have_names(players: Players) -> None:
    players.feed.close()
    hello, end = players.follow("anna", EVENT_STREAM)
    cursor = cursors.encode(players.time).encode()
    assert hello.startswith(b'retry: 1000\nevent: hello\nid: %s\ndata: {"type":"hello"' % cursor)
    assert end == b'event: end\nid: %s\ndata: {"type":"end","reason":"restart","cursor":"%s"}\n\n' % (cursor, cursor)


@pytest.fixture
def client() -> Client:
    return Client(unchecked=True)


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("text/event-stream", "text/event-stream"),
        ("application/x-ndjson", "application/x-ndjson"),
        ("*/*", "text/event-stream"),
    ],
)
def test_the_stream_has_two_media_types(client: Client, accept: str, content_type: str) -> None:
    token = client.sign_up()
    client.container.feed.close()
    response = client.get("/v1/me/stream", token, accept=accept)
    assert response.content_type.partition(";")[0] == content_type
    assert response.headers["X-Accel-Buffering"] == "no"
    assert response.headers["Vary"] == "Accept"
    assert b"restart" in response.get_data()


def test_other_media_types_and_anonymous_clients_are_refused(client: Client) -> None:
    token = client.sign_up()
    assert problem(client.get("/v1/me/stream", token, accept="application/json")).code == "not-acceptable"
    assert problem(client.get("/v1/me/stream")).code == "token-missing"
    assert problem(client.get("/v1/me/stream?after=1", token)).code == "invalid-parameter"


def test_a_stream_that_cannot_begin_releases_its_slot(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    token = client.sign_up()

    def unavailable(*_arguments: object) -> None:
        raise LogUnavailable("unavailable")

    client.container.feed.close()
    with monkeypatch.context() as patched:
        patched.setattr(MemoryIndex, "matches_of", unavailable)
        assert {problem(client.get("/v1/me/stream", token)).code for _ in range(12)} == {"store-unavailable"}
    assert client.get("/v1/me/stream", token).status_code == 200
