"""Which times count for a command: outages before it are given back, and an action counts from its receipt."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from events.chain import Draft
from events.log import Seen
from events.record import MatchId
from service.automation.deadlines import extend
from service.match.commands import Act, Command, Extend
from service.match.model import Match
from service.match.randomness import Chance
from service.usecases import submit as submitting
from service.usecases.submit import SILENCE_AFTER_DEADLINE_MS, SILENCE_MS, CommandKey, give_back, submit
from tests.service.arena import Arena
from tests.service.usecases.test_submit import optimistic, ping

AWAY_MS: Final = 2_000
TURN: Final = {"turn_seconds": 60}
BANK: Final = {"bank_seconds": 60}

Do = Callable[[Arena, MatchId, str, str], object]
"""Submits a command; the names are those of the player whose turn it is, and of the other one."""


def act(arena: Arena, table: MatchId, player: str, _other: str) -> None:
    arena.act(table, player)


def leave(arena: Arena, table: MatchId, _player: str, other: str) -> None:
    arena.leave(table, other)


def give_back_less(arena: Arena, table: MatchId, _player: str, _other: str) -> None:
    submit(arena.ports, table, CommandKey("id", ""), Extend(ms=AWAY_MS - 500))


@pytest.mark.parametrize(
    ("clock", "before", "do", "types", "silences"),
    [
        pytest.param(TURN, 1_000, act, ["action"], [], id="an action in a long turn"),
        pytest.param(BANK, 1_000, act, ["clock_extended", "action"], [SILENCE_MS], id="an action with a bank"),
        pytest.param(
            TURN, 59_000, act, ["clock_extended", "action"], [SILENCE_AFTER_DEADLINE_MS], id="an action that is late"
        ),
        pytest.param(TURN, 1_000, leave, ["clock_extended", "resigned"], [SILENCE_MS], id="a departure"),
        pytest.param(BANK, 1_000, give_back_less, ["clock_extended"], [], id="the service gives time back itself"),
    ],
)
def test_an_outage_is_given_back_once_before_a_command_that_it_could_cost_time(
    clock: dict[str, int], before: int, do: Do, types: list[str], silences: list[int]
) -> None:
    arena = Arena()
    table = arena.join(arena.create("monkeys_on_the_moon", clock=clock), "anna", "ben")
    match = arena.match(table)
    player, other = ("anna", "ben") if arena.legal(table, "anna") else ("ben", "anna")
    asked: list[tuple[int, int, int]] = []
    outages = arena.ports.lost

    def lost(start: int, end: int, silence_ms: int) -> int:
        asked.append((start, end, silence_ms))
        return outages(start, end, silence_ms)

    arena.ports = replace(arena.ports, lost=lost)
    arena.wait(before)
    arena.be_away(AWAY_MS)
    do(arena, table, player, other)
    assert arena.types(table)[match.head.version :] == types
    assert asked == [(match.at, arena.time, silence_ms) for silence_ms in silences]
    given_back = {"action": 0, "clock_extended": AWAY_MS}[types[0]] if do is not give_back_less else AWAY_MS - 500
    assert arena.match(table).paused == given_back


def test_all_processes_give_the_same_time_back_once() -> None:
    """Also processes of different releases: the command id and its digest stay the same."""
    arena = Arena()
    table = arena.toy("anna", "ben")
    match = arena.match(table)
    arena.wait(500)
    first, second = (give_back(arena.ports, match, 300, arena.time) for _ in range(2))
    assert first is not None
    assert second is not None
    assert (first.replayed, second.replayed, second.match.head) == (False, True, first.match.head)
    assert (arena.types(table)[4:], arena.data(table)) == (["clock_extended"], {"ms": 300, "reason": "outage"})
    assert arena.log.commands(table, "extend:") == {"extend:4": Seen(5, "clock")}


# --- the time of receipt ----------------------------------------------------------------------------------------------


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int | None, int | None]]:
    """The time of receipt of an action, and the pause at this time, as each attempt decides it."""
    found: list[tuple[int | None, int | None]] = []
    decide = submitting.decide  # type: ignore[attr-defined]  # where it is called

    def recorded(match: Match | None, command: Command, at: int, chance: Chance, outage_ms: int) -> tuple[Draft, ...]:
        if isinstance(command, Act):
            found.append((command.received_at, command.paused_ms))
        drafts: tuple[Draft, ...] = decide(match, command, at, chance, outage_ms)
        return drafts

    monkeypatch.setattr(submitting, "decide", recorded)
    return found


@pytest.mark.parametrize(
    ("before", "after", "paused_ms"), [(0, 300, 0), (2_000, 300, 2_000), (2_000, 0, None)], ids=str
)
def test_time_given_back_counts_for_an_action_if_that_was_before_its_receipt(
    attempts: list[tuple[int | None, int | None]], before: int, after: int, paused_ms: int | None
) -> None:
    """The process of the action has the match from before both. After a lost race it sees both."""
    arena = Arena()
    other_process = optimistic(arena)
    table = arena.opened("anna", "ben")
    action = arena.legal(table, "anna")[0]
    if before:
        arena.wait(before)
        extend(other_process, table, "before", before)
    received_at = arena.time

    def meanwhile() -> None:
        arena.wait(after)
        extend(other_process, table, "after", after)

    arena.log.meanwhile = [meanwhile] if after else []
    assert arena.ports.history.expected(table) is not None
    arena.act(table, "anna", action)
    assert attempts == [(received_at, None), (received_at, paused_ms)]
    assert arena.match(table).paused == before + after


def extend_meanwhile(arena: Arena, table: MatchId, ms: int) -> None:
    """Give back an outage of so many milliseconds before the next append, 100 ms from now."""

    def meanwhile() -> None:
        arena.wait(100)
        extend(arena.ports, table, "outage", ms)

    arena.log.meanwhile = [meanwhile]


def test_an_outage_that_another_process_gives_back_meanwhile_counts_once(
    attempts: list[tuple[int | None, int | None]],
) -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    arena.be_away(1_000)
    received_at = arena.time

    extend_meanwhile(arena, table, 1_000)
    arena.act(table, "anna")
    assert attempts == [(received_at, None)] * 2
    assert arena.match(table).paused == 1_000


def test_an_action_that_a_slow_clock_receives_before_all_known_events_has_the_pause_of_its_first_attempt(
    attempts: list[tuple[int | None, int | None]],
) -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    arena.wait(100)
    ping(arena, table)
    arena.time -= 50
    received_at = arena.time

    extend_meanwhile(arena, table, 20)
    arena.act(table, "anna")
    assert attempts == [(received_at, None), (received_at, 1)]
