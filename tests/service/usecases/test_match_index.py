"""Lists of matches: the index follows the log, and is repaired where it is outdated."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, get_args

import pytest

from events.log import LogUnavailable
from events.record import canonical, digest
from service.adapters.memory import MemoryIndex
from service.automation.bot_turns import suspend
from service.repository.index_entry import IndexEntry
from service.repository.match_history import History
from service.repository.ports import OwnList, Ports, StatusList
from service.usecases.match_index import IN_FLIGHT_MS, rebuild_entries, record_leavers
from service.usecases.match_lists import ended_page, own_page, public_page
from service.views.match_views import MatchSummary
from tests.service.arena import START, Arena

STATUS_LISTS: Final = get_args(StatusList)


def ids(arena: Arena, status_list: StatusList) -> list[str]:
    return [view.id for view in public_page(arena.ports, status_list, None, 20)[0]]


def test_a_match_is_always_in_the_list_of_its_status() -> None:
    arena = Arena()
    table = arena.join(arena.create(), "anna")
    assert [ids(arena, status_list) for status_list in STATUS_LISTS] == [[table], [], [], []]
    arena.join(table, "ben")
    assert [ids(arena, status_list) for status_list in STATUS_LISTS] == [[], [table], [], []]
    suspend(arena.ports, arena.match(table), "KeyError")
    assert [ids(arena, status_list) for status_list in STATUS_LISTS] == [[], [table], [], []]
    other = arena.toy("anna", "ben")
    arena.play_out(other)
    assert [ids(arena, status_list) for status_list in STATUS_LISTS] == [[], [table], [other], []]
    aborted = arena.create()
    arena.leave(aborted, "host")
    assert [ids(arena, status_list) for status_list in STATUS_LISTS] == [[], [table], [other], [aborted]]
    assert [view.id for view in ended_page(arena.ports, 0, 20)[0]] == [other, aborted]


def test_private_matches_are_not_listed() -> None:
    arena = Arena()
    arena.create(private=True)
    arena.join(arena.create(private=True), "anna", "ben")
    arena.leave(arena.create(private=True), "host")
    assert [ids(arena, status_list) for status_list in STATUS_LISTS] == [[], [], [], []]
    assert ended_page(arena.ports, 0, 20) == ((), 0)


def test_pages_go_from_the_newest_to_the_oldest_without_gap_or_overlap() -> None:
    arena = Arena()
    tables = []
    for _ in range(7):
        tables.append(arena.create())
        arena.wait(10)
    found: list[str] = []
    before: IndexEntry | None = None
    for size in (3, 3, 1):
        views, before = public_page(arena.ports, "open", before, 3)
        assert len(views) == size
        found += [view.id for view in views]
    assert before is None
    assert found == tables[::-1]


@pytest.mark.unmeasured
@pytest.mark.parametrize("cache", ["cached", "empty cache"])
@pytest.mark.parametrize(
    "look",
    [
        lambda ports: public_page(ports, "finished", None, 4),
        lambda ports: own_page(ports, "anna", "all", None, 4),
    ],
    ids=["public list", "own list"],
)
def test_a_page_is_one_round_trip_that_reads_one_event_of_each_match_that_is_over(
    look: Callable[[Ports], tuple[Sequence[MatchSummary], str | None]], cache: str
) -> None:
    arena = Arena()
    for _ in range(5):
        arena.play_out(arena.toy("anna", "ben", tricks=9))
    fresh = History(arena.log, arena.ports.games, arena.ports.secret)
    ports = replace(arena.ports, history=fresh) if cache == "empty cache" else arena.ports
    arena.log.calls.clear()
    arena.log.read_counts.clear()
    assert [view.status for view in look(ports)[0]] == ["finished"] * 4
    assert arena.log.calls == ["read"]
    assert arena.log.read_counts == [1] * 4


def test_an_outdated_index_entry_is_repaired(monkeypatch: pytest.MonkeyPatch) -> None:
    arena = Arena()
    table = arena.join(arena.create(), "anna")
    with monkeypatch.context() as patched:
        patched.setattr(arena.index, "move", lambda *_args, **_more: None)
        arena.join(table, "ben")
    assert ids(arena, "open") == []
    assert arena.index.page("open", None, 9) == []
    assert ids(arena, "running") == [table]


def test_an_index_entry_of_a_failed_creation_is_removed_once_it_is_old() -> None:
    arena = Arena()
    arena.index.add("dead", START, "host", private=False)
    arena.wait(IN_FLIGHT_MS)
    assert ids(arena, "open") == []
    assert len(arena.index.page("open", None, 9)) == 1
    arena.wait(1)
    assert ids(arena, "open") == []
    assert arena.index.page("open", None, 9) == []


def test_a_second_index_entry_of_a_match_is_removed() -> None:
    arena = Arena()
    table = arena.create()
    arena.index.add(table, START - 5, "host", private=False)
    assert ids(arena, "open") == [table]
    assert arena.index.page("open", None, 9) == [IndexEntry(START, table)]


def test_an_unreadable_match_hides_no_others_and_stays_in_the_index() -> None:
    arena = Arena()
    corrupt, unknown, sound = (arena.create() for _ in range(3))
    stored = arena.log.stored(corrupt)[0]
    arena.log.rewrite(corrupt, (stored[:-1],))
    stored = arena.log.stored(unknown)[0]
    newer = canonical(
        {"at": 1, "by": "worker", "data": {}, "prev": digest(stored), "salt": "", "type": "newer", "version": 2}
    )
    arena.log.rewrite(unknown, (stored, newer))
    arena.wait(IN_FLIGHT_MS + 1)
    assert ids(arena, "open") == [sound]
    assert len(arena.index.page("open", None, 9)) == 3


def own(arena: Arena, player: str, own_list: OwnList = "all") -> list[str]:
    return [view.id for view in own_page(arena.ports, player, own_list, None, 20)[0]]


def test_a_player_s_own_list_has_the_matches_that_it_created_or_joined() -> None:
    arena = Arena()
    table = arena.create(private=True)
    arena.wait(1)
    other = arena.create()
    for one in (table, other):
        arena.join(one, "anna")
    assert own(arena, "anna") == own(arena, "host") == [other, table]
    assert own(arena, "ben") == []
    arena.leave(other, "anna")
    assert own(arena, "anna") == [table]
    arena.leave(table, "host")
    assert (own(arena, "host"), own(arena, "host", "active")) == ([other, table], [other])
    assert arena.index.matches_of("host", "active", None, 9) == [IndexEntry(START + 1, other)]
    assert own(arena, "host", "active") == [other]


def test_a_match_whose_seat_was_given_up_is_not_in_the_player_s_own_list() -> None:
    arena = Arena()
    table = arena.join(arena.create(), "anna")
    arena.leave(table, "anna")
    assert arena.index.matches_of("anna", "all", None, 9) == []
    arena.leave(arena.join(table, "host"), "host")
    assert own(arena, "host") == [table]


@pytest.mark.parametrize("before", [True, False])
def test_a_new_seat_is_not_removed_by_an_earlier_leave_that_finishes_late(*, before: bool) -> None:
    arena = Arena()
    table = arena.join(arena.create(), "anna")
    if before:  # the leave updates the index after the join's entry, and before the join's event
        arena.leave(table, "anna")
        arena.log.meanwhile = [lambda: arena.index.dismiss("anna", table, START)]
        arena.join(table, "anna")
    else:
        arena.log.afterwards = [lambda: arena.join(table, "anna")]
        arena.leave(table, "anna")
    assert own(arena, "anna") == [table]


def test_a_match_that_ends_before_its_start_is_indexed_is_listed_as_finished() -> None:
    arena = Arena()
    table = arena.create(bots=("high",))
    arena.log.afterwards = [lambda: arena.leave(table, "anna"), lambda: arena.play_out(table)]
    arena.join(table, "anna")
    assert arena.match(table).status == "finished"
    assert (ids(arena, "running"), ids(arena, "finished")) == ([], [table])


def test_unreadable_matches_are_listed_for_callers_with_access() -> None:
    arena = Arena()
    table = arena.join(arena.create(seats=3, private=True), "anna", "ben")
    arena.leave(table, "anna")
    arena.join(table, "cyd")
    arena.index.enrol("anna", table, START)  # as after a crash: only the log shows that anna left
    arena.index.add("dead", START, "host", private=False)
    *stored, last = arena.log.stored(table)
    arena.log.rewrite(table, (*stored, last[:-1]))
    for player, expected in (("host", [table]), ("ben", [table]), ("anna", []), ("eve", [])):
        page = own_page(arena.ports, player, "all", None, 9)
        assert (page.matches, list(page.unreadable)) == ((), expected)


def test_a_players_open_decisions_are_listed_with_the_match() -> None:
    arena = Arena()
    table = arena.monkeys("anna", "ben")
    found = {player: own_page(arena.ports, player, "active", None, 9)[0][0] for player in ("anna", "ben", "host")}
    assert [found[player].seat for player in found] == [0, 1, None]
    awaited = [player for player in found if found[player].decisions]
    assert len(awaited) == 1
    assert found[awaited[0]].decisions[0].seat == found[awaited[0]].seat
    assert found[awaited[0]].id == table


def test_an_own_entry_without_a_seat_is_removed_only_when_no_join_can_follow() -> None:
    arena = Arena()
    table = arena.create()
    arena.index.enrol("anna", table, START)  # a crash before the seat was taken
    arena.index.enrol("anna", "dead", START)
    arena.index.enrol("anna", table, START - 5)
    assert own(arena, "anna") == []
    assert len(arena.index.matches_of("anna", "all", None, 9)) == 2
    arena.wait(IN_FLIGHT_MS + 1)
    arena.join(table, "ben", "carl")
    assert own(arena, "anna") == []
    assert arena.index.matches_of("anna", "all", None, 9) == arena.index.matches_of("anna", "active", None, 9) == []


def test_a_check_that_finds_who_left_does_not_hide_the_match_of_those_who_join_again_meanwhile() -> None:
    arena = Arena()
    table = arena.join(arena.create(seats=3), "anna", "ben")
    arena.leave(table, "anna")
    left = arena.match(table)
    arena.join(table, "anna")
    record_leavers(arena.ports, left)
    assert own(arena, "anna") == own(arena, "ben") == [table]
    assert [entry.match_id for entry in arena.index.matches_of("anna", "left", None, 9)] == [table]
    assert arena.index.matches_of("ben", "left", None, 9) == []


def test_a_player_s_own_entry_is_written_before_the_seat_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    arena = Arena()
    table = arena.create()

    def unavailable(*_args: object) -> None:
        raise LogUnavailable("unavailable")

    with monkeypatch.context() as patched:
        patched.setattr(arena.index, "enrol", unavailable)
        with pytest.raises(LogUnavailable):
            arena.join(table, "anna")
    assert arena.types(table) == ["match_created"]


def test_a_rebuilt_index_has_which_of_a_player_s_matches_are_over_and_their_end_times() -> None:
    arena = Arena()
    over, going_on = arena.toy("anna", "ben"), arena.toy("anna", "ben")
    ended_at = arena.play_out(over).ended_at
    arena.wait(1000)
    arena.index = MemoryIndex()
    arena.ports = replace(arena.ports, index=arena.index)
    for table in (over, going_on):
        rebuild_entries(arena.ports, arena.match(table))
    for player in ("anna", "ben", "host"):
        assert [entry.match_id for entry in arena.index.matches_of(player, "active", None, 9)] == [going_on]
        assert [entry.match_id for entry in arena.index.concluded(player, ended_at or 0, 0, 9)] == [over]
        assert list(arena.index.concluded(player, (ended_at or 0) + 1, 0, 9)) == []
