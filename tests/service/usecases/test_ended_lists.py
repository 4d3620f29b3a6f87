"""The list of ended matches has each match once, in the order of the ends, also after crashes."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.log import LogUnavailable
from service.adapters.memory import MemoryIndex
from service.automation.bot_turns import score
from service.repository.ports import ENDING_MS
from service.usecases.match_index import IN_FLIGHT_MS, update_index_of_ended
from service.usecases.match_lists import MIN_BATCH, ended_page, public_page
from service.usecases.pages import MAX_READ
from tests.service.arena import Arena, refused, unavailable


def read_page(arena: Arena, after: int = 0, size: int = 20, game: str | None = None) -> tuple[list[str], int]:
    views, number = ended_page(arena.ports, after, size, game)
    return [view.id for view in views], number


def aborted(arena: Arena, table: str | None = None) -> str:
    """A match that its creator aborted."""
    table = table or arena.create()
    arena.leave(table, "host")
    return table


def assert_unavailable(arena: Arena, act: Callable[[], object]) -> None:
    with pytest.raises(LogUnavailable):
        act()
    assert not arena.log.meanwhile
    assert not arena.log.afterwards


def test_matches_are_listed_in_the_order_of_their_ends_not_of_their_creation() -> None:
    arena = Arena()
    first, second, third = (arena.create() for _ in range(3))
    aborted(arena, third)
    found, cursor = read_page(arena)
    assert found == [third]
    assert read_page(arena, cursor) == ([], cursor)
    arena.join(second, "anna", "ben")
    arena.play_out(second)
    aborted(arena, first)
    assert read_page(arena, cursor, size=1)[0] == [second]
    found, cursor = read_page(arena, cursor)
    assert found == [second, first]
    assert read_page(arena, cursor) == ([], cursor)


def test_an_end_is_in_the_list_as_soon_as_it_is_in_the_log() -> None:
    arena = Arena()
    table, other = arena.create(), arena.create()
    arena.log.afterwards = [unavailable]
    assert_unavailable(arena, lambda: arena.leave(table, "host"))  # a crash before the index was updated
    aborted(arena, other)
    assert read_page(arena)[0] == [table, other]
    scored = arena.opened("anna", "ben", tricks=1)
    for player in ("anna", "ben"):
        arena.act(scored, player)
    arena.log.afterwards = [unavailable]
    assert_unavailable(arena, lambda: score(arena.ports, arena.match(scored), arena.time))
    assert read_page(arena)[0] == [table, other, scored]


def test_readers_wait_for_an_end_that_may_be_being_written_but_only_for_a_limited_time() -> None:
    arena = Arena()
    table = arena.create()
    arena.log.meanwhile = [unavailable]
    assert_unavailable(arena, lambda: arena.leave(table, "host"))
    arena.wait(1)
    other = aborted(arena)
    assert read_page(arena) == ([], 0)
    arena.wait(ENDING_MS - 1)
    assert read_page(arena) == ([], 0)
    late = aborted(arena)
    arena.wait(IN_FLIGHT_MS)
    found, cursor = read_page(arena)
    assert found == [other, late]
    aborted(arena, table)
    assert read_page(arena, cursor)[0] == [table]
    assert read_page(arena)[0] == [other, late, table]


def test_an_end_that_is_written_after_readers_stopped_waiting_is_still_listed() -> None:
    arena = Arena()
    pages: list[tuple[list[str], int]] = []

    def sleep() -> None:
        arena.wait(IN_FLIGHT_MS + 1)
        pages.append(read_page(arena))

    table = arena.create()
    scored = arena.opened("anna", "ben", tricks=1)
    for player in ("anna", "ben"):
        arena.act(scored, player)
    arena.log.meanwhile = [sleep]
    arena.leave(table, "host")
    arena.log.meanwhile = [sleep]
    score(arena.ports, arena.match(scored), arena.time)
    (first, cursor), (second, cursor_after) = pages
    assert (first, second) == ([], [table])
    assert read_page(arena, cursor)[0] == [table, scored]
    assert read_page(arena, cursor_after)[0] == [scored]
    arena.wait(IN_FLIGHT_MS)
    assert read_page(arena)[0] == [table, scored]


steps = st.lists(st.sampled_from(["make", "end", "refused", "unanswered", "wait", "read"]), max_size=30)


@given(steps=steps, size=st.integers(1, 3))
def test_a_reader_that_continues_reads_every_end_once(steps: list[str], size: int) -> None:
    arena = Arena()
    waiting: list[str] = []
    over: list[str] = []
    found: list[str] = []
    cursor = 0

    def read() -> None:
        nonlocal cursor
        while (page := read_page(arena, cursor, size)) != ([], cursor):
            found.extend(page[0])
            cursor = page[1]

    for number, step in enumerate(steps):
        if step == "make":
            waiting.append(arena.create())
        elif step == "wait":
            arena.wait(9_000)
        elif step == "read":
            read()
        elif waiting:
            table = waiting[number % len(waiting)]
            if step == "refused":
                arena.log.meanwhile = [unavailable]
            elif step == "unanswered":
                arena.log.afterwards = [unavailable]
            if step == "end":
                arena.leave(table, "host")
            else:
                assert_unavailable(arena, partial(arena.leave, table, "host"))
            if step != "refused":
                waiting.remove(table)
                over.append(table)
    read()
    arena.wait(IN_FLIGHT_MS + 1 + len(steps))  # ends in the same millisecond are numbered by the milliseconds after it
    read()
    assert sorted(found) == sorted(over)


def test_a_list_of_one_game_excludes_other_games_and_returns_the_next_cursor() -> None:
    arena = Arena()
    tables = []
    for number in range(9):
        arena.wait(1)
        tables.append(arena.create("toy" if number % 3 else "monkeys_on_the_moon"))
    assert [view.id for view in public_page(arena.ports, "open", None, 9, "monkeys_on_the_moon")[0]] == tables[6::-3]
    for table in tables:
        aborted(arena, table)
    expected = tables[::3]
    found, cursor = read_page(arena, 0, 2, "monkeys_on_the_moon")
    assert found == expected[:2]
    assert read_page(arena, cursor, 2, "monkeys_on_the_moon")[0] == expected[2:]
    newest = [view.id for view in public_page(arena.ports, "aborted", None, 9, "monkeys_on_the_moon")[0]]
    assert newest == expected[::-1]
    for refusal in (
        refused("game-not-found", public_page, arena.ports, "open", None, 9, "chess"),
        refused("game-not-found", ended_page, arena.ports, 0, 9, "chess"),
    ):
        assert refusal.facts == {"games": ["monkeys_on_the_moon", "toy"]}


def test_a_page_of_a_rare_game_reads_a_limited_number_of_matches() -> None:
    arena = Arena()
    for _ in range(MAX_READ + MIN_BATCH + 10):
        arena.wait(1)
        arena.create(by=f"host {arena.time}")
    arena.log.calls.clear()
    views, cursor = public_page(arena.ports, "open", None, 1, "monkeys_on_the_moon")
    assert (views, len(arena.log.calls)) == ((), MAX_READ // MIN_BATCH)
    assert cursor is not None
    assert public_page(arena.ports, "open", cursor, 1, "monkeys_on_the_moon") == ((), None)


def ended_ids(arena: Arena) -> Iterator[str]:
    yield from (entry.match_id for _, entry in arena.index.ended(0, 99))


def test_the_lists_of_an_older_release_are_completed_in_the_order_of_the_ends() -> None:
    arena = Arena()
    tables = [arena.create() for _ in range(4)]
    for table in (tables[2], tables[0], tables[1]):
        arena.wait(5)
        aborted(arena, table)
    index = arena.ports.index
    assert isinstance(index, MemoryIndex)
    index._ended.clear()
    index._status_lists = {
        entry: status_list for entry, status_list in index._status_lists.items() if status_list != "aborted"
    }
    matches = [arena.match(table) for table in tables]
    for _ in range(2):
        update_index_of_ended(arena.ports, matches)
        assert list(ended_ids(arena)) == [tables[2], tables[0], tables[1]]
    assert len(public_page(arena.ports, "aborted", None, 9)[0]) == 3
    assert [view.id for view in public_page(arena.ports, "open", None, 9)[0]] == [tables[3]]


@pytest.mark.parametrize("seats", [1, 2])
def test_a_refused_end_delays_no_reader(seats: int) -> None:
    arena = Arena()
    table, other = arena.create(seats=seats + 1, bots=("high",)), arena.create()
    arena.log.meanwhile = [lambda: arena.join(table, *("anna", "ben")[:seats])]
    refused("not-seated", arena.leave, table, "host")
    aborted(arena, other)
    assert read_page(arena)[0] == [other]
    arena.play_out(table)
    assert read_page(arena)[0] == [other, table]


def test_a_refused_second_leave_does_not_remove_the_end_from_the_list() -> None:
    arena = Arena()
    table = arena.create()
    arena.log.meanwhile = [lambda: arena.leave(table, "host", "first")]
    refused("not-seated", arena.leave, table, "host", "second")
    assert read_page(arena)[0] == [table]
