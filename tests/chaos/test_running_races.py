"""Commands to a running match at the same time: aborts by agreement, returns from a bot, and absent players."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import msgspec
import pytest

from service.automation.bot_turns import advance
from service.container import Service
from service.match.model import ABSENCE_MS, Match
from service.match.redaction import legal_actions
from service.repository.ports import Ports
from service.usecases import play
from service.usecases.match_lifecycle import leave
from service.usecases.mid_match import ask_abort, replace_absent, take_back
from tests.chaos.races import Race, Results, ahead, made, names, run


def both_ask_for_the_end(ports: Ports) -> Race:
    players = names(2)
    match = made(ports, *players)

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert list(results) == ["done", "done"]
        assert types[-4:] == ["abort_asked", "abort_asked", "match_aborted", "seed_revealed"]
        assert after.status == "aborted"

    calls = [partial(ask_abort, ports, one, match.id, "abort") for one in players]
    return Race(match.id, calls, check)


def move_at_the_end(ports: Ports) -> Race:
    """The last request comes with an action of the seat that asked first, which takes its request back."""
    players = names(2)
    match = made(ports, *players)
    seat = match.decisions()[0].seat
    up, other = players[seat], players[1 - seat]
    match = ask_abort(ports, up, match.id, "abort").match
    action = next(iter(legal_actions(match, seat)))

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert results[1] == "done"
        expected = ("running", (1 - seat,)) if results[0] == "done" else ("aborted", (0, 1))
        assert (after.status, after.abort_asked) == expected
        assert types.count("match_aborted") == (after.status == "aborted")

    calls = (
        lambda: play.act(ports, up, match.id, play.ActionRequest(msgspec.to_builtins(action)), "move"),
        lambda: ask_abort(ports, other, match.id, "abort"),
    )
    return Race(match.id, calls, check)


def leave_when_the_last_one_asks(ports: Ports) -> Race:
    """Two of three people want to abort the match; the third one leaves while one of the two moves, asks or leaves too."""
    players = names(3)
    match = made(ports, *players, seats=3)
    seat = match.decisions()[0].seat
    up, other, last = players[seat], players[seat - 1], players[seat - 2]
    for player in (up, other):
        match = ask_abort(ports, player, match.id, "abort").match
    action = next(iter(legal_actions(match, seat)))

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert results[0] == "done"
        if results[1] == "done":  # the move was first, and took a request back
            assert (after.status, types.count("match_aborted")) == ("running", 0)
        else:
            assert results[1] == "match-over"
            assert types[-3:] == ["resigned", "match_aborted", "seed_revealed"]

    calls = (
        lambda: leave(ports, last, match.id, "leave"),
        lambda: play.act(ports, up, match.id, play.ActionRequest(msgspec.to_builtins(action)), "move"),
    )
    return Race(match.id, calls, check)


def two_leave_what_a_third_wants_to_abort(ports: Ports) -> Race:
    players = names(3)
    match = made(ports, *players, seats=3)
    ask_abort(ports, players[0], match.id, "abort")

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert list(results) == ["done", "done"]
        assert types[-4:] == ["resigned", "resigned", "match_aborted", "seed_revealed"]
        assert after.status == "aborted"

    calls = [partial(leave, ports, player, match.id, "leave") for player in players[1:]]
    return Race(match.id, calls, check)


def come_back_twice(ports: Ports) -> Race:
    players = names(2)
    match = made(ports, *players)
    seat = match.decisions()[0].seat
    replace_absent(ahead(ports, ABSENCE_MS), players[1 - seat], match.id, "replace", seat=seat)
    while advance(ports, match.id):
        pass

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert sorted(results) == ["done", "not-seated"]
        assert (types.count("seat_handed_over"), after.seat_of(players[seat])) == (2, seat)

    calls = [partial(take_back, ports, players[seat], match.id, key) for key in ("one", "two")]
    return Race(match.id, calls, check)


def come_back_as_the_bot_is_about_to_move(ports: Ports) -> Race:
    """The bot's decision opens by the action of the other player, while the person returns."""
    players = names(2)
    match = made(ports, *players)
    seat = match.decisions()[0].seat
    away, other = players[seat], players[1 - seat]
    replace_absent(ahead(ports, ABSENCE_MS), other, match.id, "replace", seat=seat)
    while advance(ports, match.id):
        pass
    match, _ = ports.history.newest(match.id)
    action = next(iter(legal_actions(match, 1 - seat)))

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert results[1] == "done"
        assert results[0] in {"done", "bot-deciding"}
        assert (after.seat_of(away) == seat) == (results[0] == "done")
        assert types.count("seat_handed_over") == 1 + (results[0] == "done")

    calls = (
        lambda: take_back(ports, away, match.id, "return"),
        lambda: play.act(ports, other, match.id, play.ActionRequest(msgspec.to_builtins(action)), "move"),
    )
    return Race(match.id, calls, check)


def move_at_the_last_moment(ports: Ports) -> Race:
    players = names(2)
    match = made(ports, *players)
    seat = match.decisions()[0].seat
    later = ahead(ports, ABSENCE_MS)
    action = next(iter(legal_actions(match, seat)))

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert results in (["done", "not-seated"], ["seat-not-absent", "done"])
        assert (types.count("seat_handed_over") == 1) == (results[0] == "done")
        assert after.status == "running"

    calls = (
        lambda: replace_absent(later, players[1 - seat], match.id, "replace", seat=seat),
        lambda: play.act(later, players[seat], match.id, play.ActionRequest(msgspec.to_builtins(action)), "move"),
    )
    return Race(match.id, calls, check)


RACES: Final[Mapping[str, Callable[[Ports], Race]]] = {
    one.__name__: one
    for one in (
        both_ask_for_the_end,
        move_at_the_end,
        leave_when_the_last_one_asks,
        two_leave_what_a_third_wants_to_abort,
        come_back_twice,
        come_back_as_the_bot_is_about_to_move,
        move_at_the_last_moment,
    )
}


@pytest.mark.long
@pytest.mark.parametrize("name", RACES)
def test_of_commands_at_once_each_is_done_whole_or_refused(service: Service, name: str) -> None:
    run(service.ports, RACES[name])
