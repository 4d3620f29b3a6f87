"""Finding open matches by their properties: which are found, exact pages, and an index of an older release."""

from collections.abc import Mapping
from functools import partial
from itertools import combinations, product
from typing import Any, Final

import pytest

from service.match.facets import facets_of, lookups
from service.repository.index_entry import IndexEntry
from service.repository.ports import NO_FACETS, Player
from service.usecases.finding import Wanted, open_page
from service.usecases.match_index import IN_FLIGHT_MS
from service.usecases.match_lists import player_page
from tests.service.arena import START, Arena, refused

MONKEYS: Final = "monkeys_on_the_moon"


def ids(arena: Arena, **wanted: Any) -> list[str]:
    return [view.id for view in open_page(arena.ports, Wanted(**wanted), None, 200)[0]]


def test_each_property_finds_the_matches_that_have_it_and_no_others() -> None:
    arena = Arena()
    toy = arena.create(seats=3, by="anna")
    slow = arena.create(MONKEYS, 4, turn_seconds=86_400, options={"treachery": True})
    bank = arena.create(MONKEYS, 2, clock={"bank_seconds": 3_600}, bots=("random",))
    fast = arena.create(MONKEYS, 2, turn_seconds=3_599)
    arena.create(MONKEYS, 4, private=True)
    arena.join(arena.create(MONKEYS, 2), "ben", "carl")
    found: list[tuple[Mapping[str, Any], list[str]]] = [
        ({"game": "toy"}, [toy]),
        ({"game": MONKEYS}, [fast, bank, slow]),
        ({"seats": 2}, [fast, bank]),
        ({"free_seats": 1}, [fast, bank, slow, toy]),
        ({"free_seats": 2}, [fast, slow, toy]),
        ({"free_seats": 4}, [slow]),
        ({"clock": "turn"}, [fast, slow]),
        ({"clock": "bank"}, [bank]),
        ({"clock": "none"}, [toy]),
        ({"speed": "minutes"}, [fast]),
        ({"speed": "hours"}, [bank]),
        ({"speed": "days"}, [slow]),
        ({"option": ("treachery:true",)}, [slow]),
        ({"option": ("treachery:false",)}, [fast, bank]),
        ({"option": ("treachery:false", "maximum_scorn:false")}, [fast, bank]),
        ({"creator": "anna"}, [toy]),
        ({"creator": "nobody"}, []),
        ({"bots": True}, [bank]),
        ({"bots": False}, [fast, slow, toy]),
        ({"game": MONKEYS, "bots": False, "clock": "turn", "speed": "minutes"}, [fast]),
        ({"creator": "host", "seats": 2, "bots": True}, [bank]),
    ]
    for wanted, expected in found:
        assert sorted(ids(arena, **wanted)) == sorted(expected), wanted


def test_every_pair_of_properties_finds_what_both_find() -> None:
    arena = Arena()
    clocks: tuple[Mapping[str, int] | None, ...] = (None, {"turn_seconds": 60}, {"bank_seconds": 90_000})
    for number, (clock, treachery, seats) in enumerate(product(clocks, (True, False), (2, 3, 4))):
        bots = ("random",) * (number % 2)
        match_id = arena.create(
            MONKEYS, seats, clock=clock, options={"treachery": treachery}, bots=bots, by="abc"[number % 3]
        )
        if number % 4 == 3 and seats > 2:
            arena.join(match_id, "guest")
        arena.wait(1)
    values: Mapping[str, tuple[Any, ...]] = {
        "game": (MONKEYS,),
        "seats": (2, 4),
        "free_seats": (1, 3),
        "clock": ("none", "turn"),
        "speed": ("minutes", "days"),
        "option": (("treachery:true",), ("treachery:false",)),
        "creator": ("a", "c"),
        "bots": (True, False),
    }
    single = {(name, value): ids(arena, **{name: value}) for name, choices in values.items() for value in choices}
    for (one, first), (other, second) in combinations(single, 2):
        if one != other:
            both = [match for match in single[one, first] if match in single[other, second]]
            assert ids(arena, **{one: first, other: second}) == both, (one, first, other, second)


