"""The times of due entries."""

import pytest

from service.automation.bot_turns import suspend
from service.automation.deadlines import resume
from service.match.due_times import HINT_MS, due_times
from service.match.model import Match
from tests.service.arena import Arena, one_more


def entry_after_each(match: Match, kind: str, *waits: int) -> list[int | None]:
    """The time of an entry, counted from the newest event of the match, after events that leave its decisions as they are."""
    began, times = match.at, []
    for wait in waits:
        match = one_more(match, "abort_asked", {"seat": 0}, at=match.at + wait)
        at = due_times(match)[kind]
        times.append(None if at is None else at - began)
    return times


@pytest.mark.parametrize("kind", ["job", "call"])
def test_events_of_others_do_not_delay_the_entry_of_a_decision_that_is_due(kind: str) -> None:
    arena = Arena()
    bot = "high" if kind == "job" else arena.host()
    table = arena.join(arena.create("toy", 3, bots=(bot,)), "anna", "ben")
    opens_at = arena.match(table).decisions()[0].opens_at
    arena.wait(opens_at - arena.time)
    arena.act(table, "anna")
    match = arena.match(table)
    assert due_times(match)[kind] == match.at + HINT_MS
    assert entry_after_each(match, kind, 100, 199, 1, 50) == [HINT_MS, HINT_MS, HINT_MS, HINT_MS + 50]


def test_a_bot_waits_for_its_pace_and_a_pause_does_not_count() -> None:
    arena = Arena()
    table = arena.join(arena.create("toy", 2, bots=("high",), clock={"bot_pace_ms": 20_000}), "anna")
    before = due_times(arena.match(table))["job"]
    assert before is not None
    suspend(arena.ports, arena.match(table), "fault")
    arena.wait(60_000)
    resume(arena.ports, table)
    assert due_times(arena.match(table))["job"] == before + 60_000
