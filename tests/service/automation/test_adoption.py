"""Open matches that an older release stored get their due times, count as held seats, and are in all lists."""

from service.automation.adoption import adopt
from service.match.facets import facets_of
from service.match.model import OPEN_MS
from service.repository.ports import Player
from service.usecases.finding import Wanted, open_page
from service.usecases.held_seats import count_seats
from service.usecases.match_lists import player_page
from tests.service.arena import START, Arena


def forget(arena: Arena, table: str) -> None:
    """Remove what an older release did not store of an open match."""
    match = arena.match(table)
    arena.log.rearm(table, match.head.version, {"open": None})
    arena.index.unfile(table, match.created_at, facets_of(match))
    for player in match.players:
        arena.index.release_seat(player, table, match.created_at)
        arena.index._own_lists[player, "public"].clear()


def found(arena: Arena) -> set[str]:
    return {view.id for view in open_page(arena.ports, Wanted(game="toy"), None, 200)[0]}


def test_open_matches_are_taken_over_once() -> None:
    arena = Arena()
    arena.format_number = 1
    old = arena.join(arena.create(seats=3), "anna")
    hidden = arena.join(arena.create(seats=3, private=True), "anna")
    running = arena.join(arena.create(seats=2), "anna", "ben")
    for table in (old, hidden):
        forget(arena, table)
    arena.format_number = 2
    new = arena.join(arena.create(seats=3), "ben")
    arena.index.add("dead", START, "host", private=False)
    arena.time += 5
    assert found(arena) == {new}
    assert (adopt(arena.ports), adopt(arena.ports)) == (2, 0)
    assert {due.match: due.at for due in arena.log.scheduled("open")} == dict.fromkeys(
        (old, hidden, new), START + OPEN_MS
    )
    assert {entry.match_id for _, entry in arena.index.held_seats("anna")} == {old, hidden}
    assert found(arena) == {old, new}
    arena.ports.accounts.add(Player("anna", "Anna", START), "digest")
    assert {view.id for view in player_page(arena.ports, "anna", None, 9)[0]} == {old, running}


def test_a_match_that_cannot_be_read_stops_no_other() -> None:
    arena = Arena()
    tables = [arena.create(seats=3) for _ in range(3)]
    for table in tables:
        forget(arena, table)
    arena.log.rewrite(tables[1], [b"{}"])
    assert adopt(arena.ports) == 2


def test_a_process_that_stops_ends_the_walk_and_the_next_one_goes_on() -> None:
    arena = Arena()
    table = arena.create(seats=3)
    forget(arena, table)
    assert adopt(arena.ports, lambda: False) == 0
    assert not arena.index.is_published()
    assert adopt(arena.ports) == 1


def test_public_lists_that_an_older_release_did_not_write_are_filled_once() -> None:
    arena = Arena()
    arena.ports.accounts.add(Player("anna", "Anna", START), "digest")
    over, running = arena.toy("anna", "ben"), arena.toy("anna", "ben")
    arena.play_out(over)
    arena.join(arena.create(private=True), "anna")
    arena.index._own_lists.pop(("anna", "public"))
    assert player_page(arena.ports, "anna", None, 9) == ((), None)
    adopt(arena.ports)
    assert {view.id for view in player_page(arena.ports, "anna", None, 9)[0]} == {over, running}
    arena.index._own_lists.pop(("anna", "public"))
    adopt(arena.ports)
    assert player_page(arena.ports, "anna", None, 9) == ((), None), "the walk over all matches is done once"


def test_only_seats_of_open_matches_are_counted_again() -> None:
    arena = Arena()
    match = arena.match(arena.toy("anna", "ben"))
    count_seats(arena.ports, match)
    assert list(arena.index.held_seats("anna")) == []