@pytest.mark.parametrize("size", [1, 3, 7])
def test_pages_have_every_match_once_while_others_come_and_go(size: int) -> None:
    arena = Arena()
    tables = []
    for _ in range(20):
        tables.append(arena.create(seats=2))
        arena.wait(5)
    found: list[str] = []
    before: IndexEntry | None = None
    while True:
        views, before = open_page(arena.ports, Wanted(game="toy", free_seats=2), before, size)
        found += [view.id for view in views]
        if before is None:
            break
        arena.wait(5)
        if arena.match(tables[0]).status == "open":
            arena.join(tables[0], "anna", "ben")  # starts while the pages are read
        arena.create(by=f"late-{len(found)}")
    assert found == [*reversed(tables[1:])]


def test_a_match_is_found_by_its_free_seats_as_they_are_taken_and_left() -> None:
    arena = Arena()
    table = arena.create(seats=3)
    for action, free in ((arena.join, 2), (arena.leave, 3), (arena.join, 2)):
        action(table, "anna")
        assert [number for number in range(1, 5) if ids(arena, free_seats=number)] == list(range(1, free + 1))
    arena.join(table, "ben", "carl")
    assert arena.index.find(NO_FACETS, None, 9) == []


def test_index_entries_are_right_after_concurrent_commands_in_any_order() -> None:
    """A seat is taken and left at once, in every order: the lists are those of the newest version."""
    for order in range(4):
        arena = Arena()
        table = arena.join(arena.create(seats=3), "anna")
        meanwhile = arena.log.afterwards if order % 2 else arena.log.meanwhile
        meanwhile.append(partial(arena.leave, table, "anna"))
        arena.join(table, "ben", *(["carl"] if order > 1 else []))
        match = arena.match(table)
        expected = lookups(facets_of(match))
        assert all(arena.index.find(lookup, None, 9) for lookup in expected)


def test_entries_that_a_crash_left_are_removed_by_readers_and_new_ones_stay() -> None:
    arena = Arena()
    table = arena.create()
    facets = facets_of(arena.match(table))
    arena.index.file("dead", START, facets)
    arena.index.file(table, START - 5, facets)
    arena.index.file(table, START, facets | {"free_seats=3"})
    assert ids(arena, game="toy") == [table]
    assert ids(arena, free_seats=3) == []
    assert len(arena.index.find(frozenset({"game=toy"}), None, 9)) == 2
    arena.wait(IN_FLIGHT_MS + 1)
    assert ids(arena, game="toy") == [table]
    assert arena.index.find(frozenset({"game=toy"}), None, 9) == [IndexEntry(START, table)]
    assert arena.index.find(frozenset({"free_seats=3"}), None, 9) == []


def test_an_invalid_filter_is_refused() -> None:
    arena = Arena()
    for wanted, code in (
        ({"game": "chess"}, "game-not-found"),
        ({"option": ("dragons:true",)}, "invalid-parameter"),
        ({"option": ("treachery:7",)}, "invalid-parameter"),
        ({"option": ("treachery:",)}, "invalid-parameter"),
        ({"option": ("treachery",)}, "invalid-parameter"),
        ({"game": "toy", "option": ("treachery:true",)}, "invalid-parameter"),
    ):
        refused(code, open_page, arena.ports, Wanted(**wanted), None, 9)


def test_a_player_s_public_matches_are_listed_and_private_ones_are_not() -> None:
    arena = Arena()
    arena.ports.accounts.add(Player("anna", "Anna", START), "digest")
    shown = []
    for number in range(6):
        table = arena.create(private=number % 2 == 0, by="anna" if number < 2 else "host")
        if number >= 2:
            arena.join(table, "anna")
        if number % 2:
            shown.append(table)
        arena.wait(1)
    arena.leave(arena.join(arena.create(), "anna"), "anna")
    found: list[str] = []
    before: IndexEntry | None = None
    while True:
        views, before = player_page(arena.ports, "anna", before, 2)
        assert before is None or before.match_id in shown, "a cursor names a private match"
        found += [view.id for view in views]
        if before is None:
            break
    assert found == shown[::-1]
    arena.leave(shown[0], "anna")
    assert [view.status for view in player_page(arena.ports, "anna", None, 9)[0]] == ["open", "open", "aborted"]
    refused("player-not-found", player_page, arena.ports, "ben", None, 9)
