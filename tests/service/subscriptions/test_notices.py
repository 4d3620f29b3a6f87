"""A player's own stream: what it tells of all matches, when, and how it ends."""

import threading
import time
from typing import Any

import pytest

from events.feed import Waiter
from events.log import LogUnavailable
from service.adapters.memory import MemoryIndex
from service.repository import cursors
from service.subscriptions import followed, streams
from service.subscriptions.frames import EVENT_STREAM
from tests.api.checked import Client
from tests.api.conftest import problem
from tests.service.arena import person
from tests.service.subscriptions.players import Players, Told, brief


def test_the_first_frame_holds_all_matches_that_are_not_over(players: Players) -> None:
    waiting, running, over = players.create(), players.monkeys("anna", "ben"), players.toy("anna", "carl")
    players.join(waiting, "anna")
    players.play_out(over)
    hello = next(players.told("anna"))
    assert (hello["type"], hello["player"], hello["followed"]) == ("hello", "anna", followed.MAX_FOLLOWED)
    assert hello["now"] == players.time
    found = {match["id"]: match for match in hello["matches"]}
    assert found.keys() == {waiting, running}
    assert {match["seat"] for match in found.values()} == {0}
    assert found[waiting]["decisions"] == []
    assert [decision["seat"] for decision in found[running]["decisions"]] in ([], [0])


def test_a_start_and_a_turn_are_told_in_every_match_while_the_stream_waits(players: Players) -> None:
    first, second = players.create("monkeys_on_the_moon"), players.create("monkeys_on_the_moon")
    stream = players.told("anna")
    assert next(stream)["matches"] == []
    for one in (first, second):
        threading.Timer(0.05, players.join, (one, "anna", "ben")).start()
    told = [next(stream) for _ in range(2)]
    while len({brief(one) for one in told if one["type"] == "started"}) < 2:
        told.append(next(stream))
    assert {brief(one) for one in told} >= {("started", first), ("started", second)}
    mine = [one for one in told if one["decisions"]]
    assert all(decision["seat"] == one["seat"] == 0 for one in mine for decision in one["decisions"])


def test_each_turn_is_told_once_and_so_is_the_end(players: Players) -> None:
    table = players.toy("anna", "ben")
    stream = players.told("anna")
    hello = next(stream)
    known = {decision["id"] for match in hello["matches"] for decision in match["decisions"]}
    threading.Timer(0.05, players.play_out, (table,)).start()
    told: list[Told] = []
    while not told or told[-1]["type"] != "finished":
        told.append(next(stream))
    assert all(brief(one) == ("your_turn", table) for one in told[:-1])
    asked = [tuple(decision["id"] for decision in one["decisions"]) for one in told[:-1]]
    assert all(set(ids) - known for ids in asked)
    assert (told[-1]["status"], told[-1]["decisions"]) == ("finished", [])
    assert told[-1]["outcome"]["ranks"]
    assert players.index.matches_of("anna", "active", None, 9) == []


def test_no_wake_up_makes_a_stream_wait(players: Players, monkeypatch: pytest.MonkeyPatch) -> None:
    """One's own moves and parts of the other's turn wake the stream and tell it nothing: it goes on to wait for the next."""
    table = players.monkeys("anna", "ben")
    others = [players.monkeys("anna", "ben") for _ in range(49)]
    waits: list[bool] = []
    reads: list[int] = []
    slept: list[threading.Thread] = []

    def wait(waiter: Waiter, _timeout: float) -> bool:
        """A stream that has nothing to do meets the next move."""
        waits.append(bool(waiter.wakes))
        if not waiter.wakes:
            before = players.log.calls.count("read")
            players.act(table, str(person(players.match(table), players.match(table).decisions()[0].seat)))
            reads.append(players.log.calls.count("read") - before)
        return bool(waiter.wakes)

    stream = players.told("anna")
    assert {match["id"] for match in next(stream)["matches"]} == {table, *others}
    monkeypatch.setattr(Waiter, "wait", wait)
    monkeypatch.setattr(time, "sleep", lambda _: slept.append(threading.current_thread()))
    players.log.calls.clear()
    for _ in range(20):
        told = next(stream)
        match = players.ports.history._recent[table]
        assert (brief(told), told["version"]) == (("your_turn", table), match.head.version)
        assert [one.seat for one in match.decisions()] == [0]
    assert not any(waits), "it looked again before the next move"
    assert len(waits) > 20 + 10, "too few wake-ups told nothing"
    assert threading.current_thread() not in slept
    assert players.log.calls.count("read") - sum(reads) <= len(waits)


def test_a_seat_that_is_lost_to_a_bot_is_told_and_so_is_the_end(players: Players) -> None:
    clock = {"turn_seconds": 20, "on_timeout": "bot"}
    table = players.join(players.create("monkeys_on_the_moon", clock=clock, private=True), "anna", "ben")
    slow = ("anna", "ben")[players.match(table).decisions()[0].seat]
    stream = players.told(slow)
    assert [match["seat"] for match in next(stream)["matches"]] == [players.match(table).seat_of(slow)]
    threading.Timer(0.05, players.ring, (table,)).start()
    told = next(stream)
    assert (brief(told), told["seat"], told["status"]) == (("seat_lost", table), None, "running")
    threading.Timer(0.05, players.play_out, (table,)).start()
    assert brief(next(stream)) == ("finished", table)


