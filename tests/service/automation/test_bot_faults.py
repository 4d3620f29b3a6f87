"""Faults of rules, seeds and logs: the match is suspended or tried again, and never stops without a log line."""

import logging
from dataclasses import replace
from typing import Any

import pytest

from events.log import LogUnavailable
from service.automation.bot_turns import advance
from service.automation.deadlines import resume
from service.errors import Corrupt
from service.games.monkeys_on_the_moon.game import GAME as MONKEYS
from service.games.protocol import IllegalAction
from service.match.due_times import KINDS, due_times
from service.observability.logfmt import Logfmt
from service.repository.match_history import History
from tests.service.arena import Arena, due_kinds, refused, unavailable, with_bot
from tests.service.games.toy.game import TOY


def broken(**parts: Any) -> Arena:
    return Arena(replace(TOY, **parts), MONKEYS)


def fail(*_: Any) -> Any:
    raise ZeroDivisionError


def invalid_effects(_state: Any, _move: Any, _rng: Any) -> Any:
    return ("no effect",)


def refuse_all(_state: Any, _move: Any, _rng: Any) -> Any:
    raise IllegalAction("not-asked", "TOY-20")


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"observation": fail, "decide": fail}, "ZeroDivisionError"),
        ({"decide": invalid_effects}, "RuntimeError"),
        ({"decide": refuse_all}, "Refused"),
    ],
)
def test_rules_that_fail_suspend_the_match_and_it_can_be_resumed(parts: dict[str, Any], reason: str) -> None:
    """A match at the step with a default action, where the rules raise when they apply it."""
    sound = Arena()
    table = sound.toy("anna", bots=("high",))
    sound.ring(table)
    assert sound.match(table).state.step == "swap"
    games = {"toy": replace(TOY, **parts)}
    failing = replace(sound.ports, games=games, history=History(sound.log, games, sound.ports.secret))
    assert advance(failing, table) is False
    assert sound.types(table)[-1] == "match_suspended"
    assert sound.data(table) == {"reason": reason}
    assert sound.log.next_due(KINDS) is None
    match = sound.match(table)
    assert (match.status, match.decisions(), set(due_times(match).values())) == ("suspended", (), {None})
    refused("match-suspended", sound.act, table, "anna", {"type": "keep"})
    refused("match-suspended", sound.leave, table, "anna")
    sound.wait(90_000)
    resumed = resume(sound.ports, table)
    assert (resumed.status, resumed.paused) == ("running", 90_000)
    assert sound.jobs.hinted[-1] == table
    assert sound.play_out(table).status == "finished"


def test_a_scoring_that_fails_suspends_the_match() -> None:
    arena = broken(score=fail)
    table = arena.toy("anna", "ben", tricks=1)
    arena.wait(1_000)
    arena.act(table, "anna")
    arena.act(table, "ben")
    assert advance(arena.ports, table) is False
    assert arena.data(table) == {"reason": "ZeroDivisionError"}
    assert advance(arena.ports, table) is False
    assert arena.types(table).count("match_suspended") == 1


def test_a_timer_that_fails_suspends_the_match() -> None:
    arena = broken(decide=fail)
    table = arena.toy("anna", "ben")
    arena.ring(table)
    assert arena.types(table)[-1] == "match_suspended"
    assert arena.log.scheduled("clock") == ()


def test_a_lost_seed_suspends_the_match_before_a_draw_is_made_without_it() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    arena.log.forget_seed(table)
    arena.ring(table)
    assert arena.data(table) == {"reason": "Corrupt"}


def test_a_bot_is_not_blamed_for_a_lost_seed() -> None:
    arena = Arena()
    table = arena.toy(bots=("high", "high", "high", "high"), hand=5, tricks=50)
    while len(arena.match(table).state.deck) > 4:
        arena.time += 1_000
        advance(arena.ports, table)
    arena.log.forget_seed(table)
    while arena.match(table).status == "running":
        arena.time += 1_000
        advance(arena.ports, table)
    assert arena.data(table) == {"reason": "Corrupt"}
    assert "default_action" not in arena.types(table)


