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
from service.usecases.match_index import (
    IN_FLIGHT_MS,
    MAX_READ,
    MIN_BATCH,
    ended_page,
    public_page,
    update_index_of_ended,
)
from tests.service.arena import Arena, refused, unavailable


def crawl(arena: Arena, after: int = 0, size: int = 20, game: str | None = None) -> tuple[list[str], int]:
    views, number = ended_page(arena.ports, after, size, game)
    return [view.id for view in views], number


def aborted(arena: Arena, table: str | None = None) -> str:
    """A match that its creator aborted."""
    table = table or arena.create()
    arena.leave(table, "host")
    return table


def fails(arena: Arena, act: Callable[[], object]) -> None:
    with pytest.raises(LogUnavailable):
        act()
    assert not arena.log.meanwhile
    assert not arena.log.afterwards


def test_what_ends_later_comes_later_however_early_it_was_made() -> None:
    arena = Arena()
    first, second, third = (arena.create() for _ in range(3))
    aborted(arena, third)
    found, place = crawl(arena)
    assert found == [third]
    assert crawl(arena, place) == ([], place)
    arena.join(second, "anna", "ben")
    arena.play_out(second)
    aborted(arena, first)
    assert crawl(arena, place, size=1)[0] == [second]
    found, place = crawl(arena, place)
    assert found == [second, first]
    assert crawl(arena, place) == ([], place)


def test_an_end_is_in_the_list_as_soon_as_it_is_in_the_log() -> None:
    arena = Arena()
    table, other = arena.create(), arena.create()
    arena.log.afterwards = [unavailable]
    fails(arena, lambda: arena.leave(table, "host"))  # and died before it told the index
    aborted(arena, other)
    assert crawl(arena)[0] == [table, other]
    scored = arena.opened("anna", "ben", tricks=1)
    for player in ("anna", "ben"):
        arena.act(scored, player)
    arena.log.afterwards = [unavailable]
    fails(arena, lambda: score(arena.ports, arena.match(scored), arena.time))
    assert crawl(arena)[0] == [table, other, scored]


def test_an_end_under_way_is_waited_for_and_an_end_that_did_not_come_is_not() -> None:
    arena = Arena()
    table = arena.create()
    arena.log.meanwhile = [unavailable]
    fails(arena, lambda: arena.leave(table, "host"))
    arena.wait(1)
    other = aborted(arena)
    assert crawl(arena) == ([], 0)
    arena.wait(ENDING_MS - 1)
    assert crawl(arena) == ([], 0)
    late = aborted(arena)
    arena.wait(IN_FLIGHT_MS)
    found, place = crawl(arena)
    assert found == [other, late]
    aborted(arena, table)
    assert crawl(arena, place)[0] == [table]
    assert crawl(arena)[0] == [other, late, table]


def test_an_end_that_is_written_after_readers_stopped_waiting_is_still_listed() -> None:
    arena = Arena()
    gone_past: list[tuple[list[str], int]] = []

    def sleep() -> None:
        arena.wait(IN_FLIGHT_MS + 1)
        gone_past.append(crawl(arena))

    table = arena.create()
    scored = arena.opened("anna", "ben", tricks=1)
    for player in ("anna", "ben"):
        arena.act(scored, player)
    arena.log.meanwhile = [sleep]
    arena.leave(table, "host")
    arena.log.meanwhile = [sleep]
    score(arena.ports, arena.match(scored), arena.time)
    (first, place), (second, place_after) = gone_past
    assert (first, second) == ([], [table])
    assert crawl(arena, place)[0] == [table, scored]
    assert crawl(arena, place_after)[0] == [scored]
    arena.wait(IN_FLIGHT_MS)
    assert crawl(arena)[0] == [table, scored]


steps = st.lists(st.sampled_from(["make", "end", "refused", "unanswered", "wait", "read"]), max_size=30)


@given(steps=steps, size=st.integers(1, 3))
def test_a_reader_that_continues_reads_every_end_once(steps: list[str], size: int) -> None:
    arena = Arena()
    waiting: list[str] = []
    over: list[str] = []
    found: list[str] = []
    place = 0

    def read() -> None:
        nonlocal place
        while (page := crawl(arena, place, size)) != ([], place):
            found.extend(page[0])
            place = page[1]

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
                fails(arena, partial(arena.leave, table, "host"))
            if step != "refused":
                waiting.remove(table)
                over.append(table)
    read()
    arena.wait(IN_FLIGHT_MS + 1 + len(steps))  # ends at one moment have numbers of some more
    read()
    assert sorted(found) == sorted(over)


def test_a_list_of_one_game_leaves_the_others_out_and_says_where_to_go_on() -> None:
    arena = Arena()
    tables = []
    for number in range(9):
        arena.wait(1)
        tables.append(arena.create("toy" if number % 3 else "monkeys_on_the_moon"))
    assert [view.id for view in public_page(arena.ports, "open", None, 9, "monkeys_on_the_moon")[0]] == tables[6::-3]
    for table in tables:
        aborted(arena, table)
    wanted = tables[::3]
    found, place = crawl(arena, 0, 2, "monkeys_on_the_moon")
    assert found == wanted[:2]
    assert crawl(arena, place, 2, "monkeys_on_the_moon")[0] == wanted[2:]
    newest = [view.id for view in public_page(arena.ports, "aborted", None, 9, "monkeys_on_the_moon")[0]]
    assert newest == wanted[::-1]
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
    views, place = public_page(arena.ports, "open", None, 1, "monkeys_on_the_moon")
    assert (views, len(arena.log.calls)) == ((), MAX_READ // MIN_BATCH)
    assert place is not None
    assert public_page(arena.ports, "open", place, 1, "monkeys_on_the_moon") == ((), None)


def ends(arena: Arena) -> Iterator[str]:
    yield from (entry.match_id for _, entry in arena.index.ended(0, 99))


def test_the_lists_of_an_older_release_are_filled_up_in_the_order_of_the_ends() -> None:
    arena = Arena()
    tables = [arena.create() for _ in range(4)]
    for table in (tables[2], tables[0], tables[1]):
        arena.wait(5)
        aborted(arena, table)
    known = arena.ports.index
    assert isinstance(known, MemoryIndex)
    known._ended.clear()
    known._status_lists = {
        place: status_list for place, status_list in known._status_lists.items() if status_list != "aborted"
    }
    matches = [arena.match(table) for table in tables]
    for _ in range(2):
        update_index_of_ended(arena.ports, matches)
        assert list(ends(arena)) == [tables[2], tables[0], tables[1]]
    assert len(public_page(arena.ports, "aborted", None, 9)[0]) == 3
    assert [view.id for view in public_page(arena.ports, "open", None, 9)[0]] == [tables[3]]


@pytest.mark.parametrize("seats", [1, 2])
def test_a_refused_end_delays_no_reader(seats: int) -> None:
    arena = Arena()
    table, other = arena.create(seats=seats + 1, bots=("high",)), arena.create()
    arena.log.meanwhile = [lambda: arena.join(table, *("anna", "ben")[:seats])]
    refused("not-seated", arena.leave, table, "host")
    aborted(arena, other)
    assert crawl(arena)[0] == [other]
    arena.play_out(table)
    assert crawl(arena)[0] == [other, table]


def test_an_end_that_came_by_the_same_command_twice_is_not_taken_back() -> None:
    arena = Arena()
    table = arena.create()
    arena.log.meanwhile = [lambda: arena.leave(table, "host", "first")]
    refused("not-seated", arena.leave, table, "host", "second")
    assert crawl(arena)[0] == [table]
