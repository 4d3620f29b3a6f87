"""Each deadline is enforced once, an outage of the service costs a player no time, and the match goes on by itself."""

from dataclasses import replace
from typing import Any

import pytest

from events.due import Due
from events.log import LogUnavailable
from service.audit.match_file import export
from service.audit.verify import verify
from service.automation.bot_turns import suspend
from service.automation.deadlines import MAX_DEADLINES, enforce, extend, resume
from service.games.protocol import CLOCK, Decision
from service.match.due_times import due_times
from service.match.model import GRACE_MS, Match
from service.match.redaction import see_decisions
from service.usecases import play
from service.usecases.play import ActionRequest
from tests.service.arena import START, Arena, refused, unavailable
from tests.service.games.toy.game import TOY

COUNTDOWN = 1_000
TRICK = 30_000


def deadlines(match: Match) -> list[int | None]:
    return [one.deadline for one in match.decisions()]


def test_a_seat_whose_turn_ran_out_plays_its_default_action() -> None:
    arena = Arena()
    table = arena.monkeys("anna", "ben", turn_seconds=60)
    (decision,) = arena.match(table).decisions()
    assert (decision.opens_at, decision.deadline) == (START, START + 60_000)
    arena.time = START + 60_000 + GRACE_MS - 1
    enforce(arena.ports, table)
    assert arena.version(table) == 4
    arena.wait(1)
    enforce(arena.ports, table)
    event = arena.events(table)[-1]
    assert (event.type, event.by, event.at) == ("default_action", "worker", arena.time)
    assert arena.data(table)["reason"] == "clock"
    assert arena.data(table)["seat"] == decision.seat
    assert deadlines(arena.match(table)) == [arena.time + 60_000]


def test_a_timer_of_a_timed_game_rings() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    assert arena.log.scheduled("clock") == (Due(table, "clock", START + COUNTDOWN + TRICK + GRACE_MS),)
    arena.ring(table)
    event = arena.events(table)[-1]
    assert (event.type, event.by, arena.data(table)["label"]) == ("timer", "worker", "trick")
    assert arena.data(table)["effects"][0]["type"] == "card_forfeited"


def test_without_a_clock_nothing_is_due() -> None:
    arena = Arena()
    table = arena.monkeys("anna", "ben")
    assert deadlines(arena.match(table)) == [None]
    assert set(due_times(arena.match(table)).values()) == {None}
    arena.wait(10**9)
    enforce(arena.ports, table)
    assert arena.version(table) == 4


def test_each_deadline_counts_once() -> None:
    arena = Arena()
    table = arena.monkeys("anna", "ben", turn_seconds=60)
    arena.wait(61_000)
    enforce(arena.ports, table)
    enforce(arena.ports, table)
    assert arena.types(table).count("default_action") == 1


@pytest.mark.parametrize("game", ["toy", "monkeys_on_the_moon"])
def test_two_sweepers_at_once_enforce_a_deadline_once(game: str) -> None:
    arena = Arena()
    table = arena.join(arena.create(game, turn_seconds=60), "anna", "ben")
    arena.wait(61_000)
    arena.log.meanwhile = [lambda: enforce(arena.ports, table)]
    enforce(arena.ports, table)
    assert len(arena.events(table)) == 5
    assert [due.at for due in arena.log.scheduled("clock")] == [arena.time + 60_000 + GRACE_MS]


def test_a_late_sweeper_enforces_all_deadlines_that_passed_the_earliest_first() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben", "carl", turn_seconds=10)
    arena.ring(table)
    arena.wait(4_000)
    arena.act(table, "ben", {"type": "keep"})
    assert arena.match(table).state.step == "swap"
    arena.wait(60_000)
    enforce(arena.ports, table)
    types = arena.types(table)[-2:]
    assert types == ["default_action", "default_action"]
    assert [event.type for event in arena.events(table)].count("default_action") == 2
    assert arena.match(table).state.step == "commit"
    assert arena.match(table).decisions()[0].opens_at == arena.time + COUNTDOWN


