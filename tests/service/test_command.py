"""How a match changes: load, decide, append; and again if another command came first."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from events.chain import Draft
from events.log import Append, Appended, Conflict, Reused, Seen, Tail
from events.record import canonical
from service.command import ATTEMPTS, Command, draws, hint, player_command, server_seed, submit, write
from service.errors import Corrupt, Refused
from service.history import History
from service.match import Match
from service.ports import Ports
from tests.service.arena import START, Arena, refused

PING = Draft("clock_extended", "worker", canonical({"ms": 1, "reason": "outage"}))
STRANGE = Draft("clock_extended", "worker", canonical({"ms": "one", "reason": "outage"}))


def ping(_match: Match, _at: int) -> Sequence[Draft]:
    return [PING]


def test_a_command_is_appended_once_however_often_it_is_submitted() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    answers = [submit(arena.ports, table, Command("id", "digest"), ping) for _ in range(3)]
    assert [answer.replayed for answer in answers] == [False, True, True]
    assert [answer.match for answer in answers] == [answers[0].match] * 3
    assert arena.version(table) == 5


def test_a_command_is_decided_at_the_time_of_its_receipt_or_of_the_newest_event() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    seen: list[int] = []

    def decide(_match: Match, at: int) -> Sequence[Draft]:
        seen.append(at)
        return [PING]

    def overtake() -> None:
        arena.wait(70)
        submit(arena.ports, table, Command("other", ""), ping)
        arena.wait(1_000)

    arena.wait(50)
    arena.log.meanwhile = [overtake]
    submit(arena.ports, table, Command("mine", ""), decide)
    assert seen == [START + 50, START + 120]
    arena.time = START
    submit(arena.ports, table, Command("by a clock that went back", ""), decide)
    assert seen[-1] == START + 120


# --- a process that writes to a match alone tries a command on what it remembers ------------------------------------------


def bold(arena: Arena) -> Ports:
    """Let the arena's process be bold; the ports of another one, at the same log."""
    arena.ports = replace(arena.ports, history=History(arena.log, arena.ports.games, arena.ports.secret, bold=True))
    return replace(arena.ports, history=History(arena.log, arena.ports.games, arena.ports.secret))


def test_a_match_to_which_only_this_process_writes_costs_one_round_trip() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    elsewhere = bold(arena)
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
        submit(ports, table, Command(arena.new_key(), ""), ping)
        assert arena.log.calls == calls
    assert arena.version(table) == 12


def test_a_match_that_went_on_elsewhere_is_read_and_the_command_decided_anew() -> None:
    arena = Arena()
    elsewhere = bold(arena)
    table = arena.toy("anna", "ben")
    submit(elsewhere, table, Command("other", ""), ping)
    decided: list[int] = []

    def decide(match: Match, _at: int) -> Sequence[Draft]:
        decided.append(match.head.version)
        return [PING]

    assert submit(arena.ports, table, Command("mine", ""), decide).match.head.version == 6
    assert decided == [4, 5]


def test_a_command_in_the_log_is_answered_from_it_whatever_memory_would_decide() -> None:
    arena = Arena()
    bold(arena)
    table = arena.opened("anna", "ben")
    first = arena.act(table, "anna", action := arena.legal(table, "anna")[0], key="once")
    again = arena.act(table, "anna", action, key="once")
    assert (again.replayed, again.match.head) == (True, first.match.head)
    refused("idempotency-key-reused", arena.act, table, "anna", {**action, "card": 99}, key="once")
    submit(arena.ports, table, Command("id", "digest"), ping)
    refused("idempotency-key-reused", submit, arena.ports, table, Command("id", "other"), ping)


def test_a_refusal_is_of_the_newest_match_and_decided_once_where_memory_had_it() -> None:
    arena = Arena()
    elsewhere = bold(arena)
    table = arena.opened("anna", "ben")
    decided: list[int] = []

    def decide(match: Match, _at: int) -> Sequence[Draft]:
        decided.append(match.head.version)
        raise Refused("not-your-turn", "", version=match.head.version)

    arena.log.calls.clear()
    refused("not-your-turn", submit, arena.ports, table, Command("id", ""), decide)
    assert (decided, arena.log.calls) == ([4], ["read"])
    submit(elsewhere, table, Command("other", ""), ping)
    assert refused("not-your-turn", submit, arena.ports, table, Command("id", ""), decide).facts["version"] == 5
    assert decided == [4, 4, 5]


