"""A player's stream that goes on where another one broke off: what it sends may come again, and lacks nothing."""

import threading
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from events.log import LogUnavailable
from service.adapters.memory import MemoryIndex
from service.match.model import Match
from service.match.owed import KINDS
from service.match.redaction import legal_actions
from service.repository import cursors
from service.subscriptions import followed, match_watch
from service.subscriptions.frames import EVENT_STREAM
from service.subscriptions.notices import kinds, notice, turns
from service.subscriptions.player_stream import OVERLAP_MS
from service.subscriptions.situation import NOTHING, Include
from service.usecases import match_index
from tests.service.subscriptions.players import Players, Told, brief

SLOW = {"turn_seconds": 20, "on_timeout": "bot"}


def as_json(value: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def position(told: Told) -> int:
    return cursors.decode(told["cursor"], int)


def everything(players: Players, player: str, match_id: str) -> list[Told]:
    """All notices of a match, but of turns that are over, straight from its events."""
    open_turns = turns(players.match(match_id), player)
    found = [(event, players.ports.history.at(match_id, event.version)) for event in players.events(match_id)]
    return [
        as_json(notice(kind, match, player, NOTHING, "")) | {"cursor": None}
        for event, match in found
        for kind in kinds(event, match, player)
        if kind != "your_turn" or event.version in open_turns
    ]


def unsigned(told: list[Told]) -> list[Told]:
    return [{**one, "cursor": None} for one in told]


def ended_unheard(players: Players, table: str) -> None:
    """Its end is in the log, and nobody looked since."""
    players.play_out(table)


def ended_and_listed(players: Players, table: str) -> None:
    """A list was asked for, which takes what is over from the active ones."""
    players.play_out(table)
    match_index.own_page(players.ports, "anna", "active", None, 10)


def ended_and_told(players: Players, table: str) -> None:
    """Another stream of the player was told of the end."""
    stream = players.told("anna")
    next(stream)
    players.play_out(table)
    while next(stream)["type"] != "finished":
        pass


@pytest.mark.parametrize("end", [ended_unheard, ended_and_listed, ended_and_told])
def test_ends_and_lost_seats_are_sent_to_who_was_away(players: Players, end: Callable[[Players, str], None]) -> None:
    table = players.join(players.create("monkeys_on_the_moon", clock=SLOW), "ben", "anna")
    waiting = players.create()
    hello = next(players.told("anna"))
    assert [match["id"] for match in hello["matches"]] == [table]
    players.join(waiting, "anna")
    while players.match(table).decisions()[0].seat != 1:
        players.ring(table)
    players.ring(table)
    assert players.match(table).seat_of("anna") is None
    players.wait(3 * OVERLAP_MS)
    end(players, table)
    hello, told = players.told_at_once("anna", after=position(hello))
    assert [match["id"] for match in hello["matches"]] == [waiting]
    assert unsigned(told) == everything(players, "anna", table)
    assert [one["type"] for one in told] == ["started", "seat_lost", "finished"]
    assert [one["notice"] for one in told] == [f"{table}-{one['version']}-{one['type']}" for one in told]


def test_an_end_that_was_sent_before_the_position_is_not_sent_again(players: Players) -> None:
    table = players.toy("anna", "ben")
    stream = players.told("anna")
    next(stream)
    players.play_out(table)
    while next(stream)["type"] != "finished":
        pass
    players.wait(OVERLAP_MS + 1)
    later = next(players.told("anna"))
    assert position(later) == players.time
    assert players.told_at_once("anna", after=position(later))[1] == []


def test_a_match_that_ended_before_anybody_looked_is_told_to_who_comes_without_a_position_too(players: Players) -> None:
    table = players.toy("anna", "ben")
    players.play_out(table)
    hello, (told,) = players.told_at_once("anna")
    assert hello["matches"] == []
    assert brief(told) == ("finished", table)


def test_whoever_breaks_off_again_and_again_lacks_nothing(players: Players) -> None:
    tables = [players.join(players.create("monkeys_on_the_moon", clock=SLOW), "anna", "ben") for _ in range(3)]
    tables.append(players.toy("anna", "ben"))
    after = position(next(players.told("anna")))
    heard: dict[str, Told] = {}
    over: set[str] = set()
    while len(over) < len(tables):
        players.wait(OVERLAP_MS // 2)
        for table in tables:
            _go_on(players, table)
        hello, told = players.told_at_once("anna", after=after)
        for one in told:
            assert heard.setdefault(one["notice"], {**one, "cursor": None}) == {**one, "cursor": None}
        assert {match["id"] for match in hello["matches"]} | {table for table in tables if _over(players, table)} == {
            *tables
        }
        after = position([hello, *told][-1])
        over = {one["match"] for one in heard.values() if one["type"] == "finished"}
    for table in tables:
        assert {one["notice"] for one in everything(players, "anna", table)} <= heard.keys()


def _over(players: Players, table: str) -> bool:
    return players.match(table).is_over


def _go_on(players: Players, table: str) -> None:
    """Let the clock, the workers and the people do something."""
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


def test_what_is_open_comes_first_with_its_list_and_then_each_turn_with_its_own(players: Players) -> None:
    tables = [players.monkeys("anna", "ben") for _ in range(4)]
    mine = [table for table in tables if players.match(table).decisions()[0].seat == 0]
    include = Include(legal_actions=True, decisions=True, language="de")
    stream = players.told("anna", include)
    assert {match["id"] for match in next(stream)["matches"]} == {*tables}
    told = {one["match"]: one for one in (next(stream) for _ in mine)}
    assert told.keys() == {*mine}
    for table, one in told.items():
        _has_list(players, one, table)
    table = tables[0]
    for _ in range(12):
        match = players.match(table)
        who = ("anna", "ben")[match.decisions()[0].seat]
        players.act(table, who)
        if players.match(table).decisions()[0].seat == 0:
            _has_list(players, next(stream), table)


def _has_list(players: Players, told: Told, table: str) -> None:
    match: Match = players.match(table)
    assert brief(told) == ("your_turn", table)
    assert told["legal_actions"] == as_json(legal_actions(match, 0))
    assert len(told["action_texts"]) == len(told["legal_actions"]) > 0
    assert [one["seat"] for one in told["decisions"]] == [0]
    assert all(one["text"] for one in told["decisions"])
    assert told["banks"] == []


def test_who_left_is_asked_nothing(players: Players) -> None:
    table = players.monkeys("anna", "ben")
    _act_until_anna_is_asked(players, table)
    players.leave(table, "anna")
    assert [decision.seat for decision in players.match(table).decisions()] == [0]
    assert players.told_at_once("anna", Include(legal_actions=True))[1] == []
    stream = players.told("anna")
    next(stream)
    players.play_out(table)
    assert next(stream)["type"] == "finished"


def test_a_log_that_is_away_in_between_keeps_nothing_back(beating: Players, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [beating.toy("anna", "ben") for _ in range(3)]
    hello = next(beating.told("anna"))
    for table in tables:
        ended_and_listed(beating, table)
    away = [True, False, True, True, False]
    listed, newest = MemoryIndex.concluded, beating.ports.history.newest

    def failing(answer: Callable[..., Any]) -> Callable[..., Any]:
        def asked(*wanted: Any) -> Any:
            if away and away.pop():
                raise LogUnavailable("unavailable")
            return answer(*wanted)

        return asked

    stream = beating.told("anna", after=position(hello))
    next(stream)
    monkeypatch.setattr(MemoryIndex, "concluded", failing(listed))
    monkeypatch.setattr(beating.ports.history, "newest", failing(newest))
    over: set[str] = set()
    while len(over) < len(tables):
        told = next(stream)
        over |= {told["match"]} if told["type"] == "finished" else set()
    assert over == {*tables}
    assert not away


def test_the_cursor_moves_on_once_all_was_compared_with_the_log(
    beating: Players, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(followed, "READ_BATCH", 2)
    tables = [beating.monkeys("anna", "ben") for _ in range(5)]
    stream = beating.told("anna")
    began = position(next(stream))
    compared: list[int] = []
    together = match_watch.read_together

    def counted(history: Any, watches: Any, since: float) -> None:
        compared.append(len(watches))
        together(history, watches, since)

    monkeypatch.setattr(followed, "read_together", counted)
    beating.deaf = True
    beating.wait(1000)
    _act_until_anna_is_asked(beating, tables[0])
    told = next(stream)
    assert brief(told) == ("your_turn", tables[0])
    assert set(compared) <= {1, 2}
    assert position(told) == began
    moved = threading.Event()
    while not moved.is_set():
        _act_until_anna_is_asked(beating, tables[0])
        if position(next(stream)) == beating.time:
            moved.set()
    assert sum(compared) >= 5


def _act_until_anna_is_asked(players: Players, table: str) -> None:
    while True:
        who = ("anna", "ben")[players.match(table).decisions()[0].seat]
        players.act(table, who)
        if players.match(table).decisions()[0].seat == 0:
            return


def test_a_match_that_cannot_be_read_keeps_no_other_from_being_told(players: Players) -> None:
    broken, sound = players.monkeys("anna", "ben"), players.toy("anna", "ben")
    hello = next(players.told("anna"))
    players.log._matches[broken].events.append(b"{}")
    players.play_out(sound)
    _, told = players.told_at_once("anna", after=position(hello))
    assert ("finished", sound) in {brief(one) for one in told}


def test_one_stream_follows_five_hundred_matches(players: Players) -> None:
    tables = [players.monkeys("anna", "ben") for _ in range(500)]
    players.log.calls.clear()
    stream = players.told("anna")
    hello = next(stream)
    assert {match["id"] for match in hello["matches"]} == {*tables}
    assert players.log.calls.count("read") == 500 // followed.READ_BATCH
    players.log.calls.clear()
    for table in (tables[0], tables[-1]):
        _act_until_anna_is_asked(players, table)
        assert brief(next(stream)) == ("your_turn", table)


def test_every_frame_of_an_event_stream_has_the_cursor_as_its_id(players: Players) -> None:
    table = players.toy("anna", "ben")
    players.play_out(table)
    pieces = players.follow("anna", EVENT_STREAM, gone=lambda: True)
    blocks = [block for piece in pieces for block in piece.split(b"\n\n") if block]
    assert len(blocks) == 2
    for block in blocks:
        fields = dict(line.split(b": ", 1) for line in block.split(b"\n"))
        assert fields[b"id"].decode() == msgspec.json.decode(fields[b"data"])["cursor"]
