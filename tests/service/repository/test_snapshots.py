"""A fold from a snapshot equals the fold from the first event. Invalid snapshots are ignored."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.log import Append, Log, LogUnavailable, Tail
from events.memory_log import MemoryLog
from events.record import Head, MatchId
from service.audit.public_audit import audit
from service.audit.stored_match import inspect
from service.audit.verify import Fault
from service.automation import deadlines
from service.automation.bot_turns import suspend
from service.games.protocol import AnyGame
from service.games.registry import GAMES
from service.match.due_times import due_times
from service.match.fold import begin, step
from service.match.model import Match
from service.ops.simulate import play
from service.repository import snapshots
from service.repository.code_hash import code_hash
from service.repository.match_history import History
from service.repository.snapshots import SNAPSHOT_INTERVAL, MatchLoader
from tests.length import LONG
from tests.playthroughs.record import cases
from tests.service.arena import Arena, WatchedLog
from tests.service.games.toy.game import TOY

ROOT: Final = Path(__file__).parents[3]
SECRET: Final = b"of the store"
TRICKS: Final = 30
"""The tricks of a long match, which has more than four times as many events."""


class Stored(NamedTuple):
    """A match's events, and the match after each of them, folded from the first."""

    games: Mapping[str, AnyGame]
    id: MatchId
    events: tuple[bytes, ...]
    states: tuple[Match, ...]


def stored(log: Log, match_id: MatchId, games: Mapping[str, AnyGame]) -> Stored:
    first, *rest = events = log.read(match_id).events
    return Stored(games, match_id, events, tuple(accumulate(rest, step, initial=begin(match_id, first, games))))


@cache
def matches() -> tuple[Stored, ...]:
    """Every golden playthrough, so every option and number of seats; and toy matches with the other types of events.

    In the short form, every fifth playthrough of each game.
    """
    found = []
    for name, game in GAMES.items():
        for case in cases(name) if LONG else cases(name)[::5]:
            ports, match = play(game, case.bots, case.options, bytes.fromhex(case.seed))
            found.append(stored(ports.log, match.id, GAMES))
    arena = Arena()
    for timing in ({"turn_seconds": 60}, {"bank_seconds": 60, "increment_seconds": 1, "bot_pace_ms": 10}, {}):
        created = arena.create("toy", 3, bots=("random",), clock=timing, options={"tricks": 9})
        table = arena.join(created, "anna", "ben", seed="7")
        suspend(arena.ports, arena.match(table), "KeyError")
        arena.wait(70)
        deadlines.resume(arena.ports, table)
        arena.leave(table, "ben")
        arena.play_out(table)
        found.append(stored(arena.log, table, arena.ports.games))
    return tuple(found)


def copied(match: Stored) -> MemoryLog:
    """A log with the events of a match and without snapshots."""
    log = MemoryLog()
    heads = (Head(0, ""), *(state.head for state in match.states))
    for head, event in zip(heads, match.events, strict=False):
        log.append(Append(match.id, f"to {head.version + 1}", "", head, (event,)))
    return log


@pytest.mark.long
def test_every_match_is_restored_from_its_snapshot_at_every_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "SNAPSHOT_INTERVAL", 1)
    for number, match in enumerate(matches()):
        loader = MatchLoader(MemoryLog(), match.games, SECRET)
        versions = list(enumerate(match.states, 1))
        for version, state in versions if LONG else versions[number % 8 :: 8]:
            snapshot = loader.snapshot(state, version - 1)
            assert snapshot is not None
            found = loader.load(match.id, Tail((match.events[version - 1],), None, snapshot))
            assert found == state
            assert repr(found) == repr(state), "not the same types"


@pytest.mark.long
@given(st.data())
@settings(max_examples=60 if LONG else 20, deadline=None)
def test_a_snapshot_and_the_later_events_give_the_same_match_as_all_events(data: st.DataObject) -> None:
    match = data.draw(st.sampled_from(matches()))
    log = copied(match)
    versions = st.integers(1, len(match.events))
    with pytest.MonkeyPatch.context() as patched:
        for every, version in data.draw(st.lists(st.tuples(st.integers(1, 40), versions), min_size=2, max_size=6)):
            patched.setattr(snapshots, "SNAPSHOT_INTERVAL", every)
            reader = History(log, match.games, SECRET)
            for found, truth in (
                (reader.at(match.id, version), match.states[version - 1]),
                (reader.newest(match.id)[0], match.states[-1]),
            ):
                assert found == truth
                assert (found.decisions(), due_times(found)) == (truth.decisions(), due_times(truth))


# --- what a read costs --------------------------------------------------------------------------------------------------


