"""Commands to a match that has not started, at the same time: seats, invitations, the start, preconditions and the expiry."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import pytest

from service.audit.stored_match import inspect
from service.automation.expiry import expire
from service.container import Service
from service.match.model import Match
from service.repository.ports import Ports
from service.usecases.held_seats import HELD_SEATS
from service.usecases.invitations import invite
from service.usecases.match_lifecycle import add_bot, free_seat, join, leave, start
from tests.chaos.races import OPEN_MS, TRIES, Call, Race, Results, ahead, at_once, made, names, run


def leave_at_the_start(ports: Ports) -> Race:
    anna, ben = names(2)
    match = made(ports, anna)

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert results[0] in {"done", "match-not-open"}
        assert results[1] == "done"
        assert "resigned" not in types
        assert (after.status == "running") == (results[0] != "done")

    calls = (
        lambda: leave(ports, anna, match.id, "leave", only="open"),
        lambda: join(ports, ben, match.id, "sit"),
    )
    return Race(match.id, calls, check)


def free_at_the_start(ports: Ports) -> Race:
    anna, ben = names(2)
    match = made(ports, anna)

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert results[1] == "done"
        assert (types.count("seat_freed"), after.status) == ((1, "open") if results[0] == "done" else (0, "running"))

    calls = (
        lambda: free_seat(ports, match.creator, match.id, "free", seat=0),
        lambda: join(ports, ben, match.id, "sit", seat=1),
    )
    return Race(match.id, calls, check)


def free_twice(ports: Ports) -> Race:
    match = made(ports, *names(1))

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert sorted(results) == ["done", "seat-free"]
        assert (types.count("seat_freed"), after.seats) == (1, (None, None))

    return Race(
        match.id,
        [partial(free_seat, ports, match.creator, match.id, key, seat=0) for key in ("one", "two")],
        check,
    )


def expire_at_the_start(ports: Ports) -> Race:
    anna, ben = names(2)
    match = made(ports, anna, open_ms=OPEN_MS)
    later = ahead(ports, OPEN_MS)

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert results[:2] == ["done", "done"]
        expected = ("running", 0) if results[2] == "done" else ("aborted", 1)
        assert (after.status, types.count("match_aborted")) == expected

    calls = (
        lambda: expire(later, match.id),
        lambda: expire(later, match.id),
        lambda: join(later, ben, match.id, "sit"),
    )
    return Race(match.id, calls, check)


def leave_a_seat_that_is_freed(ports: Ports) -> Race:
    (anna,) = names(1)
    match = made(ports, anna)

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert sorted(results) in (["done", "not-seated"], ["done", "seat-free"])
        assert (types[1:], after.seats) in (
            (["seat_taken", "seat_left"], (None, None)),
            (["seat_taken", "seat_freed"], (None, None)),
        )
        assert list(ports.index.matches_of(anna, "all", None, 9)) == []
        assert list(ports.index.held_seats(anna)) == []

    calls = (
        lambda: leave(ports, anna, match.id, "leave"),
        lambda: free_seat(ports, match.creator, match.id, "free", seat=0),
    )
    return Race(match.id, calls, check)


def take_a_seat_that_is_freed(ports: Ports) -> Race:
    """Whose seat is freed takes a seat again at the same time, and has the match in all lists if that succeeds."""
    (anna,) = names(1)
    match = made(ports, anna)

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert results[0] == "done"
        assert results[1] in {"done", "already-seated"}
        assert types[1:3] == ["seat_taken", "seat_freed"]
        is_seated = after.seat_of(anna) is not None
        assert is_seated == (results[1] == "done")
        for own_list in ("all", "active", "public"):
            assert bool(ports.index.matches_of(anna, own_list, None, 9)) == is_seated
        assert bool(ports.index.held_seats(anna)) == is_seated

    calls = (
        lambda: free_seat(ports, match.creator, match.id, "free", seat=0),
        lambda: join(ports, anna, match.id, "again"),
    )
    return Race(match.id, calls, check)


def two_with_an_invitation_to_the_last_seat(ports: Ports) -> Race:
    guests = names(2)
    match = made(ports, private=True)
    code = invite(ports, match.creator, match.id, 60).invitation
    match = join(ports, match.creator, match.id, "sit", invitation=code).match

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert sorted(results) == ["done", "match-not-open"]
        assert (after.status, types.count("seat_taken")) == ("running", 2)
        assert len(after.players & set(guests)) == 1

    calls = [partial(join, ports, guest, match.id, "sit", invitation=code) for guest in guests]
    return Race(match.id, calls, check)


def invited_at_the_last_moment(ports: Ports) -> Race:
    """An invitation is used at the moment when its match expires."""
    (guest,) = names(1)
    match = made(ports, private=True, open_ms=OPEN_MS)
    code = invite(ports, match.creator, match.id, 3_600).invitation
    match = join(ports, match.creator, match.id, "sit", invitation=code).match
    later = ahead(ports, OPEN_MS)

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert results[1] == "done"
        expected = ("running", 0) if results[0] == "done" else ("aborted", 1)
        assert results[0] in {"done", "match-not-open"}
        assert (after.status, types.count("match_aborted")) == expected

    calls = (
        lambda: join(later, guest, match.id, "sit", invitation=code),
        lambda: expire(later, match.id),
    )
    return Race(match.id, calls, check)


def invite_as_the_match_starts(ports: Ports) -> Race:
    anna, ben = names(2)
    match = made(ports, anna)

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert results[0] in {"done", "match-not-open"}
        assert results[1] == "done"
        assert (after.status, types[-1]) == ("running", "match_started")

    calls = (
        lambda: invite(ports, anna, match.id, 60),
        lambda: join(ports, ben, match.id, "sit"),
    )
    return Race(match.id, calls, check)


def commands_with_one_tag(ports: Ports) -> Race:
    """Commands that were all meant for the same version: exactly one is carried out."""
    anna, *guests = names(3)
    match = made(ports, anna, seats=4)
    tag = ((match.head.version, match.head.hash[:16]),)

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert sorted(results) == ["done", *["stale-version"] * 4]
        assert (len(types), after.status) == (3, "open")

    calls: tuple[Call, ...] = (
        lambda: leave(ports, anna, match.id, "leave", if_match=tag),
        lambda: free_seat(ports, match.creator, match.id, "free", seat=0, if_match=tag),
        lambda: add_bot(ports, match.creator, match.id, "bot", bot="random", if_match=tag),
        *(partial(join, ports, guest, match.id, "sit", if_match=tag) for guest in guests),
    )
    return Race(match.id, calls, check)


def start_with_a_tag_as_a_seat_is_freed(ports: Ports) -> Race:
    anna, ben = names(2)
    match = made(ports, anna, ben, manual_start=True)
    tag = ((match.head.version, match.head.hash[:16]),)

    def check(after: Match, results: Results, types: list[str]) -> None:
        assert sorted(results) in (["done", "stale-version"], ["done", "match-not-open"])
        assert (types[-1], after.status) in (("seat_freed", "open"), ("match_started", "running"))

    calls = (
        lambda: start(ports, match.creator, match.id, "start", if_match=tag),
        lambda: free_seat(ports, match.creator, match.id, "free", seat=1),
    )
    return Race(match.id, calls, check)


RACES: Final[Mapping[str, Callable[[Ports], Race]]] = {
    one.__name__: one
    for one in (
        leave_at_the_start,
        free_at_the_start,
        free_twice,
        expire_at_the_start,
        leave_a_seat_that_is_freed,
        take_a_seat_that_is_freed,
        two_with_an_invitation_to_the_last_seat,
        invited_at_the_last_moment,
        invite_as_the_match_starts,
        commands_with_one_tag,
        start_with_a_tag_as_a_seat_is_freed,
    )
}


@pytest.mark.long
@pytest.mark.parametrize("name", RACES)
def test_of_commands_at_once_each_is_done_whole_or_refused(service: Service, name: str) -> None:
    run(service.ports, RACES[name])


@pytest.mark.long
def test_a_player_who_joins_everywhere_at_once_holds_twenty_seats(service: Service) -> None:
    for _ in range(1 + TRIES // 20):
        (anna,) = names(1)
        matches = [made(service.ports, seats=3) for _ in range(HELD_SEATS + 5)]
        calls = [partial(join, service.ports, anna, match.id, "sit") for match in matches]
        results = at_once(calls)
        assert (results.count("done"), results.count("too-many-seats")) == (HELD_SEATS, 5)
        seated = [match for match in matches if inspect(service.ports, match.id).seat_of(anna) is not None]
        assert len(seated) == HELD_SEATS
