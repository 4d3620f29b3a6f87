"""How a command is submitted: load, decide, append, announce; and again if another command was appended first."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from events.chain import Draft
from events.log import Append, Appended, Conflict, Reused, Seen, Tail
from events.record import MatchId, canonical
from service.errors import Corrupt
from service.match.commands import Act, Command, Extend, Join
from service.match.facets import facets_of
from service.match.model import Match
from service.match.randomness import Chance
from service.match.rulings import draws
from service.repository.match_history import History
from service.repository.ports import Ports
from service.usecases import submit as submitting
from service.usecases.hints import hint
from service.usecases.submit import ATTEMPTS, CommandKey, Submitted, append, attempt, player_key, server_seed, submit
from service.usecases.subscribed import NEWS
from tests.service.arena import START, Arena, refused

PING = Draft("clock_extended", "worker", canonical({"ms": 1, "reason": "outage"}))
INVALID = Draft("clock_extended", "worker", canonical({"ms": "one", "reason": "outage"}))


def ping(arena: Arena, table: MatchId, key: CommandKey | str | None = None, ports: Ports | None = None) -> Submitted:
    """Submit a command that always has one event: it extends the clock by a millisecond."""
    arena.wait(1)
    key = key if isinstance(key, CommandKey) else CommandKey(key or arena.new_key(), "")
    return submit(ports or arena.ports, table, key, Extend(ms=1))


class DecideRecorder:
    """Records the versions and times at which commands are decided."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[int, int]] = []
        decide = submitting.decide  # type: ignore[attr-defined]  # where it is called

        def recorded(
            match: Match | None, command: Command, at: int, chance: Chance, outage_ms: int
        ) -> tuple[Draft, ...]:
            assert match is not None
            self.calls.append((match.head.version, at))
            return decide(match, command, at, chance, outage_ms)

        monkeypatch.setattr(submitting, "decide", recorded)

    @property
    def versions(self) -> list[int]:
        return [version for version, _ in self.calls]


def test_a_command_is_appended_once_however_often_it_is_submitted() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    answers = [ping(arena, table, CommandKey("id", "digest")) for _ in range(3)]
    assert [answer.replayed for answer in answers] == [False, True, True]
    assert [answer.match for answer in answers] == [answers[0].match] * 3
    assert arena.version(table) == 5