def test_a_store_that_lost_its_past_is_noticed_by_a_command_tried_on_memory() -> None:
    arena = Arena()
    bold(arena)
    table = arena.toy("anna", "ben")
    submit(arena.ports, table, Command("lost", ""), ping)
    arena.log.rewrite(table, arena.log.stored(table)[:4])
    assert submit(arena.ports, table, Command("id", ""), ping).match.head.version == 5


def test_a_command_that_decides_nothing_writes_nothing() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    before = arena.log.contents()
    submitted = submit(arena.ports, table, Command("id", ""), lambda _match, _at: [])
    assert (submitted.match, submitted.replayed, submitted.newest) == (arena.match(table), False, None)
    assert arena.log.contents() == before


def test_the_precondition_is_asked_before_anything_is_decided() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")

    def never(match: Match) -> None:
        raise Corrupt(match.head.version, "stop")

    with pytest.raises(Corrupt, match="stop"):
        submit(arena.ports, table, Command("id", "", never), ping)


def test_a_match_that_is_not_there_or_not_to_be_seen_is_not_found() -> None:
    arena = Arena()
    table = arena.create(private=True)
    refused("match-not-found", submit, arena.ports, "nowhere", Command("id", ""), ping)
    refused("match-not-found", submit, arena.ports, table, Command("id", ""), ping, player="carl")


def test_a_command_seen_by_a_read_that_missed_its_event_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A read is one round trip but not one moment: the same command may be appended between its two halves."""
    arena = Arena()
    table = arena.toy("anna", "ben")
    whole = arena.log.read

    def torn(match: str, *, first: int = 1, last: int | None = None, command: str | None = None) -> Tail:
        monkeypatch.setattr(arena.log, "read", whole)
        events = whole(match, first=first, last=last).events
        submit(arena.ports, table, Command("id", "digest"), ping)
        assert command == "id"
        return Tail(events, Seen(5, "digest"))

    monkeypatch.setattr(arena.log, "read", torn)
    submitted = submit(arena.ports, table, Command("id", "digest"), ping)
    assert (submitted.replayed, submitted.match.head.version) == (True, 5)


def test_races_lost_without_end_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    appends: list[Append] = []

    def conflict(append: Append) -> Appended | Conflict | Reused:
        appends.append(append)
        return Conflict(None)

    monkeypatch.setattr(arena.log, "append", conflict)
    refused("version-conflict", submit, arena.ports, table, Command("id", ""), ping)
    assert len(appends) == ATTEMPTS


def test_what_could_not_be_read_again_is_never_written() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    before = arena.log.contents()
    with pytest.raises(RuntimeError, match="cannot be folded"):
        write(arena.ports, arena.match(table), Command("id", ""), [PING, STRANGE], arena.time)
    assert arena.log.contents() == before
    assert arena.match(table).head.version == 4


def test_a_conflict_leaves_nothing_in_memory() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    old = arena.match(table)
    submit(arena.ports, table, Command("other", ""), ping)
    assert write(arena.ports, old, Command("mine", ""), [PING, PING], arena.time) is None
    assert arena.match(table).head.version == 5


def test_the_same_key_and_request_are_the_same_command() -> None:
    one, two = (player_command("anna", "key", {"act": {"b": 1, "a": 2}}) for _ in range(2))
    assert one == two == player_command("anna", "key", {"act": {"a": 2, "b": 1}})
    assert one.digest != player_command("anna", "key", {"act": {"a": 2}}).digest
    assert one.id != player_command("ben", "key", {"act": {"a": 2, "b": 1}}).id


def test_workers_are_told_only_of_what_is_due_now() -> None:
    arena = Arena()
    table = arena.toy("anna", bots=("high",))
    hint(arena.ports, arena.match(table))
    assert arena.jobs.hinted == []
    arena.wait(1_000)
    hint(arena.ports, arena.match(table))
    assert arena.jobs.hinted == [table]


def test_workers_are_told_though_the_clock_of_this_process_is_behind() -> None:
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
    rng = draws(arena.ports, match)
    for lost in (None, bytes(32)):
        arena.log.forget_seed(table, lost)
        with pytest.raises(Corrupt):
            server_seed(arena.ports, match)
    with pytest.raises(Corrupt):
        rng.pick("label", [1, 2])
