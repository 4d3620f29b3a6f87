"""The notice about the end of a rated match has the change of the player's rating, and waits for it for a while."""

import threading
from collections.abc import Iterator

import pytest

from service.automation import rating
from service.match.rating import stream_of
from service.repository.ports import OwnList
from service.subscriptions.rating_changes import RATING_WAIT_MS
from service.usecases.match_lists import own_page
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
    else:
        players.wait(RATING_WAIT_MS + 1)
    _, sent = players.sent_at_once("ben", after=START)
    notice = finished(iter(sent))
    assert (notice["rating"] is not None) is is_rated


@pytest.mark.parametrize("after", [None, START])
@pytest.mark.parametrize("own_list", [None, "active"])
def test_a_stream_that_begins_right_after_the_end_waits_for_the_rating_and_sends_the_end_once(
    players: Players, after: int | None, own_list: OwnList | None
) -> None:
    """Reading the list of active matches removes the match from it."""
    table = rated(players)
    players.play_out(table)
    if own_list is not None:
        own_page(players.ports, "anna", own_list, None, 9)
        after = START
    stream = players.sent("anna", after=after)
    assert next(stream)["matches"] == []
    other: list[str] = []

    def rate() -> None:
        until(lambda: waits_for_ratings(players), 5, "the stream waits for the rating")
        other.append(players.join(players.create(), "anna", "carl"))  # wakes the stream, but not for the rating
        rating.rate(players.ports, table)
        players.play_out(other[0])

    threading.Thread(target=rate).start()
    ended = [finished(stream), finished(stream)]
    assert [notice["match"] for notice in ended] == [table, *other]
    assert ended[0]["rating"]["counted"] is True


def test_an_end_that_waits_for_its_rating_is_not_lost_when_the_match_leaves_the_list_of_active_ones(
    players: Players,
) -> None:
    """The stream is woken by another match before it is woken by the rating."""
    table = rated(players)
    players.play_out(table)
    stream = players.sent("anna")
    next(stream)

    def rate() -> None:
        until(lambda: waits_for_ratings(players), 5, "the stream waits for the rating")
        own_page(players.ports, "anna", "active", None, 9)
        players.drops_wakes = True
        rating.rate(players.ports, table)
        players.drops_wakes = False
        players.join(players.create(), "anna", "carl")
        until(started.is_set, 5, "the stream reports the other match")
        players.feed.wake(stream_of("toy"), 1)

    started = threading.Event()
    threading.Thread(target=rate).start()
    for frame in stream:
        if frame["type"] == "started":
            started.set()
        if frame["type"] == "finished":
            break
    assert (frame["match"], started.is_set()) == (table, True)
    assert frame["rating"]["counted"] is True


def test_a_stream_that_begins_right_after_the_end_does_not_wait_for_a_rating_that_does_not_come(
    with_heartbeats: Players,
) -> None:
    players = with_heartbeats
    table = rated(players)
    players.play_out(table)
    stream = players.sent("anna", after=START)

    def wait() -> None:
        until(lambda: waits_for_ratings(players), 5, "the stream waits for the rating")
        players.wait(RATING_WAIT_MS + 1)

    threading.Thread(target=wait).start()
    notice = finished(stream)
    assert (notice["match"], notice["rating"]) == (table, None)


def test_an_entry_that_is_lost_does_not_end_the_stream(players: Players) -> None:
    table = rated(players)
    players.play_out(table)
    rating.rate(players.ports, table)
    players.log._matches[stream_of("toy")].events.clear()
    players.wait(RATING_WAIT_MS + 1)
    _, sent = players.sent_at_once("anna", after=START)
    assert finished(iter(sent))["rating"] is None


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