def test_a_sweeper_enforces_a_limited_number_of_deadlines_of_one_match_at_a_time() -> None:
    """In this game every decision is past its deadline when it opens, so the deadlines never end."""
    late: Decision[Any] = Decision(CLOCK, "trick", None, 0, 0)
    arena = Arena(replace(TOY, decisions=lambda _: (late,), decide=lambda *_: ()))
    table = arena.toy("anna", "ben")
    enforce(arena.ports, table)
    assert arena.types(table)[4:] == ["timer"] * MAX_DEADLINES


def test_a_match_is_hinted_at_when_a_bot_is_next_after_a_deadline() -> None:
    arena = Arena()
    table = arena.monkeys("anna", bots=("greedy",), turn_seconds=60)
    arena.work(table)
    arena.jobs.hinted.clear()
    arena.wait(61_000)
    enforce(arena.ports, table)
    while {one.seat for one in arena.match(table).decisions()} != {0}:
        assert arena.jobs.hinted == []
        arena.wait(61_000)
        enforce(arena.ports, table)
    assert arena.jobs.hinted == [table]


def test_an_action_in_time_that_is_appended_first_wins_over_the_clock() -> None:
    arena = Arena()
    table = arena.monkeys("anna", "ben", turn_seconds=60)
    (decision,) = arena.match(table).decisions()
    late = START + 60_000 + GRACE_MS

    def act() -> None:
        arena.time = START + 59_999
        arena.act(table, ("anna", "ben")[decision.seat])
        arena.time = late

    arena.time = late
    arena.log.meanwhile = [act]
    enforce(arena.ports, table)
    assert arena.types(table)[4:] == ["action"]
    enforce(arena.ports, table)
    assert arena.types(table)[4:] == ["action"]


def test_an_outdated_due_entry_is_corrected() -> None:
    arena = Arena()
    table = arena.monkeys("anna", "ben", turn_seconds=60)
    arena.log.rearm(table, 4, {"clock": START})
    enforce(arena.ports, table)
    assert arena.log.scheduled("clock") == (Due(table, "clock", START + 60_000 + GRACE_MS),)


def test_a_log_that_does_not_answer_suspends_nothing() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    arena.log.meanwhile = [unavailable]
    with pytest.raises(LogUnavailable):
        arena.ring(table)
    arena.log.afterwards = [unavailable]
    with pytest.raises(LogUnavailable):
        arena.ring(table)
    enforce(arena.ports, table)
    assert arena.types(table)[4:] == ["timer"]


# --- time given back --------------------------------------------------------------------------------------------------


def test_an_outage_moves_every_open_deadline_once() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben", "carl", turn_seconds=10)
    arena.ring(table)
    arena.wait(2_000)
    arena.act(table, "ben", {"type": "keep"})
    arena.wait(6_000)
    before = arena.match(table)
    for _ in range(2):
        extend(arena.ports, table, "outage-1", 5_000)
    after = arena.match(table)
    assert after.head.version == before.head.version + 1
    assert arena.events(table)[-1].by == "worker"
    assert arena.data(table) == {"ms": 5_000, "reason": "outage"}
    assert [one and one + 5_000 for one in deadlines(before)] == deadlines(after)
    assert [one.id for one in before.decisions()] == [one.id for one in after.decisions()]
    assert [due.at for due in arena.log.scheduled("clock")] == [min(filter(None, deadlines(after))) + GRACE_MS]
    arena.wait(6_000)
    extend(arena.ports, table, "outage-2", 5_000)
    assert arena.match(table).paused == 10_000


