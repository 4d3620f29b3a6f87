"""A match as it is shown: to everyone in a list, and to one viewer with the table."""

import msgspec

from events.record import canonical
from service import accounts
from service.match_events import MatchClock
from service.match_views import see, summaries
from tests.service.arena import START, Arena


def test_a_view_shows_the_seats_the_clock_and_what_is_open() -> None:
    arena = Arena()
    table = arena.toy("anna", bots=("high",), turn_seconds=30)
    arena.leave(table, "anna")
    match = arena.match(table)
    view = see(arena.ports, match, 1)
    assert [(seat.player, seat.name, seat.kind, seat.resigned) for seat in view.seats] == [
        ("high", "high", "bot", False),
        ("anna", None, "human", True),
    ]
    assert (view.status, view.clock, view.creator, view.viewer) == (
        "running",
        MatchClock(turn_seconds=30, bot_pace_ms=0),
        "host",
        1,
    )
    assert (view.version, view.head) == (arena.version(table), match.head.hash)
    assert (view.created_at, view.started_at, view.ended_at) == (START, START, None)
    assert (view.outcome, view.server_seed, view.join_code) == (None, None, msgspec.UNSET)
    assert bytes(view.observation) == msgspec.json.encode(match.game.observation(match.state, 1))


def test_a_seat_shows_the_name_that_its_player_has_now() -> None:
    arena = Arena()
    player, _ = accounts.sign_up(arena.ports, "Anna")
    table = arena.join(arena.create(seats=3), player.id, "gone")
    (summary,) = summaries(arena.ports, [arena.match(table)])
    assert [seat.name for seat in summary.seats] == ["Anna", None, None]


def test_a_view_of_a_match_that_waits_for_players_shows_free_seats_and_no_table() -> None:
    arena = Arena()
    view = see(arena.ports, arena.match(arena.create(seats=3)), None, "code")
    assert [(seat.player, seat.kind) for seat in view.seats] == [(None, None)] * 3
    assert (view.observation, view.decisions, view.clock, view.join_code) == (None, (), None, "code")


def test_the_seed_is_shown_after_the_end() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    seed = arena.log.seed(table)
    assert seed is not None
    match = arena.play_out(table)
    assert see(arena.ports, match, None).server_seed == seed.hex()
    for version in range(1, match.head.version):
        then = arena.ports.history.at(table, version)
        assert seed.hex().encode() not in canonical(see(arena.ports, then, 0))
