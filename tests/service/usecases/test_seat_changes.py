"""Before the start: the creator frees seats, players leave only what is open, and nobody holds seats everywhere."""

from typing import Any, Final

import pytest

from service.audit.match_file import export
from service.audit.verify import verify
from service.usecases import match_lifecycle
from service.usecases.held_seats import HELD_SEATS
from service.usecases.match_index import IN_FLIGHT_MS
from tests.service.arena import Arena, refused


def free(arena: Arena, table: str, seat: int, by: str = "host", key: str | None = None) -> bool:
    freed = match_lifecycle.free_seat(arena.ports, by, table, key or arena.new_key(), seat=seat)
    return freed.replayed


def leave(arena: Arena, table: str, player: str, **more: Any) -> None:
    match_lifecycle.leave(arena.ports, player, table, arena.new_key(), **more)


# --- freeing a seat ---------------------------------------------------------------------------------------------------


def test_a_freed_seat_can_be_taken_again_and_its_player_has_the_match_no_longer() -> None:
    arena = Arena()
    table = arena.join(arena.create(seats=3, bots=("high",)), "anna")
    free(arena, table, 1)
    assert (arena.types(table)[-1], arena.events(table)[-1].by, arena.data(table)) == (
        "seat_freed",
        "player:host",
        {"seat": 1},
    )
    assert arena.match(table).seat_of("anna") is None
    assert list(arena.index.matches_of("anna", "all", None, 9)) == []
    assert list(arena.index.held_seats("anna")) == []
    arena.join(table, "anna")
    free(arena, table, 0)
    arena.join(table, "ben", "cleo")
    assert arena.match(table).status == "running"
    assert [holder and holder.player for holder in arena.match(table).seats] == ["ben", "anna", "cleo"]
    arena.play_out(table)
    verify(list(export(arena.ports, arena.match(table))), arena.ports.games)


def test_a_seat_is_freed_once_however_often_the_request_comes() -> None:
    arena = Arena()
    table = arena.join(arena.create(seats=3), "anna")
    assert [free(arena, table, 0, key="free") for _ in range(2)] == [False, True]
    arena.join(table, "ben")
    assert free(arena, table, 0, key="free") is True
    assert arena.match(table).seat_of("ben") == 0
    refused("idempotency-key-reused", free, arena, table, 1, key="free")


@pytest.mark.parametrize(
    ("code", "by", "seat"),
    [("not-the-creator", "anna", 0), ("not-the-creator", "eve", 0), ("seat-free", "host", 1), ("seat-free", "host", 7)],
)
def test_only_the_creator_frees_only_a_taken_seat(code: str, by: str, seat: int) -> None:
    arena = Arena()
    table = arena.join(arena.create(seats=3), "anna")
    before = arena.log.contents()
    refused(code, free, arena, table, seat, by)
    refused(code, free, arena, table, -1 if seat == 7 else seat, by)
    assert arena.log.contents() == before


def test_no_seat_of_a_match_that_runs_or_is_over_is_freed() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    refused("match-not-open", free, arena, table, 0)
    arena.play_out(table)
    refused("match-not-open", free, arena, table, 0)


# --- leaving only the open match --------------------------------------------------------------------------------------


@pytest.mark.parametrize("running", [False, True])
@pytest.mark.parametrize("only_open", ["only", "if_match", "is_conditional", None])
def test_a_leave_for_the_open_match_never_resigns(running: bool, only_open: str | None) -> None:
    arena = Arena()
    table = arena.join(arena.create(seats=2), "anna", *(["ben"] if running else []))
    head = arena.match(table).head
    more: dict[str, Any] = {}
    if only_open:
        values = {"only": "open", "if_match": ((head.version, head.hash[:16]),), "is_conditional": True}
        more = {only_open: values[only_open]}
    if running and only_open:
        refused("match-not-open", leave, arena, table, "anna", **more)
        assert "resigned" not in arena.types(table)
        return
    leave(arena, table, "anna", **more)
    assert arena.types(table)[-1] == ("resigned" if running else "seat_left")


