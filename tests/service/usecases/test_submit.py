"""How a match changes: load, decide, announce, append; and again if another command came first."""

from dataclasses import replace

import pytest

from events.chain import Draft
from events.log import Append, Appended, Conflict, Reused, Seen, Tail
from events.record import MatchId, canonical
from service.errors import Corrupt
from service.match.commands import Act, Command, Extend, Join
from service.match.model import Match
from service.match.randomness import Chance
from service.match.rulings import draws
from service.repository.match_history import History
from service.repository.ports import Ports
from service.usecases import submit as submitting
from service.usecases.submit import (
    ATTEMPTS,
    CommandKey,
    Submitted,
    append,
    attempt,
    hint,
    player_key,
    server_seed,
    submit,
)
from tests.service.arena import START, Arena, refused

PING = Draft("clock_extended", "worker", canonical({"ms": 1, "reason": "outage"}))
STRANGE = Draft("clock_extended", "worker", canonical({"ms": "one", "reason": "outage"}))


def ping(arena: Arena, table: MatchId, key: CommandKey | str | None = None, ports: Ports | None = None) -> Submitted:
    """A command that always brings one event: a millisecond is given back."""
    arena.wait(1)
    key = key if isinstance(key, CommandKey) else CommandKey(key or arena.new_key(), "")
    return submit(ports or arena.ports, table, key, Extend(ms=1))


class Deciding:
    """Notes on which versions and at which times commands are decided."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[tuple[int, int]] = []
        decide = submitting.decide  # type: ignore[attr-defined]  # where it is called

        def noting(match: Match | None, command: Command, at: int, chance: Chance, outage_ms: int) -> tuple[Draft, ...]:
            assert match is not None
            self.seen.append((match.head.version, at))
            return decide(match, command, at, chance, outage_ms)

        monkeypatch.setattr(submitting, "decide", noting)

    @property
    def versions(self) -> list[int]:
        return [version for version, _ in self.seen]


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
    deciding = Deciding(monkeypatch)
    submit(arena.ports, table, CommandKey("mine", ""), Extend(ms=10))
    assert deciding.seen == [(4, START + 50), (4, START + 120), (5, START + 120)]
    arena.time = START
    submit(arena.ports, table, CommandKey("by a clock that went back", ""), Extend(ms=10))
    assert deciding.seen[-1] == (5, START + 120)


# --- a process that writes to a match alone tries a command on what it remembers ------------------------------------------


def optimistic(arena: Arena) -> Ports:
    """Let the arena's process be optimistic; the ports of another one, at the same log."""
    arena.ports = replace(arena.ports, history=History(arena.log, arena.ports.games, arena.ports.secret, bold=True))
    return replace(arena.ports, history=History(arena.log, arena.ports.games, arena.ports.secret))


def test_a_match_to_which_only_this_process_writes_costs_one_round_trip() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    elsewhere = optimistic(arena)
    for ports, calls in (
        (arena.ports, ["read", "append"]),
        (arena.ports, ["read", "append"]),
        (arena.ports, ["append"]),
        (arena.ports, ["append"]),
        (elsewhere, ["read", "append"]),
        (arena.ports, ["append", "read", "append"]),
        (arena.ports, ["read", "append"]),
        (arena.ports, ["append"]),
    ):
        arena.log.calls.clear()
        ping(arena, table, ports=ports)
        assert arena.log.calls == calls
    assert arena.version(table) == 12


def test_a_match_that_went_on_elsewhere_is_read_and_the_command_decided_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    arena = Arena()
    elsewhere = optimistic(arena)
    table = arena.toy("anna", "ben")
    ping(arena, table, ports=elsewhere)
    deciding = Deciding(monkeypatch)
    assert ping(arena, table).match.head.version == 6
    assert deciding.versions == [4, 5]


