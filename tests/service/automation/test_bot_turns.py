"""What is played without people: bots, seats of players who left, and the scoring."""

from collections.abc import Callable
from typing import Any, Final

import msgspec
import pytest

from events.due import Due
from service.automation.bot_limits import MAX_SKIPPED, SKIP_MS, CircuitBreaker
from service.automation.bot_turns import BUDGET_MS, MOVES, advance
from service.match.model import GRACE_MS
from tests.length import LONG
from tests.service.arena import START, Arena, due_kinds, with_bot
from tests.service.games.toy.state import Commit, Keep

BOTH = ("random", "greedy")


def fail(*_: Any) -> Any:
    raise RuntimeError("no idea")


def entries(arena: Arena, table: str) -> list[Due]:
    """The due times of the match in the log."""
    claimed = [due for kind in ("job", "bots") for due in arena.log.claim(kind, 10**15, 0, 99)]
    return [*claimed, *(due for due in arena.log.scheduled("clock") if due.match == table)]


def test_bots_play_whole_matches() -> None:
    arena = Arena()
    for table in (arena.monkeys(bots=("random", "greedy", "random")), arena.toy(bots=("random", "high"))):
        assert arena.play_out(table).status == "finished"
        assert {event.by for event in arena.events(table) if event.type == "action"} == {
            f"bot:{holder.player}" for holder in arena.match(table).seats if holder
        }
        assert "default_action" not in arena.types(table)


def test_a_job_plays_on_until_a_person_is_next() -> None:
    arena = Arena()
    table = arena.monkeys("anna", bots=BOTH)
    assert advance(arena.ports, table) is False
    match = arena.match(table)
    assert {one.seat for one in match.decisions()} == {2}
    assert not any(due.kind == "job" for due in entries(arena, table))


def test_a_job_has_a_budget_of_moves_and_reports_that_more_is_due() -> None:
    arena = Arena()
    table = arena.monkeys(bots=BOTH)
    assert advance(arena.ports, table)
    assert arena.types(table).count("action") == MOVES
    assert advance(arena.ports, table, moves=3)
    assert arena.types(table).count("action") == MOVES + 3


