"""A player's own stream: what it tells of all matches, when, and how it ends."""

import threading
import time
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import jsonschema_rs
import msgspec
import pytest

from api.app import describe
from api.reference import openapi
from events.feed import Feed, Waiter
from events.log import LogUnavailable
from service.adapters.memory import MemoryIndex
from service.errors import Refused
from service.games.registry import GAMES
from service.subscriptions import notices, streams
from service.subscriptions.frames import EVENT_STREAM, NDJSON, Form
from service.subscriptions.notices import PlayerSubscription
from service.subscriptions.streams import Streams
from tests.api.checked import Client
from tests.api.conftest import problem
from tests.service.arena import Arena, person
from tests.service.games.toy.game import TOY

HEARTBEAT: Final = 0.2
"""Seconds, where a test waits for one; else there is none."""

Told = dict[str, Any]


class House(Arena):
    """An arena whose players have streams. What happens there wakes them, unless the house is deaf."""

    def __init__(self) -> None:
        super().__init__()
        self.feed = Feed()
        self.alive = True
        self.deaf = False
        self.revoked = False
        self.log._wake = self.wake
        self.index._wake = self.wake
        self.streams = Streams(self.ports.history, self.feed, lambda: self.alive)

    def wake(self, key: str, number: int) -> None:
        if not self.deaf:
            self.feed.wake(key, number)

    def authorize(self) -> None:
        if self.revoked:
            raise Refused("token-invalid", "")

    def follow(self, player: str, form: Form = NDJSON) -> Iterator[bytes]:
        return self.streams.run(PlayerSubscription(self.ports, self.streams, player, form), self.authorize)

    def told(self, player: str) -> Iterator[Told]:
        """The lines of a stream but heartbeats, each as the reference says."""
        line = {
            "oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in ("NoticesHello", "Notice", "NoticesEnd")]
        }
        validator = jsonschema_rs.Draft202012Validator({**line, "components": components()})
        deadline = time.monotonic() + 60
        for piece in self.follow(player):
            assert time.monotonic() < deadline
            for text in piece.split(b"\n"):
                if text:
                    told = msgspec.json.decode(text)
                    validator.validate(told)
                    yield told


@cache
def components() -> dict[str, object]:
    """Of a reference that knows the toy too."""
    found: dict[str, object] = openapi.document(describe(games={**GAMES, TOY.info.id: TOY}))["components"]
    return found


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setattr(streams, "HEARTBEAT", 60.0)
    return House()


