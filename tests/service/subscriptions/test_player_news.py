"""Notices about what happens beside a player's matches: freed seats, rematches that others ask for, and seeks that ended."""

import threading
from functools import partial
from typing import Any

import pytest

from events.log import LogUnavailable
from service.adapters.memory import MemoryNews
from service.automation.pairing import STREAM_GRACE_MS, put_together
from service.match.new_match import NewMatch
from service.repository import cursors
from service.repository.news import KEEP_MS
from service.usecases.held_seats import HELD_SEATS
from service.usecases.match_lifecycle import OPEN_MATCHES, free_seat
from service.usecases.rematch import rematch
from service.usecases.seeking import seek
from tests.service.subscriptions.players import Frame, Players, type_and_match

GAME = "monkeys_on_the_moon"


def freed(players: Players, **wanted: Any) -> str:
    """A match whose creator has freed the seat of anna, the only player."""
    table = players.join(players.create(seats=3, **wanted), "anna")
    free_seat(players.ports, "host", table, players.new_key(), seat=0)
    return table


def finished(players: Players, *people: str) -> str:
    """A match that is over; the players have been notified of its end."""
    match = players.play_out(players.toy(*people))
    for player in people:
        players.index.conclude(player, match.id, match.created_at, players.time)
    return match.id


def seeks(players: Players, player: str, *, is_followed: bool = True, **wanted: Any) -> str:
    found = seek(players.ports, player, NewMatch(GAME, 2, **wanted), players.new_key(), 600)
    if is_followed:
        players.ports.seeks.see(player)
    return found.id


def notices(players: Players, player: str, after: int | None = None) -> list[Frame]:
    return players.sent_at_once(player, after=after)[1]


@pytest.mark.parametrize("private", [False, True])
def test_a_player_whose_seat_is_freed_gets_a_notice_about_that_event_alone(players: Players, private: bool) -> None:
    table = players.join(players.create(seats=3, private=private), "anna")
    stream = players.sent("anna")
    assert [match["id"] for match in next(stream)["matches"]] == [table]
    threading.Timer(0.05, free_seat, (players.ports, "host", table, "free"), {"seat": 0}).start()
    sent = next(stream)
    assert (type_and_match(sent), sent["notice"]) == (("seat_freed", table), f"{table}-3-seat_freed")
    assert (sent["seat"], sent["decisions"], sent["status"], sent["version"]) == (None, [], "open", 3)
    players.join(table, "ben", "carl", "dora")
    players.join(other := players.create(seats=2), "anna", "ben")
    assert type_and_match(next(stream)) == ("started", other), "nothing more of a match that is not the player's"


def test_a_stream_that_is_resumed_has_the_notice_that_it_missed(players: Players) -> None:
    hello, _ = players.sent_at_once("anna")
    players.wait(10_000)
    table = freed(players)
    players.wait(10_000)
    after = cursors.decode(hello["cursor"], int)
    assert [type_and_match(one) for one in notices(players, "anna", after)] == [("seat_freed", table)]
    assert notices(players, "anna") == [], "a new stream begins now"
    players.wait(KEEP_MS)
    assert notices(players, "anna", after) != [], "old news go with the next one"
    freed(players)
    assert next(one["notice"] for one in notices(players, "anna", after)) != f"{table}-3-seat_freed"


def test_nobody_else_gets_the_notice_and_nobody_who_frees_the_own_seat(players: Players) -> None:
    table = players.join(players.create(seats=3), "anna", "host")
    for seat in (0, 1):
        free_seat(players.ports, "host", table, players.new_key(), seat=seat)
    assert [len(notices(players, player, 0)) for player in ("anna", "host", "ben")] == [1, 0, 0]


def test_the_other_players_are_notified_of_a_rematch_until_it_starts(players: Players) -> None:
    old = finished(players, "anna", "ben", "carl")
    stream = players.sent("ben")
    next(stream)
    threading.Timer(0.05, rematch, (players.ports, "anna", old)).start()
    sent = next(stream)
    new = sent["match"]
    assert (sent["type"], sent["rematch_of"], sent["notice"]) == ("rematch", old, f"{new}-1-rematch")
    assert (sent["status"], sent["seat"], sent["version"], sent["decisions"]) == ("open", None, 1, [])
    assert notices(players, "anna") == [], "who asked knows it"
    players.wait(3_600_000)
    assert [one["notice"] for one in notices(players, "carl")] == [sent["notice"]], "an open offer is sent again"
    rematch(players.ports, "carl", old)
    assert notices(players, "carl") == []
    assert [one["notice"] for one in notices(players, "ben")] == [sent["notice"]]
    rematch(players.ports, "ben", old)
    assert type_and_match(next(stream)) == ("started", new)
    assert notices(players, "ben") == []


