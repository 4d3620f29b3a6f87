"""Tasks of hosted bots: what they have, for whom they are, and what became of the last answer."""

from typing import Any

import msgspec
import pytest

from service.automation.deadlines import fail
from service.match.model import Match
from service.match.redaction import legal_actions, own_decisions
from service.match.task import Task, task
from tests.service.arena import Arena, one_more


def task_of(match: Match, seat: int = 0, language: str = "en") -> Task:
    found = task(match, seat, language)
    assert found is not None
    return found


@pytest.fixture
def arena() -> Arena:
    return Arena()


def turn(arena: Arena, table: str) -> int:
    (decision,) = arena.match(table).decisions()
    return decision.seat


def monkeys(arena: Arena, **wanted: Any) -> str:
    """A match of two hosted bots."""
    bots = tuple(arena.host(bot) for bot in ("bt_one", "bt_two"))
    return arena.create("monkeys_on_the_moon", 2, bots=bots, **wanted)


def test_a_task_has_the_decision_and_all_that_its_seat_may_see(arena: Arena) -> None:
    table = monkeys(arena)
    match, seat = arena.match(table), turn(arena, table)
    made = task_of(match, seat)
    assert (made.task, made.match, made.version, made.head) == (
        f"{table}-{match.head.version}-{seat}",
        table,
        match.head.version,
        match.head.hash,
    )
    assert (made.game, made.ruleset, made.seat, made.seats) == ("monkeys_on_the_moon", 1, seat, 2)
    assert made.decision.id == own_decisions(match, seat)[0].id
    assert made.decision.deadline == match.at + 5_000  # the limit of the bot
    assert made.decision.on_timeout is not msgspec.UNSET
    assert made.observation == match.observation(seat)
    assert made.legal_actions == legal_actions(match, seat)
    assert len(set(made.action_texts)) == len(made.legal_actions)
    assert task_of(match, seat, "de").action_texts != made.action_texts
    assert made.last is None
    assert task(match, 1 - seat, "en") is None


def test_a_task_says_what_became_of_the_last_answer(arena: Arena) -> None:
    table = monkeys(arena)
    outcomes = []
    for expected in ("accepted", "bot-late", "bot-failed"):
        while True:  # one seat may decide several times in a row
            seat = turn(arena, table)
            if seat == 0:
                break
            arena.act(table, "bt_two")
        version = arena.version(table) + 1
        if expected == "accepted":
            arena.act(table, "bt_one")
        elif expected == "bot-late":
            arena.ring(table)
        else:
            assert fail(arena.ports, table, arena.match(table).decisions()[0].id) is not None
        while turn(arena, table) != 0:
            arena.act(table, "bt_two")
        last = task_of(arena.match(table)).last
        assert last is not None
        assert last.version == version
        outcomes.append(last.outcome)
    assert outcomes == ["accepted", "bot-late", "bot-failed"]


def test_people_have_tasks_and_bots_of_the_game_and_those_who_left_have_none(arena: Arena) -> None:
    table = arena.monkeys("anna", "ben", bots=("random",))
    while True:
        arena.work(table)
        match = arena.match(table)
        seat = turn(arena, table)
        assert task_of(match, seat).last is None
        if seat == 1:
            break
        arena.act(table, "ben")
    assert task(one_more(match, "resigned", {"seat": 1}), 1, "en") is None
    assert task(match, 0, "en") is None


def test_a_task_after_an_event_that_opens_no_decision_has_the_same_decision(arena: Arena) -> None:
    table = monkeys(arena)
    match, seat = arena.match(table), turn(arena, table)
    later = one_more(match, "clock_extended", {"ms": 1, "reason": "outage"}, at=match.at + 1)
    before, after = task_of(match, seat), task_of(later, seat)
    assert before.decision.id == after.decision.id
    assert before.task == after.task
    assert before.version < after.version
    assert before.decision.deadline is not None
    assert after.decision.deadline == before.decision.deadline + 1


def test_a_hosted_bot_is_called_at_once_or_at_its_pace_in_a_timed_game(arena: Arena) -> None:
    table = monkeys(arena)
    match = arena.match(table)
    (decision,) = match.decisions()
    assert decision.called_at == match.at == match.call_at()
    assert decision.plays_at is decision.scheduled_at is None
    assert match.call_at(after=match.at) is None
    assert match.job_at() is None
    bot = arena.host("bt_timed")
    timed = arena.match(arena.join(arena.create("toy", 2, bots=(bot,), clock={"bot_pace_ms": 1_000}), "anna"))
    call = timed.call_at()
    opens_at = min(one.opens_at for one in timed.decisions() if one.seat == 0)
    assert call is not None
    assert opens_at + 500 <= call <= opens_at + 1_500
