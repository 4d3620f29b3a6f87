"""What a rated match must be, and what is refused in it."""

from typing import Any, Final

import pytest
from msgspec.structs import replace

from service.games.registry import GAMES
from service.match.due_times import due_times
from service.match.events import MatchClock
from service.match.new_match import DEFAULT_CLOCK, NewMatch, checked_options
from service.usecases import match_lifecycle, mid_match
from service.usecases.finding import Wanted, open_page
from service.usecases.rematch import rematch
from tests.service.arena import Arena, due_kinds, refused

RATED: Final = {
    game: NewMatch(game, max(info.info.seats), clock=None if info.info.keeps_time else DEFAULT_CLOCK, rated=True)
    for game, info in GAMES.items()
}


@pytest.mark.parametrize("game", GAMES)
def test_a_rated_match_has_the_default_options_or_those_of_a_variant(game: str) -> None:
    wanted, hosted = RATED[game], GAMES[game]
    for options in ({}, *hosted.info.variants.values()):
        found = checked_options(hosted, replace(wanted, options=options))
        assert checked_options(hosted, replace(wanted, options=options, rated=False)) == found
        for seats in hosted.info.seats[-2:]:
            checked_options(hosted, replace(wanted, options=options, seats=seats))


@pytest.mark.parametrize(
    ("game", "parameter", "other"),
    [
        ("ape_town", "private", {"private": True}),
        ("ape_town", "bots", {"bots": ("random",)}),
        ("ape_town", "clock", {"clock": None}),
        ("ape_town", "clock", {"clock": MatchClock(bot_pace_ms=10)}),
        ("monsters_on_the_moon", "seats", {"seats": 1}),
        ("monsters_on_the_moon", "options", {"options": {"missions": "open", "walls": True}}),
        ("monsters_on_the_moon", "options", {"seats": 2, "options": {"monsters": ["witch", "vampire"]}}),
        ("four_monkeys", "options", {"options": {"countdown_seconds": 0}}),
        ("four_monkeys", "options", {"options": {"family": True, "round_seconds": 240}}),
    ],
)
def test_a_rated_match_is_public_timed_and_usual_and_has_only_people(
    game: str, parameter: str, other: dict[str, Any]
) -> None:
    wanted = replace(RATED[game], **other)
    refusal = refused("invalid-options", checked_options, GAMES[game], wanted)
    assert refusal.facts["parameter"] == parameter
    checked_options(GAMES[game], replace(wanted, rated=False))


def rated(arena: Arena, **more: Any) -> str:
    return arena.create(turn_seconds=20, rated=True, **more)


def test_a_rated_match_takes_no_bot_is_not_aborted_and_no_seat_is_taken_back() -> None:
    arena = Arena()
    table = rated(arena)
    refused("match-rated", match_lifecycle.add_bot, arena.ports, "host", table, "bot", bot="high")
    arena.join(table, "anna", "ben")
    refused("match-rated", mid_match.ask_abort, arena.ports, "anna", table, "abort")
    clock = {"turn_seconds": 20, "on_timeout": "bot"}
    lost = arena.join(arena.create("monkeys_on_the_moon", clock=clock, rated=True), "anna", "ben")
    slow = ("anna", "ben")[arena.match(lost).decisions()[0].seat]
    arena.ring(lost)
    arena.work(lost)
    refused("match-rated", mid_match.take_back, arena.ports, slow, lost, "return")


def test_only_the_append_that_ends_a_rated_match_makes_its_rating_due() -> None:
    arena = Arena()
    table = arena.join(rated(arena), "anna", "ben")
    assert "rating" not in due_times(arena.match(table))
    match = arena.play_out(table)
    assert due_times(match)["rating"] == match.ended_at
    assert [due.match for due in arena.log.scheduled("rating")] == [table]
    plain = arena.join(arena.create(turn_seconds=20), "anna", "ben")
    assert due_kinds(arena.play_out(plain)) == []
    left = rated(arena)
    arena.leave(left, "host")
    assert "rating" not in due_times(arena.match(left))


def test_a_rematch_of_a_rated_match_is_rated() -> None:
    arena = Arena()
    table = arena.join(rated(arena), "anna", "ben")
    arena.play_out(table)
    assert rematch(arena.ports, "anna", table).match.created.rated is True


def test_a_creation_key_of_a_match_that_is_not_rated_creates_no_rated_one() -> None:
    arena = Arena()
    arena.create(turn_seconds=20, key="one")
    refused("idempotency-key-reused", rated, arena, key="one")
    assert rated(arena, key="two") == rated(arena, key="two")


def test_open_matches_are_found_by_rated_and_by_the_ratings_of_their_people() -> None:
    arena = Arena()
    plain, for_rating = arena.create(turn_seconds=20), rated(arena)

    def found(**wanted: Any) -> set[str]:
        return {one.id for one in open_page(arena.ports, Wanted(**wanted), None, 9)[0]}

    assert (found(rated=True), found(rated=False), found(game="toy")) == ({for_rating}, {plain}, {plain, for_rating})
    assert found(rating_from=1000, rating_to=1000) == {plain, for_rating}
    assert found(rating_from=1001) == found(rating_to=999) == found(rated=True, rating_to=999) == set()