def test_a_match_that_is_broken_off_has_no_outcome(players: Players) -> None:
    table = players.create()
    stream = players.told("host")
    assert [match["seat"] for match in next(stream)["matches"]] == [None]
    threading.Timer(0.05, players.leave, (table, "host")).start()
    told = next(stream)
    assert (brief(told), told["status"], told["outcome"]) == (("finished", table), "aborted", None)


def test_what_no_wake_up_told_is_told_at_the_next_heartbeat(beating: Players) -> None:
    table = beating.create("monkeys_on_the_moon")
    stream = beating.told("anna")
    next(stream)
    beating.deaf = True
    beating.join(table, "anna", "ben")
    assert brief(next(stream)) == ("started", table)


def test_a_seat_given_up_is_followed_no_more(beating: Players) -> None:
    left, kept = beating.create(seats=3), beating.create(seats=3)
    for one in (left, kept):
        beating.join(one, "anna")
    stream = beating.told("anna")
    assert len(next(stream)["matches"]) == 2
    beating.leave(left, "anna")
    beating.join(left, "ben", "carl", "dora")
    beating.join(kept, "ben", "carl")
    assert brief(next(stream)) == ("started", kept)


def test_only_so_many_matches_are_followed(players: Players, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed, "MAX_FOLLOWED", 2)
    tables = []
    for _ in range(3):
        tables.append(players.create())
        players.wait(1)
    assert [match["id"] for match in next(players.told("host"))["matches"]] == tables[:0:-1]


@pytest.mark.parametrize("reason", ["restart", "max-age", "token-revoked"])
def test_a_stream_says_why_it_ends(beating: Players, monkeypatch: pytest.MonkeyPatch, reason: str) -> None:
    stream = beating.told("anna")
    cursor = next(stream)["cursor"]
    if reason == "restart":
        beating.feed.close()
    elif reason == "max-age":
        monkeypatch.setattr(streams, "MAX_AGE_S", 0.0)
    else:
        beating.revoked = True
    assert list(stream) == [{"type": "end", "reason": reason, "cursor": cursor}]


def test_a_log_that_is_away_ends_no_stream(beating: Players, monkeypatch: pytest.MonkeyPatch) -> None:
    table = beating.create("monkeys_on_the_moon")
    stream = beating.told("host")
    next(stream)
    away = threading.Event()
    listed = MemoryIndex.matches_of

    def answer(self: MemoryIndex, *wanted: Any) -> Any:
        if not away.is_set():
            away.set()
            raise LogUnavailable("unavailable")
        return listed(self, *wanted)

    monkeypatch.setattr(MemoryIndex, "matches_of", answer)
    beating.deaf = True
    beating.join(table, "anna", "ben")
    assert brief(next(stream)) == ("started", table)
    assert away.is_set()


def test_an_event_stream_names_its_frames(players: Players) -> None:
    players.feed.close()
    hello, end = players.follow("anna", EVENT_STREAM)
    cursor = cursors.encode(players.time).encode()
    assert hello.startswith(b'retry: 1000\nevent: hello\nid: %s\ndata: {"type":"hello"' % cursor)
    assert end == b'event: end\nid: %s\ndata: {"type":"end","reason":"restart","cursor":"%s"}\n\n' % (cursor, cursor)


@pytest.fixture
def client() -> Client:
    return Client(hasty=True)


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("text/event-stream", "text/event-stream"),
        ("application/x-ndjson", "application/x-ndjson"),
        ("*/*", "text/event-stream"),
    ],
)
def test_the_stream_is_there_in_two_forms(client: Client, accept: str, content_type: str) -> None:
    token = client.sign_up()
    client.container.feed.close()
    response = client.get("/v1/me/stream", token, accept=accept)
    assert response.content_type.partition(";")[0] == content_type
    assert response.headers["X-Accel-Buffering"] == "no"
    assert response.headers["Vary"] == "Accept"
    assert b"restart" in response.get_data()


def test_no_other_form_and_no_stranger(client: Client) -> None:
    token = client.sign_up()
    assert problem(client.get("/v1/me/stream", token, accept="application/json")).code == "not-acceptable"
    assert problem(client.get("/v1/me/stream")).code == "token-missing"
    assert problem(client.get("/v1/me/stream?after=1", token)).code == "invalid-parameter"


def test_a_stream_that_cannot_begin_takes_no_place(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    token = client.sign_up()

    def away(*_wanted: object) -> None:
        raise LogUnavailable("unavailable")

    client.container.feed.close()
    with monkeypatch.context() as patched:
        patched.setattr(MemoryIndex, "matches_of", away)
        assert {problem(client.get("/v1/me/stream", token)).code for _ in range(12)} == {"store-unavailable"}
    assert client.get("/v1/me/stream", token).status_code == 200
