"""Rematches and seeks while something else happens at the same time: at their start, and at their end."""

from contextlib import suppress
from functools import partial
from secrets import token_hex

import pytest

from service.automation.bot_turns import advance
from service.automation.expiry import expire
from service.automation.pairing import STREAM_GRACE_MS, put_together
from service.container import Service
from service.errors import Refused
from service.match.model import OPEN_MS, Match
from service.match.new_match import NewMatch
from service.repository.news import SeekEnded
from service.repository.ports import Ports
from service.repository.seeks import Seek
from service.usecases import seeking
from service.usecases.match_lifecycle import leave
from service.usecases.match_lists import own_page
from service.usecases.rematch import rematch
from service.usecases.seeking import cancel
from tests.chaos.races import GAME, TRIES, Call, ahead, at_once, made, names

SEEK_S = 60


def play_out(ports: Ports, match_id: str) -> None:
    while advance(ports, match_id, moves=5):
        pass


def left(ports: Ports, *players: str) -> Match:
    """A match that all its players left: what remains is played by the service."""
    match = made(ports, *players, seats=len(players))
    for player in players:
        leave(ports, player, match.id, "leave")
    return match


def finished(ports: Ports, *players: str) -> Match:
    match = left(ports, *players)
    play_out(ports, match.id)
    return ports.history.newest(match.id)[0]


def not_over(ports: Ports, player: str) -> list[Match]:
    """The matches of a player that are not over."""
    return [ports.history.newest(one.id)[0] for one in own_page(ports, player, "active", None, 9).matches]


@pytest.mark.long
def test_who_asks_for_a_rematch_at_the_end_of_the_match_gets_it_or_is_refused(service: Service) -> None:
    ports = service.ports
    for _ in range(TRIES):
        players = names(2)
        match = left(ports, *players)
        asked = [partial(rematch, ports, player, match.id) for player in players]
        results = at_once([partial(play_out, ports, match.id), *asked, *asked])
        assert results[0] == "done"
        assert set(results[1:]) <= {"done", "match-not-finished"}
        for number, player in enumerate(players):
            assert len(not_over(ports, player)) == ("done" in results[1 + number :: 2])
        assert {rematch(ports, player, match.id).match.id for player in players} == {
            one.id for player in players for one in not_over(ports, player)
        }
        assert not_over(ports, players[0])[0].status == "running"


@pytest.mark.long
def test_who_asks_for_a_rematch_while_it_is_aborted_gets_that_one_or_the_next(service: Service) -> None:
    ports = service.ports
    for number in range(TRIES):
        anna, ben = names(2)
        old = finished(ports, anna, ben)
        first = rematch(ports, anna, old.id).match
        leave(ports, anna, first.id, "stand up")
        ends: tuple[Call, Call] = (
            partial(leave, ports, anna, first.id, "abort"),
            partial(expire, ahead(ports, OPEN_MS), first.id),
        )
        results = at_once([ends[number % 2], partial(rematch, ports, ben, old.id)])
        assert results[0] == "done"
        assert ports.history.newest(first.id)[0].status == "aborted"
        # A player who got a seat right before the end may ask again.
        assert results[1] in {"done", "match-not-open"}
        new = rematch(ports, ben, old.id).match
        assert (new.status, new.id != first.id, new.seat_of(ben)) == ("open", True, 0)
        assert rematch(ports, anna, old.id).match.id == new.id
        assert [match.id for match in not_over(ports, ben)] == [new.id]


def seek(ports: Ports, player: str) -> Seek:
    found = seeking.seek(ports, player, NewMatch(GAME, 2), token_hex(8), SEEK_S)
    ports.seeks.see(player)
    return found


@pytest.mark.long
@pytest.mark.parametrize("end", ["expires", "loses its stream", "is cancelled"])
def test_a_seek_that_ends_while_it_is_paired_has_one_of_both_outcomes(service: Service, end: str) -> None:
    """Workers whose clocks differ by less than a second disagree whether a seek is over."""
    ports = service.ports
    for _ in range(TRIES):
        anna, ben = names(2)
        first = seek(ports, anna)
        ms = {"expires": 1_000 * SEEK_S, "loses its stream": STREAM_GRACE_MS + 10_000, "is cancelled": 0}[end]
        second = seek(ports, ben)
        calls: list[Call] = [
            partial(put_together, ports),
            partial(put_together, ahead(ports, ms)),
            partial(put_together, ports),
        ]
        if end == "is cancelled":
            calls.append(partial(_cancel, ports, ben, second.id))
        results = at_once(calls)
        assert set(results) == {"done"}
        while put_together(ports):
            pass
        matches = [not_over(ports, player) for player in (anna, ben)]
        ended = {
            player: [item.reason for _, item in ports.news.since(player, 0) if isinstance(item, SeekEnded)]
            for player in (anna, ben)
        }
        if matches[0]:
            assert [match.id for match in matches[0]] == [match.id for match in matches[1]]
            assert matches[0][0].status == "running"
            assert ended == {anna: [], ben: []}
            assert {ports.seeks.done(one.id) is not None for one in (first, second)} == {True}
        else:
            assert matches == [[], []]
            reason = {"expires": "expired", "loses its stream": "no-stream", "is cancelled": ""}[end]
            notified = {player: reasons for player, reasons in ended.items() if reasons}
            assert all(reasons == [reason] for reasons in notified.values())
            left = [player for player in (anna, ben) if ports.seeks.of(player) is not None]
            assert (left, notified) == ([anna], {}) if end == "is cancelled" else len(left) + len(notified) == 2
            for player in left:
                ports.seeks.remove(ports.seeks.of(player) or first)
        assert ports.seeks.pairings() == []


def _cancel(ports: Ports, player: str, seek_id: str) -> None:
    with suppress(Refused):  # it has just been paired
        cancel(ports, player, seek_id)