def test_games_see_match_time_and_viewers_see_server_time() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    arena.wait(10_000)
    extend(arena.ports, table, "outage", 9_000)
    match = arena.match(table)
    assert match.state.deadline == START + COUNTDOWN + TRICK
    assert {one.deadline for one in see_decisions(match, 0)} == {START + COUNTDOWN + TRICK + 9_000}
    arena.time = START + COUNTDOWN + TRICK + 8_999
    arena.act(table, "anna")
    arena.wait(1)
    refused("too-late", arena.act, table, "ben")
    enforce(arena.ports, table)
    assert arena.types(table)[-1] == "action"
    arena.wait(GRACE_MS)
    enforce(arena.ports, table)
    assert arena.types(table)[-1] == "timer"


def test_match_time_never_goes_back() -> None:
    """Only the workers were down, and a player acted meanwhile: the time before that action is not given back."""
    arena = Arena()
    table = arena.toy("anna", "ben")
    arena.wait(COUNTDOWN)
    arena.act(table, "anna")
    arena.wait(200)
    extend(arena.ports, table, "outage", 5_000)
    assert arena.data(table) == {"ms": 200, "reason": "outage"}
    arena.act(table, "ben")
    before = arena.version(table)
    extend(arena.ports, table, "another", 5_000)
    assert arena.version(table) == before


def test_only_running_matches_are_extended() -> None:
    arena = Arena()
    waiting, over, suspended = arena.create(), arena.toy("anna", "ben"), arena.toy("anna", "ben")
    arena.play_out(over)
    suspend(arena.ports, arena.match(suspended), "KeyError")
    arena.wait(60_000)
    for table in (waiting, over, suspended):
        before = arena.version(table)
        extend(arena.ports, table, "outage", 5_000)
        assert arena.version(table) == before


def test_no_clock_runs_while_a_match_is_suspended() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    arena.wait(11_000)
    suspend(arena.ports, arena.match(table), "KeyError")
    assert arena.log.scheduled("clock") == ()
    arena.wait(100_000)
    enforce(arena.ports, table)
    assert arena.types(table)[-1] == "match_suspended"
    match = resume(arena.ports, table)
    assert (match.status, match.paused, match.suspended_at) == ("running", 100_000, None)
    assert set(deadlines(match)) == {START + COUNTDOWN + TRICK + 100_000}
    assert [due.at for due in arena.log.scheduled("clock")] == [START + COUNTDOWN + TRICK + 100_000 + GRACE_MS]
    assert arena.events(table)[-1].by == "worker"
    arena.act(table, "anna")


def test_only_a_suspended_match_is_resumed() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    refused("match-not-suspended", resume, arena.ports, table)
    suspend(arena.ports, arena.match(table), "KeyError")
    resume(arena.ports, table)
    refused("match-not-suspended", resume, arena.ports, table)
    suspend(arena.ports, arena.match(table), "KeyError")
    assert resume(arena.ports, table).status == "running"


@pytest.mark.parametrize("game", ["toy", "monkeys_on_the_moon"])
def test_an_action_past_its_deadline_counts_while_no_sweeper_could_enforce_it(game: str) -> None:
    arena = Arena()
    options = {"countdown_ms": 0, "trick_ms": 60_000} if game == "toy" else {}
    clock = None if game == "toy" else 60
    table = arena.join(arena.create(game, turn_seconds=clock, options=options), "anna", "ben")
    arena.wait(61_000)
    player = next(one for one in ("anna", "ben") if arena.legal(table, one))
    before = arena.log.contents()
    refused("too-late", arena.act, table, player)
    arena.outages = [(arena.time - 500, arena.time)]
    refused("too-late", arena.act, table, player)
    arena.outages = [(arena.time - 5_000, arena.time)]
    refused("invalid-action", arena.act, table, player, {"type": "none"})
    action = arena.legal(table, player)[0]
    play.judge(arena.ports, player, table, ActionRequest(action))
    assert arena.log.contents() == before
    first = arena.act(table, player, action, key="once")
    assert arena.types(table)[-2:] == ["clock_extended", "action"]
    assert arena.data(table, -1) == {"ms": 5_000, "reason": "outage"}
    assert arena.act(table, player, action, key="once").match == first.match
    verify(list(export(arena.ports, arena.play_out(table))), arena.ports.games)