def test_a_rematch_that_is_asked_for_again_and_again_is_reported_once(players: Players) -> None:
    old = finished(players, "anna", "ben")
    stream = players.sent("ben", hung_up=lambda: len(sent) > 1)
    sent: list[Frame] = []
    sent.append(next(stream))
    for _ in range(5):
        rematch(players.ports, "anna", old)
    sent.append(next(stream))
    assert sent[-1]["type"] == "rematch"
    assert list(stream) == []


def test_a_rematch_that_was_aborted_is_not_reported_but_the_next_one_is(players: Players) -> None:
    old = finished(players, "anna", "ben")
    first = rematch(players.ports, "anna", old).match.id
    for _ in range(2):
        players.leave(first, "anna")
    assert notices(players, "ben") == []
    second = rematch(players.ports, "anna", old).match.id
    assert [type_and_match(one) for one in notices(players, "ben")] == [("rematch", second)]


def test_a_seek_that_ends_without_a_match_says_why(players: Players) -> None:
    late, alone = seeks(players, "anna"), seeks(players, "ben", is_followed=False, options={"treachery": True})
    players.wait(STREAM_GRACE_MS + 1)
    players.ports.seeks.see("anna")
    put_together(players.ports)
    expected = {"type": "seek_ended", "notice": f"{alone}-ended", "seek": alone, "reason": "no-stream"}
    (sent,) = notices(players, "ben")
    assert {**sent, "cursor": None} == {**expected, "cursor": None}
    for _ in range(30):
        players.wait(20_000)
        players.ports.seeks.see("anna")
    stream = players.sent("anna")
    next(stream)
    threading.Timer(0.05, put_together, (players.ports,)).start()
    sent = next(stream)
    assert (sent["seek"], sent["reason"]) == (late, "expired")


def test_a_seek_whose_match_nobody_may_create_ends_with_the_reason(players: Players) -> None:
    for player in ("anna", "ben"):
        for _ in range(OPEN_MATCHES):
            players.create(by=player)
    ids = {player: seeks(players, player) for player in ("anna", "ben")}
    put_together(players.ports)
    for player, seek_id in ids.items():
        (sent,) = notices(players, player)
        assert (sent["seek"], sent["reason"]) == (seek_id, "too-many-open-matches")
        assert players.ports.seeks.of(player) is None
        assert players.ports.seeks.done(seek_id) is None, "it leads to no match"


def hold_all_seats(players: Players, player: str) -> None:
    for number in range(HELD_SEATS):
        players.join(players.create(seats=3, by=f"host-{player}-{number // 10}"), player)


def test_a_player_with_all_seats_gets_the_last_one_of_a_match_that_starts(players: Players) -> None:
    hold_all_seats(players, "anna")
    seeks(players, "anna")
    players.wait(1)
    seeks(players, "ben")
    assert put_together(players.ports) == 1
    (match,) = [players.match(one.match_id) for one in players.index.matches_of("ben", "all", None, 9)]
    assert (match.status, match.seat_of("anna"), match.seat_of("ben")) == ("running", 1, 0)
    assert put_together(players.ports) == 0


def test_players_of_whom_none_may_take_a_further_seat_get_to_know_it(players: Players) -> None:
    for player in ("anna", "ben"):
        hold_all_seats(players, player)
    ids = {player: seeks(players, player) for player in ("anna", "ben")}
    put_together(players.ports)
    assert players.ports.seeks.pairings() == []
    for player, seek_id in ids.items():
        found = [(one["seek"], one["reason"]) for one in notices(players, player, 0) if one["type"] == "seek_ended"]
        assert found == [(seek_id, "too-many-seats")]


def test_news_survive_an_outage_of_the_log(with_heartbeats: Players, monkeypatch: pytest.MonkeyPatch) -> None:
    players = with_heartbeats
    stream = players.sent("anna")
    next(stream)
    failures = [LogUnavailable("unavailable")]
    read = MemoryNews.since

    def since(self: MemoryNews, player: str, at: int) -> Any:
        if failures:
            raise failures.pop()
        return read(self, player, at)

    monkeypatch.setattr(MemoryNews, "since", since)
    players.drops_wakes = True
    table = freed(players)
    assert type_and_match(next(stream)) == ("seat_freed", table)
    assert failures == []


def test_a_notice_of_a_damaged_match_is_left_out(players: Players) -> None:
    table = freed(players)
    assert len(notices(players, "anna", 0)) == 1
    players.log.rewrite(table, [b"{}"])
    assert notices(players, "anna", 0) == []


def test_a_repeated_command_posts_nothing_again(players: Players) -> None:
    table = players.join(players.create(seats=3), "anna")
    free = partial(free_seat, players.ports, "host", table, "free", seat=0)
    free()
    players.wait(5_000)
    assert free().replayed
    assert [at for at, _ in players.ports.news.since("anna", 0)] == [players.time - 5_000]