@cache
def played_match() -> tuple[WatchedLog, Stored]:
    """A long match, which is played once."""
    arena = Arena()
    return arena.log, long_match(arena)


def copied_match(arena: Arena) -> Stored:
    """A long match, copied into this arena with its snapshots."""
    log, match = played_match()
    arena.log._matches, arena.log._due, arena.log._snapshots = deepcopy((log._matches, log._due, log._snapshots))
    return match


def long_match(arena: Arena) -> Stored:
    match = arena.play_out(arena.toy("anna", "ben", tricks=TRICKS))
    assert match.head.version > 4 * TRICKS
    return stored(arena.log, match.id, arena.ports.games)


def fresh(arena: Arena) -> History:
    """A history with an empty cache."""
    return History(arena.log, arena.ports.games, arena.ports.secret)


def most_read(arena: Arena, match: Stored, reader: Callable[[], History], every: int = 1) -> int:
    """The maximum number of events that reading any version needs, or every n-th version."""
    arena.log.read_counts.clear()
    versions = list(enumerate(match.states, 1))[::every]
    for version, state in versions:
        assert reader().at(match.id, version) == state
    assert len(arena.log.read_counts) == len(versions)
    return max(arena.log.read_counts)


@pytest.mark.unmeasured
def test_any_version_costs_one_round_trip_and_a_few_events_with_and_without_a_cache() -> None:
    arena = Arena()
    match = copied_match(arena)
    assert most_read(arena, match, lambda: fresh(arena)) <= SNAPSHOT_INTERVAL
    assert most_read(arena, match, lambda: arena.ports.history) <= SNAPSHOT_INTERVAL
    arena.log.read_counts.clear()
    assert fresh(arena).newest(match.id)[0] == match.states[-1]
    assert arena.log.read_counts == [1], "a match that is over has a snapshot at its end"


@pytest.mark.unmeasured
def test_lost_snapshots_are_written_again_by_the_next_reader() -> None:
    arena = Arena()
    match = copied_match(arena)
    arena.log.forget_snapshots()
    arena.log.read_counts.clear()
    assert fresh(arena).newest(match.id)[0] == match.states[-1]
    assert arena.log.read_counts == [len(match.events)]
    assert most_read(arena, match, lambda: fresh(arena)) <= SNAPSHOT_INTERVAL


def test_a_match_is_read_even_if_no_snapshot_can_be_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    def unavailable(*_: object) -> None:
        raise LogUnavailable("unavailable")

    arena = Arena()
    match = copied_match(arena)
    arena.log.forget_snapshots()
    monkeypatch.setattr(arena.log, "save_snapshots", unavailable)
    assert fresh(arena).newest(match.id)[0] == match.states[-1]


def test_a_short_match_and_a_huge_one_leave_no_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    arena = Arena()
    aborted = arena.create()
    arena.leave(aborted, "host")
    assert arena.match(aborted).is_over
    monkeypatch.setattr(snapshots, "MAX_BYTES", 100)
    huge = long_match(arena)
    assert [arena.log.snapshots(one) for one in (aborted, huge.id)] == [{}, {}]


# --- invalid snapshots --------------------------------------------------------------------------------------------------


def forged(
    arena: Arena, match: Match, secret: bytes | None = None, games: Mapping[str, AnyGame] | None = None
) -> bytes:
    """A snapshot with wrong contents, sealed with this secret and for these games."""
    maker = MatchLoader(arena.log, games or arena.ports.games, secret or arena.ports.secret)
    snapshot = maker.snapshot(msgspec.structs.replace(match, paused=match.paused + 999), 0)
    assert snapshot is not None
    return snapshot


def by_another_store(arena: Arena, match: Match) -> bytes:
    return forged(arena, match, b"of another store")


def by_other_rules(arena: Arena, match: Match) -> bytes:
    return forged(arena, match, games={"toy": replace(TOY, info=replace(TOY.info, ruleset=2))})


def by_other_code(arena: Arena, match: Match) -> bytes:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(snapshots, "code_hash", lambda _folder: b"of another release")
        return forged(arena, match)


def changed(arena: Arena, match: Match) -> bytes:
    name, seal, parts = msgspec.msgpack.decode(forged(arena, match), type=tuple[str, bytes, bytes])
    return msgspec.msgpack.encode((name, bytes([seal[0] ^ 1]) + seal[1:], parts))


def of_another_game(arena: Arena, match: Match) -> bytes:
    _, seal, parts = msgspec.msgpack.decode(forged(arena, match), type=tuple[str, bytes, bytes])
    return msgspec.msgpack.encode(("monkeys_on_the_moon", seal, parts))