def test_a_command_in_the_log_is_answered_from_it_whatever_memory_would_decide() -> None:
    arena = Arena()
    optimistic(arena)
    table = arena.opened("anna", "ben")
    first = arena.act(table, "anna", action := arena.legal(table, "anna")[0], key="once")
    again = arena.act(table, "anna", action, key="once")
    assert (again.replayed, again.match.head) == (True, first.match.head)
    refused("idempotency-key-reused", arena.act, table, "anna", {**action, "card": 99}, key="once")
    ping(arena, table, CommandKey("id", "digest"))
    refused("idempotency-key-reused", ping, arena, table, CommandKey("id", "other"))


def test_a_refusal_is_of_the_newest_match_and_decided_once_where_memory_had_it(monkeypatch: pytest.MonkeyPatch) -> None:
    arena = Arena()
    elsewhere = optimistic(arena)
    table = arena.opened("anna", "ben")
    command = Act(player="anna", action=arena.legal(table, "anna")[0], decision="9:9")
    deciding = Deciding(monkeypatch)
    arena.log.calls.clear()
    refused("decision-closed", submit, arena.ports, table, CommandKey("id", ""), command)
    assert (deciding.versions, arena.log.calls) == ([4], ["read"])
    ping(arena, table, ports=elsewhere)
    refusal = refused("decision-closed", submit, arena.ports, table, CommandKey("id", ""), command)
    assert refusal.facts["version"] == 5
    assert deciding.versions == [4, 4, 4, 5]  # the one that overtook it among them


def test_a_store_that_lost_its_past_is_noticed_by_a_command_tried_on_memory() -> None:
    arena = Arena()
    optimistic(arena)
    table = arena.toy("anna", "ben")
    ping(arena, table, "lost")
    arena.log.rewrite(table, arena.log.stored(table)[:4])
    assert ping(arena, table).match.head.version == 5


def test_a_command_that_brings_nothing_writes_nothing() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    before = arena.log.contents()
    submitted = submit(arena.ports, table, CommandKey("id", ""), Extend(ms=10))  # no time has passed
    assert (submitted.match, submitted.replayed, submitted.newest) == (arena.match(table), False, None)
    assert arena.log.contents() == before


def test_a_match_that_is_not_there_or_not_to_be_seen_is_not_found() -> None:
    arena = Arena()
    table = arena.create(private=True)
    refused("match-not-found", submit, arena.ports, "nowhere", CommandKey("id", ""), Extend(ms=1))
    refused("match-not-found", submit, arena.ports, table, CommandKey("id", ""), Join(player="carl"))


def test_a_command_seen_by_a_read_that_missed_its_event_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A read is one round trip but not one moment: the same command may be appended between its two halves."""
    arena = Arena()
    table = arena.toy("anna", "ben")
    whole = arena.log.read

    def torn(match: str, *, first: int = 1, last: int | None = None, command: str | None = None) -> Tail:
        monkeypatch.setattr(arena.log, "read", whole)
        events = whole(match, first=first, last=last).events
        ping(arena, table, CommandKey("id", "digest"))
        assert command == "id"
        return Tail(events, Seen(5, "digest"))

    monkeypatch.setattr(arena.log, "read", torn)
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


def test_what_could_not_be_read_again_is_never_written() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    before = arena.log.contents()
    with pytest.raises(RuntimeError, match="cannot be folded"):
        append(arena.ports, arena.match(table), CommandKey("id", ""), [PING, STRANGE], arena.time)
    assert arena.log.contents() == before
    assert arena.match(table).head.version == 4


def test_a_conflict_leaves_nothing_in_memory() -> None:
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


def test_workers_get_a_hint_only_of_what_is_due_now() -> None:
    arena = Arena()
    table = arena.toy("anna", bots=("high",))
    hint(arena.ports, arena.match(table))
    assert arena.jobs.hinted == []
    arena.wait(1_000)
    hint(arena.ports, arena.match(table))
    assert arena.jobs.hinted == [table]


def test_workers_get_a_hint_though_the_clock_of_this_process_is_behind() -> None:
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