def test_a_creator_without_a_seat_aborts_only_the_open_match() -> None:
    arena = Arena()
    table = arena.create(seats=2)
    leave(arena, table, "host", only="open")
    assert arena.types(table)[-2:] == ["match_aborted", "seed_revealed"]
    refused("not-seated", leave, arena, table, "host", only="open")


def test_a_leave_with_another_body_is_another_command() -> None:
    arena = Arena()
    table = arena.join(arena.create(seats=3), "anna")
    match_lifecycle.leave(arena.ports, "anna", table, "key", only="open")
    assert match_lifecycle.leave(arena.ports, "anna", table, "key", only="open").replayed
    refused("idempotency-key-reused", match_lifecycle.leave, arena.ports, "anna", table, "key")


# --- how many seats one player holds ----------------------------------------------------------------------------------

MANY: Final = range(HELD_SEATS)


def tables(arena: Arena, count: int = HELD_SEATS + 1) -> list[str]:
    return [arena.create(seats=3, by=f"host-{number // 10}") for number in range(count)]


def test_a_player_holds_at_most_twenty_seats_in_matches_that_have_not_started() -> None:
    arena = Arena()
    *many, last = tables(arena)
    for table in many:
        arena.join(table, "anna")
    before = arena.log.contents()
    assert "20" in refused("too-many-seats", arena.join, last, "anna").detail
    assert arena.log.contents() == before
    arena.join(last, "ben")
    leave(arena, many[0], "anna")
    arena.join(last, "anna")
    refused("too-many-seats", arena.join, many[0], "anna")


@pytest.mark.parametrize("how", ["start", "free", "abort"])
def test_a_match_that_starts_or_ends_counts_no_longer(how: str) -> None:
    arena = Arena()
    *many, last = tables(arena)
    for table in many:
        arena.join(table, "anna")
    match how:
        case "start":
            arena.join(many[3], "ben", "cleo")
        case "free":
            free(arena, many[3], 0, "host-0")
        case "abort":
            leave(arena, many[3], "host-0")
    arena.join(last, "anna")


def test_the_seat_that_starts_a_match_needs_no_place_among_the_twenty() -> None:
    arena = Arena()
    for table in tables(arena, HELD_SEATS):
        arena.join(table, "anna")
    last = arena.create(seats=2, by="host-9")
    arena.join(last, "ben", "anna")
    assert arena.match(last).status == "running"


def test_a_repeated_join_is_answered_at_the_limit_too() -> None:
    arena = Arena()
    *many, _ = tables(arena)
    for number, table in enumerate(many):
        match_lifecycle.join(arena.ports, "anna", table, f"join-{number}")
    assert match_lifecycle.join(arena.ports, "anna", many[0], "join-0").replayed
    refused("already-seated", arena.join, many[0], "anna")


def test_entries_that_refused_joins_and_crashes_leave_are_removed_at_the_limit() -> None:
    arena = Arena()
    *many, last = tables(arena)
    for number in MANY:
        arena.index.hold_seat("anna", f"dead-{number}", arena.time, arena.time, HELD_SEATS)
    refused("too-many-seats", arena.join, last, "anna")  # these joins may still be on their way
    arena.wait(IN_FLIGHT_MS + 1)
    arena.join(last, "anna")
    assert [entry.match_id for _, entry in arena.index.held_seats("anna")] == [last]
    assert many


def test_a_leave_that_ends_after_the_next_join_takes_no_seat_out_of_the_count() -> None:
    arena = Arena()
    table = arena.join(arena.create(seats=3), "anna")
    arena.log.afterwards = [lambda: arena.join(table, "anna")]
    leave(arena, table, "anna")
    assert arena.match(table).seat_of("anna") == 0
    assert [entry.match_id for _, entry in arena.index.held_seats("anna")] == [table]