def of_an_unknown_game(arena: Arena, match: Match) -> bytes:
    _, seal, parts = msgspec.msgpack.decode(forged(arena, match), type=tuple[str, bytes, bytes])
    return msgspec.msgpack.encode(("chess", seal, parts))


def of_another_match(arena: Arena, match: Match) -> bytes:
    return forged(arena, msgspec.structs.replace(match, id="another"))


INVALID: Final = (
    *(by_another_store, by_other_rules, by_other_code, changed),
    *(of_another_game, of_an_unknown_game, of_another_match),
    *(lambda *_: b"", lambda *_: b"\xff", lambda *_: b"\x93\xa3toy\x01\x02", lambda *_: b"\x91" * 10_000),
)


@pytest.mark.parametrize("make", INVALID)
def test_an_invalid_snapshot_is_never_served(make: Callable[[Arena, Match], bytes]) -> None:
    arena = Arena()
    match = copied_match(arena)
    for version in (SNAPSHOT_INTERVAL, len(match.events)):
        arena.log.save_snapshots(match.id, 0, {version: make(arena, match.states[version - 1])})
        reader = fresh(arena)
        assert reader.at(match.id, version) == match.states[version - 1]
        assert reader.newest(match.id)[0] == match.states[-1]
    assert most_read(arena, match, lambda: fresh(arena), every=9) <= SNAPSHOT_INTERVAL, (
        "a valid snapshot has replaced it"
    )


def test_the_forged_snapshots_of_these_tests_would_be_accepted_with_the_right_seal() -> None:
    """An attacker who knows the store's secret could also write events."""
    arena = Arena()
    match = copied_match(arena)
    arena.log.save_snapshots(match.id, 0, {SNAPSHOT_INTERVAL: forged(arena, match.states[SNAPSHOT_INTERVAL - 1])})
    assert fresh(arena).at(match.id, SNAPSHOT_INTERVAL).paused == 999


@pytest.mark.unmeasured
def test_a_snapshot_of_another_history_is_never_served() -> None:
    """A snapshot of a history that the store has lost, and one that is newer than all events."""
    arena, other = Arena(), Arena()
    match = copied_match(arena)
    table = other.create("toy", options={"tricks": TRICKS})
    assert table == match.id
    other.wait(5)
    other.play_out(other.join(table, "ben", "anna"))
    for version in (SNAPSHOT_INTERVAL, len(match.events)):
        for snapshot in (
            forged(other, other.ports.history.at(table, SNAPSHOT_INTERVAL)),
            forged(arena, match.states[SNAPSHOT_INTERVAL]),
        ):
            arena.log.save_snapshots(match.id, 0, {version: snapshot})
            assert fresh(arena).at(match.id, version) == match.states[version - 1]
    arena.log.rewrite(match.id, match.events[:50])
    assert fresh(arena).newest(match.id)[0] == match.states[49]


def test_checks_of_a_match_use_no_snapshots() -> None:
    arena = Arena()
    match = copied_match(arena)
    arena.log.rewrite(match.id, (*match.events[:9], match.events[9].replace(b'"at":1', b'"at":2'), *match.events[10:]))
    served, _ = fresh(arena).newest(match.id)
    assert served == match.states[-1]
    with pytest.raises(Fault) as found:
        inspect(arena.ports, match.id)
    assert (found.value.check, found.value.version) == ("chain", 11)
    assert audit(arena.ports, served).checks[0].result == "failed"


def test_the_code_hash_covers_the_loaded_code_and_not_later_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a worker that a server of the old release forks after an upgrade."""
    loaded = snapshots.fingerprint(GAMES["ape_town"])
    monkeypatch.setattr(Path, "read_bytes", lambda _path: b"of a later release")
    assert snapshots.fingerprint(GAMES["ape_town"]) == loaded


def test_all_code_and_data_that_makes_a_match_is_in_its_fingerprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "game").mkdir()
    hashes = set()
    for name, text in (("a.py", "1"), ("b.json", "1"), ("b.json", "2"), ("game/b.json", "2"), ("game/notes.md", "3")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        hashes.add(code_hash.__wrapped__(tmp_path))
    assert len(hashes) == 4, "files that are neither code nor data are ignored"
    folders: list[Path] = []

    def noted(folder: Path) -> bytes:
        folders.append(folder)
        return b""

    monkeypatch.setattr(snapshots, "code_hash", noted)
    snapshots.fingerprint(TOY)
    names = {str(path.relative_to(ROOT)) for folder in folders for path in folder.rglob("*")}
    assert names >= {
        *("events/chain.py", "service/match/fold.py", "service/repository/snapshots.py"),
        "service/games/ape_town/components.json",
        *("service/games/kit/ranking.py", "tests/service/games/toy/apply.py"),
    }
