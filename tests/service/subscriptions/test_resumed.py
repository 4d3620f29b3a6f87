"""Resumed streams of a player: notices may be repeated, but none is missing."""

import threading
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from events.log import LogUnavailable
from service.adapters.memory import MemoryIndex
from service.match.due_times import KINDS
from service.match.model import Match
from service.match.redaction import legal_actions
from service.repository import cursors
from service.subscriptions import followed, match_watch
from service.subscriptions.frames import EVENT_STREAM
from service.subscriptions.notices import kinds, notice, turns
from service.subscriptions.player_stream import CLOCKS_DIFFER_MS, OVERLAP_MS
from service.subscriptions.situation import NOTHING, Include
from service.usecases import match_lists
from tests.length import LONG
from tests.service.subscriptions.players import Frame, Players, type_and_match

SLOW = {"turn_seconds": 20, "on_timeout": "bot"}
COUNT = 500 if LONG else 100


def as_json(value: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def position(sent: Frame) -> int:
    return cursors.decode(sent["cursor"], int)


def all_notices(players: Players, player: str, match_id: str) -> list[Frame]:
    """All notices of a match, computed from its events, without turns that are over."""
    open_turns = turns(players.match(match_id), player)
    found = [(event, players.ports.history.at(match_id, event.version)) for event in players.events(match_id)]
    return [
        as_json(notice(kind, match, player, NOTHING, "")) | {"cursor": None}
        for event, match in found
        for kind in kinds(event, match, player)
        if kind != "your_turn" or event.version in open_turns
    ]


def without_cursor(sent: list[Frame]) -> list[Frame]:
    return [{**one, "cursor": None} for one in sent]


def ended_unread(players: Players, table: str) -> None:
    """End a match; no reader has seen the end."""
    players.play_out(table)


def ended_and_listed(players: Players, table: str) -> None:
    """End a match, and read a page of active matches, which removes the match from them."""
    players.play_out(table)
    match_lists.own_page(players.ports, "anna", "active", None, 10)


def ended_and_sent(players: Players, table: str) -> None:
    """End a match, and let another stream of the player send the end."""
    stream = players.sent("anna")
    next(stream)
    players.play_out(table)
    while next(stream)["type"] != "finished":
        pass


@pytest.mark.parametrize("end", [ended_unread, ended_and_listed, ended_and_sent])
def test_a_resumed_stream_sends_ends_and_lost_seats(players: Players, end: Callable[[Players, str], None]) -> None:
    table = players.join(players.create("monkeys_on_the_moon", clock=SLOW), "ben", "anna")
    waiting = players.create()
    hello = next(players.sent("anna"))
    assert [match["id"] for match in hello["matches"]] == [table]
    players.join(waiting, "anna")
    while players.match(table).decisions()[0].seat != 1:
        players.ring(table)
    players.ring(table)
    assert players.match(table).seat_of("anna") is None
    players.wait(3 * OVERLAP_MS)
    end(players, table)
    hello, sent = players.sent_at_once("anna", after=position(hello))
    assert [match["id"] for match in hello["matches"]] == [waiting]
    assert without_cursor(sent) == all_notices(players, "anna", table)
    assert [one["type"] for one in sent] == ["started", "seat_lost", "finished"]
    assert [one["notice"] for one in sent] == [f"{table}-{one['version']}-{one['type']}" for one in sent]


def test_an_end_that_was_sent_before_the_position_is_not_sent_again(players: Players) -> None:
    table = players.toy("anna", "ben")
    stream = players.sent("anna")
    next(stream)
    players.play_out(table)
    while next(stream)["type"] != "finished":
        pass
    players.wait(OVERLAP_MS + 1)
    later = next(players.sent("anna"))
    assert position(later) == players.time
    assert players.sent_at_once("anna", after=position(later))[1] == []


@pytest.mark.parametrize(
    ("ahead_ms", "gap_ms"),
    [
        (1, OVERLAP_MS // 2),
        (CLOCKS_DIFFER_MS, OVERLAP_MS // 2),
        (CLOCKS_DIFFER_MS + 1, 2 * OVERLAP_MS),
        (3 * OVERLAP_MS, 100 * OVERLAP_MS),
        (10**30, 10**4 * OVERLAP_MS),
    ],
)
def test_a_position_that_is_later_than_now_skips_nothing(players: Players, ahead_ms: int, gap_ms: int) -> None:
    """The clock of the machine that created the cursor was ahead, or set back since: when it was created is unknown."""
    tables = [players.toy("anna", "ben") for _ in range(2)]
    players.play_out(tables[0])
    match_lists.own_page(players.ports, "anna", "active", None, 10)
    players.wait(gap_ms)
    hello, sent = players.sent_at_once("anna", after=players.time + ahead_ms)
    assert position(hello) == players.time
    expected = {table: all_notices(players, "anna", table) for table in tables}
    assert without_cursor(sent) == [*expected[tables[1]], *expected[tables[0]]]


def test_a_new_stream_also_sends_the_end_of_a_match_that_no_reader_has_seen(players: Players) -> None:
    table = players.toy("anna", "ben")
    players.play_out(table)
    hello, (sent,) = players.sent_at_once("anna")
    assert hello["matches"] == []
    assert type_and_match(sent) == ("finished", table)


def test_a_client_that_reconnects_repeatedly_misses_nothing(players: Players) -> None:
    tables = [players.join(players.create("monkeys_on_the_moon", clock=SLOW), "anna", "ben") for _ in range(3)]
    tables.append(players.toy("anna", "ben"))
    after = position(next(players.sent("anna")))
    received: dict[str, Frame] = {}
    over: set[str] = set()
    while len(over) < len(tables):
        players.wait(OVERLAP_MS // 2)
        for table in tables:
            _advance(players, table)
        hello, sent = players.sent_at_once("anna", after=after)
        for one in sent:
            assert received.setdefault(one["notice"], {**one, "cursor": None}) == {**one, "cursor": None}
        assert {match["id"] for match in hello["matches"]} | {table for table in tables if _over(players, table)} == {
            *tables
        }
        after = position([hello, *sent][-1])
        over = {one["match"] for one in received.values() if one["type"] == "finished"}
    for table in tables:
        assert {one["notice"] for one in all_notices(players, "anna", table)} <= received.keys()


def _over(players: Players, table: str) -> bool:
    return players.match(table).is_over


def _advance(players: Players, table: str) -> None:
    """Let a clock, a worker or a player make the next event."""
    match = players.match(table)
    if match.is_over:
        return
    if players.log.next_due(KINDS) is None:
        decision = match.decisions()[0]
        holder = match.seats[decision.seat]
        assert holder is not None
        players.act(table, holder.player)
    else:
        players.ring(table)
        players.work(table)


def test_open_turns_are_sent_first_and_every_turn_has_its_legal_actions(players: Players) -> None:
    tables = [players.monkeys("anna", "ben") for _ in range(4)]
    annas_turn = [table for table in tables if players.match(table).decisions()[0].seat == 0]
    include = Include(legal_actions=True, decisions=True, language="de")
    stream = players.sent("anna", include)
    assert {match["id"] for match in next(stream)["matches"]} == {*tables}
    sent = {one["match"]: one for one in (next(stream) for _ in annas_turn)}
    assert sent.keys() == {*annas_turn}
    for table, one in sent.items():
        _has_legal_actions(players, one, table)
    table = tables[0]
    for _ in range(12):
        match = players.match(table)
        player = ("anna", "ben")[match.decisions()[0].seat]
        players.act(table, player)
        if players.match(table).decisions()[0].seat == 0:
            _has_legal_actions(players, next(stream), table)


def _has_legal_actions(players: Players, sent: Frame, table: str) -> None:
    match: Match = players.match(table)
    assert type_and_match(sent) == ("your_turn", table)
    assert sent["legal_actions"] == as_json(legal_actions(match, 0))
    assert len(sent["action_texts"]) == len(sent["legal_actions"]) > 0
    assert [one["seat"] for one in sent["decisions"]] == [0]
    assert all(one["text"] for one in sent["decisions"])
    assert sent["banks"] == []


def test_a_player_who_left_gets_no_turn(players: Players) -> None:
    table = players.monkeys("anna", "ben")
    _act_until_it_is_annas_turn(players, table)
    players.leave(table, "anna")
    assert [decision.seat for decision in players.match(table).decisions()] == [0]
    assert players.sent_at_once("anna", Include(legal_actions=True))[1] == []
    stream = players.sent("anna")
    next(stream)
    players.play_out(table)
    assert next(stream)["type"] == "finished"


def test_an_outage_of_the_log_while_resuming_loses_nothing(
    with_heartbeats: Players, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = [with_heartbeats.toy("anna", "ben") for _ in range(3)]
    hello = next(with_heartbeats.sent("anna"))
    for table in tables:
        ended_and_listed(with_heartbeats, table)
    failures = [True, False, True, True, False]
    listed, newest = MemoryIndex.concluded, with_heartbeats.ports.history.newest

    def failing(answer: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            if failures and failures.pop():
                raise LogUnavailable("unavailable")
            return answer(*arguments)

        return call

    stream = with_heartbeats.sent("anna", after=position(hello))
    next(stream)
    monkeypatch.setattr(MemoryIndex, "concluded", failing(listed))
    monkeypatch.setattr(with_heartbeats.ports.history, "newest", failing(newest))
    over: set[str] = set()
    while len(over) < len(tables):
        sent = next(stream)
        over |= {sent["match"]} if sent["type"] == "finished" else set()
    assert over == {*tables}
    assert not failures


def test_the_cursor_advances_when_all_matches_were_compared_with_the_log(
    with_heartbeats: Players, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(followed, "READ_BATCH", 2)
    tables = [with_heartbeats.monkeys("anna", "ben") for _ in range(5)]
    stream = with_heartbeats.sent("anna")
    began = position(next(stream))
    compared: list[int] = []
    together = match_watch.read_together

    def counted(history: Any, watches: Any, since: float) -> None:
        compared.append(len(watches))
        together(history, watches, since)

    monkeypatch.setattr(followed, "read_together", counted)
    with_heartbeats.drops_wakes = True
    with_heartbeats.wait(1000)
    _act_until_it_is_annas_turn(with_heartbeats, tables[0])
    sent = next(stream)
    assert type_and_match(sent) == ("your_turn", tables[0])
    assert set(compared) <= {1, 2}
    assert position(sent) == began
    moved = threading.Event()
    while not moved.is_set():
        _act_until_it_is_annas_turn(with_heartbeats, tables[0])
        if position(next(stream)) == with_heartbeats.time:
            moved.set()
    assert sum(compared) >= 5


def _act_until_it_is_annas_turn(players: Players, table: str) -> None:
    while True:
        player = ("anna", "ben")[players.match(table).decisions()[0].seat]
        players.act(table, player)
        if players.match(table).decisions()[0].seat == 0:
            return


def test_an_unreadable_match_does_not_affect_notices_of_others(players: Players) -> None:
    broken, sound = players.monkeys("anna", "ben"), players.toy("anna", "ben")
    hello = next(players.sent("anna"))
    players.log._matches[broken].events.append(b"{}")
    players.play_out(sound)
    _, sent = players.sent_at_once("anna", after=position(hello))
    assert ("finished", sound) in {type_and_match(one) for one in sent}


@pytest.mark.long
def test_one_stream_follows_hundreds_of_matches(players: Players) -> None:
    tables = [players.monkeys("anna", "ben") for _ in range(COUNT)]
    players.log.calls.clear()
    stream = players.sent("anna")
    hello = next(stream)
    assert {match["id"] for match in hello["matches"]} == {*tables}
    assert players.log.calls.count("read") == COUNT // followed.READ_BATCH
    players.log.calls.clear()
    for table in (tables[0], tables[-1]):
        _act_until_it_is_annas_turn(players, table)
        assert type_and_match(next(stream)) == ("your_turn", table)


def test_every_frame_of_an_event_stream_has_the_cursor_as_its_id(players: Players) -> None:
    table = players.toy("anna", "ben")
    players.play_out(table)
    pieces = players.follow("anna", EVENT_STREAM, hung_up=lambda: True)
    blocks = [block for piece in pieces for block in piece.split(b"\n\n") if block]
    assert len(blocks) == 2
    for block in blocks:
        fields = dict(line.split(b": ", 1) for line in block.split(b"\n"))
        assert fields[b"id"].decode() == msgspec.json.decode(fields[b"data"])["cursor"]
