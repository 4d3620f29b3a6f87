"""Outages: the lost time is given back to a match before its next event or deadline."""

from itertools import product
from typing import Any, Final

import pytest

from service.audit.match_file import export
from service.audit.verify import verify
from service.automation.bot_turns import advance
from service.automation.deadlines import enforce
from service.match.model import GRACE_MS
from service.match.redaction import see_decisions
from tests.length import LONG
from tests.service.arena import START, Arena, refused
from tests.service.games.toy.game import TOY

COUNTDOWN: Final = 1_000
TRICK: Final = 30_000
TURN: Final = 60_000
LENGTHS: Final = (300, 1_000, 2_900, 3_100, 10_000, 3_600_000)
POLICIES: Final[tuple[dict[str, Any], ...]] = (
    {"turn_seconds": 60},
    {"turn_seconds": 60, "on_timeout": "resign"},
    {"turn_seconds": 60, "on_timeout": "bot"},
    {"bank_seconds": 60, "increment_seconds": 60},
)
BEFORE: Final = (TURN - 600, TURN - 5_000, 1_000)
CASES: Final = list(product(LENGTHS, POLICIES, BEFORE))
SHORT: Final = CASES[::5]
"""Each length, each policy and each time of these occurs."""
ENDS: Final = {"default_action", "resigned", "seat_handed_over"}


def with_clock(clock: dict[str, Any]) -> tuple[Arena, str, str]:
    """A match that has just begun, and the player whose turn it is."""
    arena = Arena()
    table = arena.join(arena.create("monkeys_on_the_moon", clock=clock), "anna", "ben")
    return arena, table, next(one for one in ("anna", "ben") if arena.legal(table, one))


def passes_verification(arena: Arena, table: str) -> bool:
    return bool(verify(list(export(arena.ports, arena.play_out(table))), arena.ports.games))


@pytest.mark.long
@pytest.mark.parametrize(("ms", "clock", "before"), CASES if LONG else SHORT, ids=str)
def test_an_outage_costs_a_seat_no_time(ms: int, clock: dict[str, Any], before: int) -> None:
    """`before`: milliseconds from the start of the turn to the start of the outage."""
    for acts in (True, False):
        arena, table, player = with_clock(clock)
        opened = arena.version(table)
        arena.wait(before)
        arena.be_away(ms)
        arena.wait(TURN - before - 1)
        enforce(arena.ports, table)
        if acts:
            arena.act(table, player)
            assert arena.types(table)[-1] == "action"
        else:
            arena.wait(1 + GRACE_MS)
            enforce(arena.ports, table)
            assert arena.types(table)[opened : opened + 1] == ["clock_extended"]
            assert arena.types(table)[opened + 1] in ENDS
            assert arena.match(table).paused == ms
        # What follows in the match does not depend on the time before the outage, so one of these matches is played to its end.
        assert before != BEFORE[0] or passes_verification(arena, table)


@pytest.mark.parametrize("ms", LENGTHS)
def test_an_outage_in_a_long_turn_needs_no_event(ms: int) -> None:
    arena, table, player = with_clock({"turn_seconds": 3_700})
    arena.be_away(ms)
    arena.act(table, player)
    assert "clock_extended" not in arena.types(table)
    assert {one.deadline for one in see_decisions(arena.match(table), None)} == {arena.time + 3_700_000}


def test_an_outage_costs_a_bank_nothing() -> None:
    arena, table, player = with_clock({"bank_seconds": 60})
    arena.wait(10_000)
    arena.be_away(1_000)
    arena.wait(5_000)
    arena.act(table, player)
    assert arena.types(table)[-2:] == ["clock_extended", "action"]
    assert arena.data(table, -1) == {"ms": 1_000, "reason": "outage"}
    assert sorted(arena.match(table).banks) == [45_000, 60_000]
    arena.wait(1_000)
    arena.play_out(table)
    assert arena.types(table).count("clock_extended") == 1


def test_a_player_who_leaves_does_not_use_up_the_time_given_back_to_the_next() -> None:
    arena, table, player = with_clock({"turn_seconds": 60})
    arena.wait(50_000)
    arena.be_away(2_000)
    arena.leave(table, "ben" if player == "anna" else "anna")
    assert arena.types(table)[-2:] == ["clock_extended", "resigned"]
    arena.wait(9_900)
    arena.act(table, player)
    assert passes_verification(arena, table)


def test_a_refused_command_gives_nothing_back() -> None:
    arena, table, player = with_clock({"bank_seconds": 60})
    arena.be_away(1_000)
    before = arena.log.contents()
    refused("invalid-action", arena.act, table, player, {"type": "none"})
    refused("not-seated", arena.leave, table, "carl")
    assert arena.log.contents() == before


@pytest.mark.parametrize("ms", LENGTHS)
def test_an_outage_postpones_a_timer_once(ms: int) -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    arena.wait(COUNTDOWN + TRICK - 600)
    arena.be_away(ms)
    arena.act(table, "anna")
    assert arena.types(table)[-2:] == ["clock_extended", "action"]
    arena.wait(599)
    enforce(arena.ports, table)
    arena.act(table, "ben")
    assert arena.types(table).count("clock_extended") == 1
    assert passes_verification(arena, table)


def test_a_bots_action_does_not_use_up_the_time_given_back_to_others() -> None:
    arena = Arena()
    table = arena.toy("anna", bots=("high",))
    arena.wait(COUNTDOWN + TRICK - 600)
    arena.be_away(1_000)
    while advance(arena.ports, table):
        pass
    assert arena.types(table)[4:6] == ["clock_extended", "action"]
    arena.wait(599)
    enforce(arena.ports, table)
    arena.act(table, "anna")
    assert passes_verification(arena, table)


def test_an_action_that_was_received_during_an_outage_counts_from_its_receipt() -> None:
    """The action waited in its process for the log, and its deadline passed meanwhile."""
    arena = Arena()
    table = arena.toy("anna", "ben")
    assert TOY.info.simultaneous
    arena.time = START + COUNTDOWN + TRICK - 100
    arena.be_away(1_000)
    arena.time -= 800
    arena.act(table, "anna")
    assert arena.types(table)[-2:] == ["clock_extended", "action"]
    assert arena.data(table, -1)["ms"] == 200
    arena.wait(800 + 99)
    arena.act(table, "ben")
    assert arena.match(table).paused == 1_000
