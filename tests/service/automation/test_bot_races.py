"""Jobs that run twice, lose a race or get lost: each turn is played once."""

from functools import partial

from events.chain import Draft, seal
from events.log import Append
from events.memory_log import MemoryLog
from events.record import canonical
from service.automation.bot_turns import advance, suspend
from service.match.due_times import HINT_MS, KINDS, due_times
from tests.service.arena import START, Arena, due_kinds

BOTH = ("random", "greedy")


def test_a_bot_plays_in_the_same_job_when_a_person_s_action_was_appended_first() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben", bots=("high",))
    arena.wait(1_000)
    arena.log.meanwhile = [partial(arena.act, table, "anna")]
    assert advance(arena.ports, table) is False
    assert [event.by for event in arena.events(table)][-2:] == ["seat:1", "bot:high"]
    assert due_kinds(arena.match(table)) == ["clock"]


def test_a_job_that_loses_every_race_ends_and_queues_the_next() -> None:
    arena = Arena()
    table = arena.toy("anna", bots=("high",))
    arena.wait(1_000)
    versions: list[int] = []

    def overtake() -> None:
        versions.append(extend_by_one(arena, table))
        arena.log.meanwhile = [overtake]

    arena.log.meanwhile = [overtake]
    assert advance(arena.ports, table, moves=5)
    assert len(versions) == 5
    arena.log.meanwhile = []
    assert advance(arena.ports, table) is False
    assert arena.events(table)[-1].by == "bot:high"


def extend_by_one(arena: Arena, table: str) -> int:
    """Append the event of another command, past the hooks of the arena's log. Returns the version before it."""
    match = arena.match(table)
    draft = Draft("clock_extended", "worker", canonical({"ms": 1, "reason": "outage"}))
    events, _ = seal(match.head, [draft], max(arena.time, match.at) + 1, ["0" * 32])
    MemoryLog.append(arena.log, Append(table, f"other {match.head.version}", "", match.head, events, due_times(match)))
    return match.head.version


def test_two_jobs_for_one_match_at_once_play_each_turn_once() -> None:
    arena = Arena()
    table = arena.monkeys(bots=("greedy", "greedy"))
    arena.log.meanwhile = [lambda: advance(arena.ports, table)]
    advance(arena.ports, table)
    arena.work(table)
    assert arena.match(table).status == "finished"
    single = Arena()
    other = single.monkeys(bots=("greedy", "greedy"))
    single.work(other)
    assert [event.data for event in single.events(other)][:-1] == [event.data for event in arena.events(table)][:-1]


def test_a_lost_job_is_played_by_the_next_one() -> None:
    arena = Arena()
    table = arena.monkeys(bots=BOTH)
    due_at = START + HINT_MS
    assert arena.log.claim("bots", due_at - 1, 2_000, 9) == ()
    assert [due.match for due in arena.log.claim("bots", due_at, 2_000, 9)] == [table]
    assert arena.log.next_due(KINDS) == due_at + 2_000
    assert [due.match for due in arena.log.claim("bots", due_at + 2_000, 2_000, 9)] == [table]
    arena.work(table)
    assert arena.match(table).status == "finished"
    assert arena.log.next_due(KINDS) is None


def test_a_second_suspension_appends_nothing() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    match = arena.match(table)
    suspend(arena.ports, match, "KeyError")
    suspend(arena.ports, match, "KeyError")
    assert arena.types(table).count("match_suspended") == 1
