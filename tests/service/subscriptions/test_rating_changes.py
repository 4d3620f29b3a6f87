"""The notice about the end of a rated match has the change of the player's rating, and waits for it for a while."""

import threading
from collections.abc import Iterator

import pytest

from service.automation import rating
from service.subscriptions.rating_changes import RATING_WAIT_MS
from tests.service.arena import START
from tests.service.subscriptions.players import Frame, Players
from tests.waiting import until


def rated(players: Players) -> str:
    return players.join(players.create(turn_seconds=20, rated=True), "anna", "ben")


def finished(stream: Iterator[Frame]) -> Frame:
    return next(frame for frame in stream if frame["type"] == "finished")


def waits_for_ratings(players: Players) -> bool:
    return "ratings:toy" in players.feed._waiters


def test_the_notice_waits_for_the_rating_and_has_its_change(players: Players) -> None:
    table = rated(players)
    stream = players.sent("anna")
    next(stream)

    def play() -> None:
        players.play_out(table)
        until(lambda: waits_for_ratings(players), 5, "the stream waits for the rating")
        rating.rate(players.ports, table)

    threading.Thread(target=play).start()
    notice = finished(stream)
    seat = players.match(table).outcome.ranks.index(1)  # type: ignore[union-attr]
    change = notice["rating"]
    assert change["before"] == {"rating": 1000, "mu": 25_000_000, "sigma": 8_333_333}
    assert change["counted"] is True
    assert (change["rank"] == 1) is (seat == 0)
    assert (change["after"]["mu"] > 25_000_000) is (seat == 0)
    assert notice["notice"] == f"{table}-{players.version(table) - 1}-finished"


@pytest.mark.parametrize("is_rated", [True, False])
def test_a_match_that_ended_before_the_stream_began_has_what_is_known(players: Players, is_rated: bool) -> None:
    table = rated(players)
    players.play_out(table)
    if is_rated:
        rating.rate(players.ports, table)
    _, sent = players.sent_at_once("ben", after=START)
    notice = finished(iter(sent))
    assert (notice["rating"] is not None) is is_rated


def test_a_rating_that_does_not_come_is_not_waited_for(
    with_heartbeats: Players,
) -> None:
    players = with_heartbeats
    table = rated(players)
    stream = players.sent("anna")
    next(stream)

    def play() -> None:
        players.play_out(table)
        until(lambda: waits_for_ratings(players), 5, "the stream waits for the rating")
        players.wait(RATING_WAIT_MS + 1)

    threading.Thread(target=play).start()
    assert finished(stream)["rating"] is None


def test_the_notice_of_a_match_that_is_not_rated_has_no_rating(players: Players) -> None:
    table = players.toy("anna", "ben")
    stream = players.sent("anna")
    next(stream)
    threading.Thread(target=players.play_out, args=(table,)).start()
    assert "rating" not in finished(stream)


def test_a_creator_without_a_seat_gets_no_change(players: Players) -> None:
    table = rated(players)
    players.play_out(table)
    rating.rate(players.ports, table)
    _, sent = players.sent_at_once("host", after=START)
    assert finished(iter(sent))["rating"] is None