@pytest.fixture
def beating(house: House, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setattr(streams, "HEARTBEAT", HEARTBEAT)
    return house


def brief(told: Told) -> tuple[str, str]:
    return told["type"], told.get("match", "")


def test_the_first_frame_holds_all_matches_that_are_not_over(house: House) -> None:
    waiting, running, over = house.create(), house.monkeys("anna", "ben"), house.toy("anna", "carl")
    house.join(waiting, "anna")
    house.play_out(over)
    hello = next(house.told("anna"))
    assert (hello["type"], hello["player"], hello["followed"]) == ("hello", "anna", notices.FOLLOWED)
    assert hello["now"] == house.time
    found = {match["id"]: match for match in hello["matches"]}
    assert found.keys() == {waiting, running}
    assert {match["seat"] for match in found.values()} == {0}
    assert found[waiting]["decisions"] == []
    assert [decision["seat"] for decision in found[running]["decisions"]] in ([], [0])


def test_a_start_and_a_turn_are_told_in_every_match_while_the_stream_waits(house: House) -> None:
    first, second = house.create("monkeys_on_the_moon"), house.create("monkeys_on_the_moon")
    stream = house.told("anna")
    assert next(stream)["matches"] == []
    for one in (first, second):
        threading.Timer(0.05, house.join, (one, "anna", "ben")).start()
    told = [next(stream) for _ in range(2)]
    while len({brief(one) for one in told if one["type"] == "started"}) < 2:
        told.append(next(stream))
    assert {brief(one) for one in told} >= {("started", first), ("started", second)}
    mine = [one for one in told if one["decisions"]]
    assert all(decision["seat"] == one["seat"] == 0 for one in mine for decision in one["decisions"])


def test_each_turn_is_told_once_and_so_is_the_end(house: House) -> None:
    table = house.toy("anna", "ben")
    stream = house.told("anna")
    hello = next(stream)
    known = {decision["id"] for match in hello["matches"] for decision in match["decisions"]}
    threading.Timer(0.05, house.play_out, (table,)).start()
    told: list[Told] = []
    while not told or told[-1]["type"] != "finished":
        told.append(next(stream))
    assert all(brief(one) == ("your_turn", table) for one in told[:-1])
    asked = [tuple(decision["id"] for decision in one["decisions"]) for one in told[:-1]]
    assert all(set(ids) - known for ids in asked)
    assert (told[-1]["status"], told[-1]["decisions"]) == ("finished", [])
    assert told[-1]["outcome"]["ranks"]
    assert house.index.matches_of("anna", "active", None, 9) == []


def test_no_wake_up_makes_a_stream_wait(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """One's own moves and parts of the other's turn wake the stream and tell it nothing: it goes on to wait for the next."""
    table = house.monkeys("anna", "ben")
    others = [house.monkeys("anna", "ben") for _ in range(49)]
    waits: list[bool] = []
    reads: list[int] = []
    slept: list[threading.Thread] = []

    def wait(waiter: Waiter, _timeout: float) -> bool:
        """A stream that has nothing to do meets the next move."""
        waits.append(bool(waiter.news))
        if not waiter.news:
            before = house.log.calls.count("read")
            house.act(table, str(person(house.match(table), house.match(table).decisions()[0].seat)))
            reads.append(house.log.calls.count("read") - before)
        return bool(waiter.news)

    stream = house.told("anna")
    assert {match["id"] for match in next(stream)["matches"]} == {table, *others}
    monkeypatch.setattr(Waiter, "wait", wait)
    monkeypatch.setattr(time, "sleep", lambda _: slept.append(threading.current_thread()))
    house.log.calls.clear()
    for _ in range(20):
        told = next(stream)
        match = house.ports.history._recent[table]
        assert (brief(told), told["version"]) == (("your_turn", table), match.head.version)
        assert [one.seat for one in match.decisions()] == [0]
    assert not any(waits), "it looked again before the next move"
    assert len(waits) > 20 + 10, "too few wake-ups told nothing"
    assert threading.current_thread() not in slept
    assert house.log.calls.count("read") - sum(reads) <= len(waits)


def test_a_seat_that_is_lost_to_a_bot_is_told_and_so_is_the_end(house: House) -> None:
    clock = {"turn_seconds": 20, "on_timeout": "bot"}
    table = house.join(house.create("monkeys_on_the_moon", clock=clock, private=True), "anna", "ben")
    slow = ("anna", "ben")[house.match(table).decisions()[0].seat]
    stream = house.told(slow)
    assert [match["seat"] for match in next(stream)["matches"]] == [house.match(table).seat_of(slow)]
    threading.Timer(0.05, house.ring, (table,)).start()
    told = next(stream)
    assert (brief(told), told["seat"], told["status"]) == (("seat_lost", table), None, "running")
    threading.Timer(0.05, house.play_out, (table,)).start()
    assert brief(next(stream)) == ("finished", table)


def test_a_match_that_is_broken_off_has_no_outcome(house: House) -> None:
    table = house.create()
    stream = house.told("host")
    assert [match["seat"] for match in next(stream)["matches"]] == [None]
    threading.Timer(0.05, house.leave, (table, "host")).start()
    told = next(stream)
    assert (brief(told), told["status"], told["outcome"]) == (("finished", table), "aborted", None)


def test_what_no_wake_up_told_is_told_at_the_next_heartbeat(beating: House) -> None:
    table = beating.create("monkeys_on_the_moon")
    stream = beating.told("anna")
    next(stream)
    beating.deaf = True
    beating.join(table, "anna", "ben")
    assert brief(next(stream)) == ("started", table)


def test_a_seat_given_up_is_followed_no_more(beating: House) -> None:
    left, kept = beating.create(seats=3), beating.create(seats=3)
    for one in (left, kept):
        beating.join(one, "anna")
    stream = beating.told("anna")
    assert len(next(stream)["matches"]) == 2
    beating.leave(left, "anna")
    beating.join(left, "ben", "carl", "dora")
    beating.join(kept, "ben", "carl")
    assert brief(next(stream)) == ("started", kept)


def test_only_so_many_matches_are_followed(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "FOLLOWED", 2)
    tables = []
    for _ in range(3):
        tables.append(house.create())
        house.wait(1)
    assert [match["id"] for match in next(house.told("host"))["matches"]] == tables[:0:-1]


@pytest.mark.parametrize("reason", ["restart", "max-age", "token-revoked"])
def test_a_stream_says_why_it_ends(beating: House, monkeypatch: pytest.MonkeyPatch, reason: str) -> None:
    stream = beating.told("anna")
    next(stream)
    if reason == "restart":
        beating.feed.close()
    elif reason == "max-age":
        monkeypatch.setattr(streams, "MAX_AGE", 0.0)
    else:
        beating.revoked = True
    assert list(stream) == [{"type": "end", "reason": reason}]


def test_a_log_that_is_away_ends_no_stream(beating: House, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_an_event_stream_names_its_frames(house: House) -> None:
    house.feed.close()
    hello, end = house.follow("anna", EVENT_STREAM)
    assert hello.startswith(b'retry: 1000\nevent: hello\ndata: {"type":"hello"')
    assert end == b'event: end\ndata: {"type":"end","reason":"restart"}\n\n'


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
