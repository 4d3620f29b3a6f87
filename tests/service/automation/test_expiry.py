"""Matches that nobody starts in time are aborted."""

import pytest

from service.audit.match_file import export
from service.audit.verify import verify
from service.automation.expiry import expire
from service.match.due_times import due_times
from service.match.model import OPEN_MS
from tests.service.arena import START, Arena, refused


def test_a_match_expires_at_its_time_and_not_before() -> None:
    arena = Arena()
    table = arena.join(arena.create(seats=3, open_ms=60_000), "anna")
    assert arena.match(table).expires_at == START + 60_000
    assert due_times(arena.match(table))["open"] == START + 60_000
    arena.wait(59_999)
    expire(arena.ports, table)
    assert arena.match(table).status == "open"
    arena.wait(1)
    expire(arena.ports, table)
    assert arena.types(table)[-2:] == ["match_aborted", "seed_revealed"]
    assert arena.data(table, -1) == {"reason": "expired"}
    assert arena.match(table).expires_at is None
    assert [entry.match_id for entry in arena.index.page("aborted", None, 9)] == [table]
    assert list(arena.index.held_seats("anna")) == []
    assert arena.log.next_due(["open"]) is None
    refused("match-not-open", arena.join, table, "ben")
    verify(list(export(arena.ports, arena.match(table))), arena.ports.games)


def test_many_sweepers_end_it_once() -> None:
    arena = Arena()
    table = arena.create(seats=3)
    arena.wait(OPEN_MS)
    for _ in range(3):
        expire(arena.ports, table)
    assert arena.types(table) == ["match_created", "match_aborted", "seed_revealed"]


def test_a_match_that_starts_at_the_last_moment_is_not_ended() -> None:
    arena = Arena()
    table = arena.join(arena.create(seats=2), "anna")
    arena.wait(OPEN_MS)
    arena.log.meanwhile = [lambda: arena.join(table, "ben")]
    expire(arena.ports, table)
    assert arena.match(table).status == "running"
    assert arena.log.next_due(["open"]) is None


def test_a_full_match_that_nobody_starts_expires_too() -> None:
    arena = Arena()
    table = arena.join(arena.create(seats=2, manual_start=True), "anna", "ben")
    arena.wait(OPEN_MS)
    expire(arena.ports, table)
    assert arena.match(table).status == "aborted"


@pytest.mark.parametrize("seated", [False, True])
def test_a_match_of_format_1_ends_as_if_its_creator_left(seated: bool) -> None:
    arena = Arena()
    arena.format_number = 1
    table = arena.join(arena.create(seats=3), "anna", *(["host"] if seated else []))
    arena.wait(OPEN_MS)
    expire(arena.ports, table)
    left = ["seat_left"] if seated else []
    assert arena.types(table)[-2 - len(left) :] == [*left, "match_aborted", "seed_revealed"]
    assert arena.data(table, -1) == {"reason": "creator-left"}
    verify(list(export(arena.ports, arena.match(table))), arena.ports.games)