def test_a_match_that_cannot_be_read_is_not_advanced() -> None:
    arena = Arena()
    table = arena.toy("anna", bots=("high",))
    arena.log.rewrite(table, (*arena.log.stored(table)[:3], b"{}"))
    with pytest.raises(Corrupt):
        advance(arena.ports, table)
    refused("match-not-found", advance, arena.ports, "nowhere")


def test_a_log_that_does_not_answer_suspends_nothing() -> None:
    arena = Arena()
    table = arena.monkeys(bots=("random", "greedy"))
    arena.log.meanwhile = [unavailable]
    with pytest.raises(LogUnavailable):
        advance(arena.ports, table)
    arena.log.afterwards = [unavailable]
    with pytest.raises(LogUnavailable):
        advance(arena.ports, table)
    assert arena.types(table)[-1] == "action"
    assert arena.play_out(table).status == "finished"


def test_an_unavailable_seed_is_not_counted_as_a_failure_of_the_bot() -> None:
    arena = with_bot(lambda *_: unavailable())
    table = arena.monkeys(bots=("custom", "custom"))
    with pytest.raises(LogUnavailable):
        advance(arena.ports, table)
    assert arena.types(table)[-1] == "match_started"


def test_a_bot_may_wait_for_others_if_a_timer_ends_the_wait(caplog: pytest.LogCaptureFixture) -> None:
    steps: list[str] = []

    def wait(task: Any, _: Any) -> Any:
        steps.append(task.step)

    arena = with_bot(wait)
    table = arena.opened("anna", "ben", bots=("custom",))
    arena.work(table)
    assert due_kinds(arena.match(table), arena.time) == ["clock"]
    for player in ("anna", "ben"):
        arena.act(table, player)
        arena.work(table)
    assert steps == ["commit"] * 3
    assert not caplog.records
    arena.ring(table)
    assert arena.types(table)[-1] == "timer"


def test_a_bot_that_waits_in_a_step_without_a_timer_has_failed() -> None:
    arena = with_bot(lambda *_: None)
    table = arena.monkeys(bots=("custom", "random"))
    advance(arena.ports, table)
    reasons = {
        arena.data(table, event.version)["reason"] for event in arena.events(table) if event.type == "default_action"
    }
    assert reasons == {"bot-failed"}


def reveal_hand(task: Any, _rng: Any) -> Any:
    held = ", ".join(task.observation.hand)
    raise ValueError(f"a hand of {held}", task)


def lines_of(records: list[logging.LogRecord]) -> list[str]:
    """The line of each record without its time, whose digits may look like a card."""
    return [Logfmt().format(record).partition("Z ")[2] for record in records]


def test_a_failed_bot_is_logged_with_a_location_and_without_its_hand(caplog: pytest.LogCaptureFixture) -> None:
    arena = with_bot(reveal_hand)
    table = arena.opened("anna", bots=("custom",))
    arena.work(table)
    (line,) = lines_of(caplog.records)
    hand = arena.match(table).state.hands[0]
    assert hand
    assert not [card for card in hand if card in line]
    assert "bot_faults.py" in line
    assert "in reveal_hand" in line
    assert line.endswith('ValueError"')


def test_failed_rules_are_logged_with_a_location_and_without_the_state(caplog: pytest.LogCaptureFixture) -> None:
    def decide(state: Any, _move: Any, _rng: Any) -> Any:
        raise KeyError(state.deck, state.hands)

    arena = broken(decide=decide)
    table = arena.toy("anna", "ben")
    arena.ring(table)
    assert arena.data(table) == {"reason": "KeyError"}
    line, suspended = lines_of(caplog.records)
    assert suspended.endswith(f'"match {table} is suspended at version {arena.version(table)}"')
    state = arena.match(table).state
    assert not [card for card in (*state.deck, *state.hands[0], *state.hands[1]) if card in line]
    assert line.endswith('KeyError"')
