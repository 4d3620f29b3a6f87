"""Leaving a match, and crashes between the index and the log."""

from collections.abc import Callable

import pytest

from events.due import Due
from events.log import LogUnavailable
from service.errors import Corrupt
from service.match.due_times import HINT_MS
from service.match.events import MatchClock
from service.match.new_match import NewMatch
from service.repository.index_entry import IndexEntry
from service.usecases import match_lifecycle
from service.usecases.match_lists import public_page
from tests.service.arena import START, Arena, refused, unavailable
from tests.service.games.toy.game import TOY

# --- leaving ----------------------------------------------------------------------------------------------------------


def test_a_seat_left_before_the_start_is_free_again() -> None:
    arena = Arena()
    table = arena.join(arena.create(seats=3), "anna", "ben")
    arena.leave(table, "anna")
    assert [holder and holder.player for holder in arena.match(table).seats] == [None, "ben", None]
    arena.join(table, "anna")
    assert arena.match(table).seat_of("anna") == 0


def test_a_retried_leave_of_a_private_match_gives_the_original_answer() -> None:
    arena = Arena()
    table = arena.join(arena.create(private=True, seats=3), "anna")
    first = arena.leave(table, "anna", "bye")
    again = arena.leave(table, "anna", "bye")
    assert (again.replayed, again.match) == (True, first.match)
    refused("match-not-found", arena.leave, table, "anna", "other")


def test_a_player_who_leaves_a_running_match_may_watch_but_not_act() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    arena.leave(table, "anna")
    match = arena.match(table)
    assert (match.status, match.seat_of("anna")) == ("running", 0)
    assert match.seats[0] is not None
    assert match.seats[0].resigned
    assert arena.events(table)[-1].by == "seat:0"
    refused("not-seated", arena.leave, table, "anna")
    refused("not-seated", arena.leave, table, "carl")


def test_a_creator_without_a_seat_aborts_the_match_by_leaving() -> None:
    arena = Arena()
    table = arena.create()
    seed = arena.log.seed(table)
    assert seed is not None
    arena.leave(table, "host")
    assert arena.types(table)[-2:] == ["match_aborted", "seed_revealed"]
    match = arena.match(table)
    assert (match.status, match.server_seed, match.ended_at) == ("aborted", seed.hex(), START)
    assert arena.index.page("open", None, 9) == []
    refused("not-seated", arena.leave, table, "host")
    seated = arena.join(arena.create(), "host")
    arena.leave(seated, "host")
    assert arena.match(seated).status == "open"
    running = arena.toy("anna", "ben")
    refused("not-seated", arena.leave, running, "host")


def test_a_match_that_is_over_cannot_be_left() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    arena.play_out(table)
    refused("match-over", arena.leave, table, "anna")


def test_due_times_move_to_the_kind_of_abandoned_matches_when_the_last_person_leaves() -> None:
    arena = Arena()
    table = arena.monkeys("anna", "ben", bots=("random",), turn_seconds=60)
    for player in ("anna", "ben"):
        assert arena.log.count_due("abandoned", 10**15) == 0
        arena.leave(table, player)
    assert arena.log.claim("abandoned", 10**15, 0, 9) == (Due(table, "abandoned", arena.match(table).at + HINT_MS),)
    assert (arena.log.scheduled("job"), arena.log.scheduled("clock")) == ((), ())


# --- crashes between the index and the log ----------------------------------------------------------------------------


def test_a_crash_between_index_and_append_heals_with_the_retry() -> None:
    arena = Arena()
    arena.log.meanwhile = [unavailable]
    with pytest.raises(LogUnavailable):
        match_lifecycle.create(arena.ports, "host", NewMatch("toy", 3), "key")
    assert public_page(arena.ports, "open", None, 9) == ((), None)
    arena.wait(100)
    match = match_lifecycle.create(arena.ports, "host", NewMatch("toy", 3), "key").match
    assert [view.id for view in public_page(arena.ports, "open", None, 9)[0]] == [match.id]
    assert arena.index.page("open", None, 9) == [IndexEntry(START + 100, match.id)]


@pytest.mark.parametrize("retry", ["create", "join", "leave"])
def test_a_crash_between_append_and_index_heals_with_the_retry(retry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arena = Arena()
    acts: dict[str, Callable[[], object]] = {
        "create": lambda: match_lifecycle.create(arena.ports, "host", NewMatch("toy", 2, bots=("high", "high")), "key"),
        "join": lambda: match_lifecycle.join(arena.ports, "ben", table, "key"),
        "leave": lambda: match_lifecycle.leave(arena.ports, "host", table, "key"),
    }
    table = arena.join(arena.create(), "anna")
    waiting = len(arena.index.page("open", None, 9))
    with monkeypatch.context() as patched:
        patched.setattr(arena.index, "move", lambda *_args, **_more: None)
        acts[retry]()
    acts[retry]()
    assert len(arena.index.page("open", None, 9)) == waiting - (retry != "create")
    assert len(arena.index.page("running", None, 9)) == (retry != "leave")


def test_without_its_seed_a_match_does_not_start() -> None:
    arena = Arena()
    for seed in (None, bytes(32)):
        table = arena.join(arena.create(), "anna")
        arena.log.forget_seed(table, seed)
        before = arena.log.contents()
        with pytest.raises(Corrupt):
            match_lifecycle.join(arena.ports, "ben", table, "key")
        with pytest.raises(Corrupt):
            arena.leave(table, "host")
        assert arena.log.contents() == before


def test_a_clock_of_the_match_is_recorded() -> None:
    arena = Arena()
    match = arena.match(arena.create(turn_seconds=45))
    assert match.created.clock == MatchClock(turn_seconds=45)
    assert match.game is TOY