def test_a_command_is_decided_at_the_time_of_its_receipt_or_of_the_newest_event(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    arena.wait(50)

    def overtake() -> None:
        arena.wait(69)
        ping(arena, table, "other")
        arena.wait(1_000)

    arena.log.meanwhile = [overtake]
    recorder = DecideRecorder(monkeypatch)
    submit(arena.ports, table, CommandKey("mine", ""), Extend(ms=10))
    assert recorder.calls == [(4, START + 50), (4, START + 120), (5, START + 120)]
    arena.time = START
    submit(arena.ports, table, CommandKey("by a clock that went back", ""), Extend(ms=10))
    assert recorder.calls[-1] == (5, START + 120)


# --- optimistic: a process that alone writes to a match decides on its cached state without reading first ---------------


def optimistic(arena: Arena) -> Ports:
    """Make the arena's history optimistic, and return the ports of another process on the same log."""
    arena.ports = replace(
        arena.ports, history=History(arena.log, arena.ports.games, arena.ports.secret, optimistic=True)
    )
    return replace(arena.ports, history=History(arena.log, arena.ports.games, arena.ports.secret))


def test_a_command_costs_one_round_trip_if_only_this_process_writes_to_the_match() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    other_process = optimistic(arena)
    for ports, calls in (
        (arena.ports, ["read", "append"]),
        (arena.ports, ["read", "append"]),
        (arena.ports, ["append"]),
        (arena.ports, ["append"]),
        (other_process, ["read", "append"]),
        (arena.ports, ["append", "read", "append"]),
        (arena.ports, ["read", "append"]),
        (arena.ports, ["append"]),
    ):
        arena.log.calls.clear()
        ping(arena, table, ports=ports)
        assert arena.log.calls == calls
    assert arena.version(table) == 12


def test_a_match_that_the_caller_has_just_read_is_not_read_again() -> None:
    arena = Arena()
    match = arena.match(arena.toy("anna", "ben"))
    arena.wait(1)
    arena.log.calls.clear()
    submit(arena.ports, match.id, CommandKey("id", ""), Extend(ms=1), read=match)
    assert arena.log.calls == ["append"]


def test_the_events_of_an_append_are_not_read_from_the_log_again() -> None:
    arena = Arena()
    match = ping(arena, arena.toy("anna", "ben")).match
    arena.log.calls.clear()
    (event,) = arena.ports.history.events(match, None, 4, 10)
    assert (event.type, arena.log.calls) == ("clock_extended", [])


def test_a_command_is_decided_again_if_another_process_wrote_to_the_match(monkeypatch: pytest.MonkeyPatch) -> None:
    arena = Arena()
    other_process = optimistic(arena)
    table = arena.toy("anna", "ben")
    ping(arena, table, ports=other_process)
    recorder = DecideRecorder(monkeypatch)
    assert ping(arena, table).match.head.version == 6
    assert recorder.versions == [4, 5]


def test_a_command_in_the_log_is_answered_from_the_log_and_not_from_the_cache() -> None:
    arena = Arena()
    optimistic(arena)
    table = arena.opened("anna", "ben")
    first = arena.act(table, "anna", action := arena.legal(table, "anna")[0], key="once")
    again = arena.act(table, "anna", action, key="once")
    assert (again.replayed, again.match.head) == (True, first.match.head)
    refused("idempotency-key-reused", arena.act, table, "anna", {**action, "card": 99}, key="once")
    ping(arena, table, CommandKey("id", "digest"))
    refused("idempotency-key-reused", ping, arena, table, CommandKey("id", "other"))


def test_a_refusal_is_decided_on_the_newest_match_and_once_if_the_cache_had_it(monkeypatch: pytest.MonkeyPatch) -> None:
    arena = Arena()
    other_process = optimistic(arena)
    table = arena.opened("anna", "ben")
    command = Act(player="anna", action=arena.legal(table, "anna")[0], decision="9:9")
    recorder = DecideRecorder(monkeypatch)
    arena.log.calls.clear()
    refused("decision-closed", submit, arena.ports, table, CommandKey("id", ""), command)
    assert (recorder.versions, arena.log.calls) == ([4], ["read"])
    ping(arena, table, ports=other_process)
    refusal = refused("decision-closed", submit, arena.ports, table, CommandKey("id", ""), command)
    assert refusal.facts["version"] == 5
    assert recorder.versions == [4, 4, 4, 5]  # the third is the command that overtook it


def test_a_command_that_is_decided_on_the_cache_notices_lost_events() -> None:
    arena = Arena()
    optimistic(arena)
    table = arena.toy("anna", "ben")
    ping(arena, table, "lost")
    arena.log.rewrite(table, arena.log.stored(table)[:4])
    assert ping(arena, table).match.head.version == 5


@pytest.mark.parametrize("prepare", [optimistic, Arena.new_key])
def test_a_command_without_events_writes_nothing(prepare: Callable[[Arena], object]) -> None:
    arena = Arena()
    prepare(arena)
    table = arena.toy("anna", "ben")
    before = arena.log.contents()
    submitted = submit(arena.ports, table, CommandKey("id", ""), Extend(ms=10))  # no time has passed
    assert (submitted.match, submitted.replayed, submitted.newest) == (arena.match(table), False, None)
    assert arena.log.contents() == before


def test_a_missing_or_inaccessible_match_is_not_found() -> None:
    arena = Arena()
    table = arena.create(private=True)
    refused("match-not-found", submit, arena.ports, "nowhere", CommandKey("id", ""), Extend(ms=1))
    refused("match-not-found", submit, arena.ports, table, CommandKey("id", ""), Join(player="carl"))


def test_a_command_seen_by_a_read_that_missed_its_event_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A read is one round trip but not atomic: the same command may be appended between its two parts."""
    arena = Arena()
    table = arena.toy("anna", "ben")
    read = arena.log.read

    def read_with_an_append_between(
        match: str, *, first: int = 1, last: int | None = None, command: str | None = None
    ) -> Tail:
        monkeypatch.setattr(arena.log, "read", read)
        events = read(match, first=first, last=last).events
        ping(arena, table, CommandKey("id", "digest"))
        assert command == "id"
        return Tail(events, Seen(5, "digest"))

    monkeypatch.setattr(arena.log, "read", read_with_an_append_between)
    submitted = ping(arena, table, CommandKey("id", "digest"))
    assert (submitted.replayed, submitted.match.head.version) == (True, 5)


def test_a_command_that_loses_every_race_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    appends: list[Append] = []

    def conflict(append: Append) -> Appended | Conflict | Reused:
        appends.append(append)
        return Conflict(None)

    monkeypatch.setattr(arena.log, "append", conflict)
    refused("version-conflict", ping, arena, table)
    assert len(appends) == ATTEMPTS


def test_events_that_cannot_be_folded_are_never_written() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    before = arena.log.contents()
    with pytest.raises(RuntimeError, match="cannot be folded"):
        append(arena.ports, arena.match(table), CommandKey("id", ""), [PING, INVALID], arena.time)
    assert arena.log.contents() == before
    assert arena.match(table).head.version == 4


def test_a_conflict_leaves_nothing_in_the_cache() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    old = arena.match(table)
    ping(arena, table)
    assert append(arena.ports, old, CommandKey("mine", ""), [PING, PING], arena.time) is None
    assert attempt(arena.ports, old, CommandKey("mine", ""), Extend(ms=1), arena.time) is None
    assert arena.match(table).head.version == 5


def test_the_same_key_and_request_are_the_same_command() -> None:
    one, two = (player_key("anna", "key", {"act": {"b": 1, "a": 2}}) for _ in range(2))
    assert one == two == player_key("anna", "key", {"act": {"a": 2, "b": 1}})
    assert one.digest != player_key("anna", "key", {"act": {"a": 2}}).digest
    assert one.id != player_key("ben", "key", {"act": {"a": 2, "b": 1}}).id


def test_new_facets_are_listed_before_the_append_that_gives_them_and_old_ones_not_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arena = Arena()
    table = arena.join(arena.create(seats=3), "anna")
    before = arena.match(table)
    filed: list[tuple[object, ...]] = []
    listed: list[tuple[object, ...]] = []
    monkeypatch.setattr(arena.index, "file", lambda *given: filed.append(given))
    arena.log.meanwhile = [lambda: listed.extend(filed)]
    arena.leave(table, "anna")
    after = arena.match(table)
    assert listed == [(table, before.created_at, facets_of(after), facets_of(before))]


def test_an_append_makes_news_due_if_somebody_waits_for_them_and_looks_for_no_webhooks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arena = Arena()
    waited_for, other = arena.toy("anna", "ben"), arena.toy("anna", "ben")
    arena.log.set_due(waited_for, {NEWS: START + 1_000_000})
    looked_for: list[object] = []
    monkeypatch.setattr(arena.ports.webhooks, "of", looked_for.append)
    for table in (waited_for, other):
        ping(arena, table)
    assert [(due.match, due.at) for due in arena.log.scheduled(NEWS)] == [(waited_for, START + 1)]
    assert looked_for == []


def test_workers_get_a_hint_only_of_matches_that_are_due_now() -> None:
    arena = Arena()
    table = arena.toy("anna", bots=("high",))
    hint(arena.ports, arena.match(table))
    assert arena.jobs.hinted == []
    arena.wait(1_000)
    hint(arena.ports, arena.match(table))
    assert arena.jobs.hinted == [table]


def test_workers_get_a_hint_even_if_the_clock_of_this_process_is_behind() -> None:
    arena = Arena()
    table = arena.monkeys("anna", bots=("greedy", "greedy"))
    arena.time -= 50
    arena.jobs.hinted.clear()
    arena.leave(table, "anna")
    assert arena.jobs.hinted == [table]


def test_the_seed_is_the_one_that_was_committed_to() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    match = arena.match(table)
    assert server_seed(arena.ports, match) == arena.log.seed(table)
    rng = draws(match, lambda: server_seed(arena.ports, match))
    for lost in (None, bytes(32)):
        arena.log.forget_seed(table, lost)
        with pytest.raises(Corrupt):
            server_seed(arena.ports, match)
    with pytest.raises(Corrupt):
        rng.pick("label", [1, 2])