def test_a_job_has_a_budget_of_time() -> None:
    arena = Arena()

    def slow(task: Any, _rng: Any) -> Any:
        arena.wait(BUDGET_MS // 2)
        return task.legal_actions[0]

    arena = with_bot(slow)
    table = arena.monkeys(bots=("custom", "custom"))
    assert advance(arena.ports, table)
    assert arena.types(table).count("action") == 2


def test_steps_in_a_job_do_not_hint_at_the_job() -> None:
    arena = Arena()
    table = arena.monkeys(bots=BOTH)
    arena.jobs.hinted.clear()
    arena.work(table)
    assert arena.jobs.hinted == []


def test_a_person_s_action_hints_at_the_match_if_bots_are_next() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben", bots=("high",))
    assert arena.jobs.hinted == []
    assert entries(arena, table)[0] == Due(table, "job", START + 1_000)
    arena.wait(1_000)
    arena.act(table, "anna")
    assert arena.jobs.hinted == [table]


def test_matches_without_people_delay_no_others() -> None:
    arena = Arena()
    arena.create("monkeys_on_the_moon", bots=("random", "random"))
    arena.monkeys("anna", bots=("random",))
    assert arena.jobs.lanes[0] == "bots"
    assert set(arena.jobs.lanes[1:]) <= {"turns"}
    table = arena.monkeys("anna", "ben")
    arena.jobs.lanes.clear()
    for player in ("anna", "ben"):
        arena.leave(table, player)
    assert arena.jobs.lanes[-1] == "bots"


def test_a_bot_waits_for_its_decision_to_open() -> None:
    arena = Arena()
    table = arena.toy(bots=("high", "high"), countdown_ms=5_000)
    assert advance(arena.ports, table) is False
    assert entries(arena, table) == [Due(table, "bots", START + 5_000)]
    arena.wait(4_999)
    assert advance(arena.ports, table) is False
    assert "action" not in arena.types(table)
    arena.wait(1)
    arena.work(table)
    assert arena.types(table).count("action") >= 2


def test_a_bot_that_plays_after_the_deadline_leaves_the_decision_to_the_clock() -> None:
    arena = Arena()
    for table, deadline in (
        (arena.toy(bots=("high", "high")), 31_000),
        (arena.monkeys(bots=BOTH, turn_seconds=60), 60_000),
    ):
        arena.time = START + deadline
        assert advance(arena.ports, table) is False
        assert arena.types(table)[-1] == "match_started"
        enforced_at = START + deadline + GRACE_MS
        assert [due for due in entries(arena, table) if due.match == table] == [Due(table, "bots", enforced_at)]
        arena.ring(table)
        assert arena.types(table)[4] in {"timer", "default_action"}
        arena.time = START


def test_a_bot_gets_the_same_observation_as_a_person_in_its_seat() -> None:
    tasks = []

    def record_task(task: Any, _rng: Any) -> Any:
        tasks.append(task)
        return task.legal_actions[0]

    arena = with_bot(record_task)
    table = arena.toy("anna", bots=("custom",))
    match = arena.match(table)
    arena.wait(1_000)
    advance(arena.ports, table)
    assert tasks[0].seat == 0
    assert tasks[0].step == "commit"
    assert tasks[0].observation == match.game.observation(match.state, 0)
    assert tasks[0].legal_actions == tuple(match.game.legal_actions(match.state, 0))


FAILING: Final[tuple[Callable[..., Any], ...]] = (
    fail,
    lambda *_: None,
    lambda *_: "pass",
    lambda *_: object(),
    lambda task, _: msgspec.structs.replace(task.legal_actions[0], card="no such card"),
    lambda task, _: msgspec.structs.replace(task.legal_actions[0], card=7),
    lambda *_: Commit("1-1"),
)


@pytest.mark.parametrize("choose", FAILING)
def test_a_bot_that_fails_gets_its_default_action(choose: Callable[..., Any]) -> None:
    arena = with_bot(choose)
    table = arena.monkeys(bots=("custom", "custom"))
    default = arena.match(table).decisions()[0].on_timeout
    advance(arena.ports, table, moves=1)
    event = arena.events(table)[-1]
    assert (event.type, event.by) == ("default_action", "worker")
    assert arena.data(table)["action"] == msgspec.to_builtins(default)
    assert arena.data(table)["reason"] == "bot-failed"


@pytest.mark.long
@pytest.mark.parametrize("choose", FAILING if LONG else FAILING[:1])
def test_a_match_of_bots_that_fail_ends(choose: Callable[..., Any]) -> None:
    arena = with_bot(choose)
    assert arena.play_out(arena.monkeys(bots=("custom", "custom"))).status == "finished"


def test_a_bot_that_returns_a_pattern_fails() -> None:
    arena = with_bot(lambda task, _: task.legal_actions[-1])
    table = arena.toy("anna", bots=("custom",))
    arena.wait(1_000)
    advance(arena.ports, table)
    arena.act(table, "anna")
    assert arena.match(table).state.step == "swap"
    arena.work(table)
    assert arena.data(table)["action"] == {"type": "keep"}
    assert arena.data(table)["reason"] == "bot-failed"


def test_a_bot_that_fails_in_a_step_without_default_action_waits_for_the_timer() -> None:
    arena = with_bot(fail)
    table = arena.toy("anna", bots=("custom", "high"))
    arena.wait(1_000)
    assert advance(arena.ports, table) is False
    assert [event.by for event in arena.events(table) if event.type == "action"] == ["bot:high"]
    assert [due.kind for due in entries(arena, table)] == ["clock"]
    assert advance(arena.ports, table) is False
    arena.act(table, "anna")
    arena.work(table)
    arena.ring(table)
    assert arena.types(table)[-1] == "timer"
    assert arena.play_out(table).status == "finished"


def test_a_bot_that_fails_does_not_affect_the_turns_of_other_bots() -> None:
    arena = with_bot(fail)
    table = arena.create("toy", 4, bots=("custom", "high", "custom", "high"), clock={"bot_pace_ms": 4_000})
    turns = [one.plays_at or 0 for one in arena.match(table).decisions() if one.seat in {1, 3}]
    while (due := entries(arena, table)[0]).at <= max(turns):
        arena.time = due.at
        advance(arena.ports, table)
    assert [event.at for event in arena.events(table) if event.by == "bot:high"] == sorted(turns)


def test_a_bot_that_failed_is_skipped_for_a_while() -> None:
    calls: list[int] = []

    def fail_and_record(*_: Any) -> Any:
        calls.append(arena.time)
        raise RuntimeError

    arena = with_bot(fail_and_record)
    table = arena.toy(bots=("custom", "high"), trick_ms=600_000)
    breaker = CircuitBreaker()
    arena.wait(1_000)
    for wait in (0, SKIP_MS - 1, 1):
        arena.wait(wait)
        advance(arena.ports, table, breaker=breaker)
    assert calls == [START + 1_000, START + 1_000 + SKIP_MS]


def test_a_limited_number_of_failures_is_remembered() -> None:
    breaker = CircuitBreaker()
    for number in range(MAX_SKIPPED + 1):
        breaker.skip("match", str(number), 0)
    assert [breaker.is_skipped("match", str(number), 1) for number in (0, 1, MAX_SKIPPED)] == [False, True, True]


def test_a_bot_s_action_is_parsed_like_a_person_s_request() -> None:
    arena = with_bot(lambda task, _: Keep() if task.step == "swap" else Commit(task.observation.hand[0]))
    table = arena.toy(bots=("custom", "custom"))
    assert arena.play_out(table).status == "finished"
    assert "default_action" not in arena.types(table)


# --- seats of players who left ----------------------------------------------------------------------------------------


def test_a_seat_whose_player_left_plays_default_actions() -> None:
    arena = Arena()
    table = arena.monkeys("anna", "ben")
    for player in ("anna", "ben"):
        arena.leave(table, player)
    assert arena.jobs.hinted[0] == table
    match = arena.play_out(table)
    assert match.status == "finished"
    later = [msgspec.json.decode(event.data) for event in arena.events(table) if event.type == "default_action"]
    assert {data["reason"] for data in later} == {"player-left"}
    assert "action" not in arena.types(table)


def test_a_seat_whose_player_left_waits_for_the_timer_in_a_step_without_default_action() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    arena.wait(1_000)
    arena.leave(table, "anna")
    assert due_kinds(arena.match(table)) == ["clock"]
    assert advance(arena.ports, table) is False
    assert arena.types(table)[-1] == "resigned"
    arena.ring(table)
    assert arena.types(table)[-1] == "timer"
    arena.work(table)
    assert arena.data(table)["reason"] == "player-left"
    assert arena.data(table)["seat"] == 0


def test_moves_right_after_an_outage_append_no_tiny_clock_extensions() -> None:
    """An outage counts until 2.5 s after its end, so that players can return. Meanwhile default actions are played."""
    arena = Arena()
    table = arena.join(arena.create("monkeys_on_the_moon", clock={"bank_seconds": 30}), "anna", "ben")
    arena.be_away(1_000)
    arena.outages.append((arena.time, arena.time + 2_500))
    arena.leave(table, "anna")
    arena.leave(table, "ben")
    before = arena.types(table).count("clock_extended")
    for _ in range(20):
        arena.wait(2)
        advance(arena.ports, table, moves=1)
    assert arena.types(table).count("clock_extended") == before
    assert "default_action" in arena.types(table)
