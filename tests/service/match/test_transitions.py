"""What single events change: banks, openings, requests to abort, lost time, and what a hosted bot did last."""

from typing import Any, Final

import msgspec
import pytest

from events.record import decode
from service.match.fold import begin, step
from service.match.model import LastMove, Match, Opening
from tests.service.arena import COUNTDOWN, Arena, one_more
from tests.service.audit.hosted_files import hosted

BANK: Final = 60_000
HANDED_OVER: Final[dict[str, Any]] = {"player": "random", "kind": "bot", "reason": "clock"}


def lost(match: Match, ms: int) -> Match:
    """The match after an outage of so many milliseconds was given back."""
    return one_more(match, "clock_extended", {"ms": ms, "reason": "outage"}, at=match.at + ms)


def with_banks() -> tuple[Arena, str]:
    """A toy match of three people whose first trick has just opened, with a bank of a minute."""
    arena = Arena()
    table = arena.create("toy", 3, clock={"bank_seconds": BANK // 1000})
    arena.join(table, "anna", "ben", "cleo")
    arena.wait(COUNTDOWN)
    return arena, table


def test_lost_times_add_up() -> None:
    arena = Arena()
    match = arena.match(arena.toy("anna", "ben"))
    assert [lost(match, 5).paused, lost(lost(match, 5), 3).paused] == [5, 8]


@pytest.mark.parametrize(("kind", "data"), [("resigned", {}), ("seat_handed_over", HANDED_OVER)])
def test_a_seat_that_is_left_or_lost_no_longer_asks_to_abort(kind: str, data: dict[str, Any]) -> None:
    arena = Arena()
    match = arena.match(arena.toy("anna", "ben", "cleo"))
    for seat in (0, 1):
        match = one_more(match, "abort_asked", {"seat": seat})
    match = one_more(match, kind, {"seat": 0, **data})
    assert match.abort_asked == (1,)


def test_a_bank_loses_the_time_since_the_decision_of_its_own_seat_opened() -> None:
    arena, table = with_banks()
    arena.act(table, "anna")
    arena.wait(4_000)
    arena.act(table, "ben")
    assert arena.match(table).banks == (BANK - 1_000, BANK - 5_000, BANK)
    arena.ring(table)
    assert arena.match(table).banks == (BANK - 1_000, BANK - 5_000, BANK)
    arena.wait(2_000)
    arena.act(table, "anna")
    assert arena.match(table).banks == (BANK - 3_000, BANK - 5_000, BANK)


def test_a_bank_without_an_increment_is_empty_after_its_deadline() -> None:
    arena = Arena()
    table = arena.join(arena.create("monkeys_on_the_moon", 2, clock={"bank_seconds": 10}), "anna", "ben")
    (decision,) = arena.match(table).decisions()
    arena.ring(table)
    assert arena.match(table).banks[decision.seat] == 0


def test_a_seat_that_is_handed_over_gets_a_full_bank_and_reopens_its_decision_alone() -> None:
    arena, table = with_banks()
    arena.wait(1_000)
    before = arena.match(table)
    for player in ("anna", "ben"):
        arena.act(table, player)
    arena.ring(table)
    match = lost(lost(arena.match(table), 700), 300)
    assert match.banks == (BANK - 2_000, BANK - 2_000, BANK)
    at = match.at + 50
    handed = one_more(match, "seat_handed_over", {"seat": 1, **HANDED_OVER}, at=at)
    opened = Opening(match.head.version + 1, at - 1_000)
    assert handed.banks == (BANK - 2_000, BANK, BANK)
    assert handed.opened == opened
    assert handed.open_decisions == match.open_decisions != before.open_decisions
    own = [decision.seat for decision in match.open_decisions].index(1)
    assert handed.since == (*match.since[:own], opened, *match.since[own + 1 :])
    kept = {"seat": 1, "action": {"type": "keep"}, "effects": [], "reason": "bot-failed"}
    assert one_more(handed, "default_action", kept, at=at + 10).banks == (BANK - 2_000, BANK - 10, BANK)


def test_the_last_move_of_each_hosted_bot_is_known_and_of_nobody_else() -> None:
    _, *stored = hosted()
    match, expected = begin(msgspec.json.decode(hosted()[0])["match"], stored[0], Arena().ports.games), {}
    for entry in stored[1:]:
        match, event = step(match, entry), decode(entry)
        data = msgspec.json.decode(event.data)
        if event.type in {"action", "default_action"} and data["seat"] in {0, 2}:
            expected[data["seat"]] = LastMove(event.version, data.get("reason"))
        assert match.last_moves == expected
