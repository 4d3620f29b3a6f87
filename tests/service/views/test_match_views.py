"""Views of a match: the summary in lists, and the full view of one viewer."""

import msgspec

from events.record import canonical
from service.match.events import MatchClock
from service.usecases import accounts
from service.views.match_views import see, summaries
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
    table = arena.join(arena.create(seats=3, by=player.id), player.id, "gone")
    (summary,) = summaries(arena.ports, [arena.match(table)])
    assert [seat.name for seat in summary.seats] == ["Anna", None, None]
    assert summary.creator_name == "Anna"
    assert see(arena.ports, arena.match(arena.create()), None).creator_name is None


def test_a_seat_that_a_bot_took_over_shows_its_former_player() -> None:
    arena = Arena()
    player, _ = accounts.sign_up(arena.ports, "Anna")
    clock = {"bank_seconds": 20, "on_timeout": "bot"}
    table = arena.join(arena.create("monkeys_on_the_moon", 2, clock=clock), player.id, "gone")
    arena.ring(table)
    (summary,) = summaries(arena.ports, [arena.match(table)])
    lost, kept = sorted(summary.seats, key=lambda seat: seat.kind or "")
    assert (lost.kind, lost.former, lost.former_name) in [("bot", player.id, "Anna"), ("bot", "gone", None)]
    assert (kept.kind, kept.former, kept.former_name) == ("human", None, None)


def test_banks_are_shown_for_every_seat() -> None:
    arena = Arena()
    table = arena.join(
        arena.create("toy", 2, clock={"bank_seconds": 60}, options={"tricks": 3, "hand": 3}), "anna", "ben"
    )
    arena.wait(1_000)
    arena.act(table, "anna", arena.legal(table, "anna")[0])
    views = [see(arena.ports, arena.match(table), viewer) for viewer in (0, 1, None)]
    assert [view.banks for view in views] == [(59_000, 60_000)] * 3
    assert see(arena.ports, arena.match(arena.toy("anna", "ben")), 0).banks == ()


def test_the_view_of_an_open_match_has_free_seats_and_no_observation() -> None:
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
