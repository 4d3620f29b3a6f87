"""The read path returns what is in the log now. A damaged match does not affect others."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from events.chain import genesis
from events.log import Tail
from events.record import Event, Head, canonical, digest
from service.errors import Corrupt, Refused
from service.match.fold import begin, fold
from service.repository import match_history
from service.repository.match_history import History
from tests.service.arena import ENDLESS, Arena, refused


def resealed(stored: tuple[bytes, ...], version: int, **changes: object) -> tuple[bytes, ...]:
    """The events with one of them changed and the hash chain rebuilt."""
    found = list(stored[: version - 1])
    event = msgspec.structs.replace(msgspec.json.decode(stored[version - 1], type=Event), **changes)
    found.append(canonical(event))
    for entry in stored[version:]:
        later = msgspec.json.decode(entry, type=Event)
        found.append(canonical(msgspec.structs.replace(later, prev=digest(found[-1]))))
    return tuple(found)


def fresh(arena: Arena) -> History:
    """A history with an empty cache."""
    return History(arena.log, arena.ports.games, arena.ports.secret)


def test_the_state_at_every_version_is_the_fold_from_the_start() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben", turn_seconds=60)
    arena.play_out(table)
    stored = arena.log.stored(table)
    folded = begin(table, stored[0], arena.ports.games)
    assert arena.ports.history.at(table, 1) == folded
    for version in range(2, len(stored) + 1):
        folded = fold(folded, stored[version - 1 : version])
        assert arena.ports.history.at(table, version) == folded
        assert fresh(arena).at(table, version) == folded


def test_another_stream_of_the_log_is_no_match_and_is_not_read() -> None:
    arena = Arena()
    history, name = fresh(arena), "ratings:toy"
    refused("match-not-found", history.newest, name)
    refused("match-not-found", history.at, name, 1)
    assert arena.log.calls == []
    assert isinstance(history.newest_each([name])[name], Refused)


def test_a_cached_match_that_is_no_longer_the_newest_is_served_at_its_version() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    reader = fresh(arena)
    known, _ = reader.newest(table)
    arena.wait(1_000)
    arena.act(table, "anna")
    arena.log.calls.clear()
    assert reader.at(table, known.head.version) is known
    assert arena.log.calls == ["read"]
    assert reader.at(table, known.head.version + 1) == arena.match(table)


def test_the_newest_match_costs_one_round_trip_and_only_the_tail() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    reader = fresh(arena)
    reader.newest(table)
    arena.wait(1_000)
    arena.act(table, "anna")
    arena.log.calls.clear()
    match, _ = reader.newest(table)
    assert match == arena.match(table)
    arena.log.calls.clear()
    assert reader.newest(table)[0] is reader.newest(table)[0]
    assert reader.at(table, match.head.version) is match
    assert arena.log.calls == ["read"] * 3


def test_a_command_id_is_looked_up_in_the_same_round_trip() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    arena.wait(1_000)
    arena.act(table, "anna", key="once")
    arena.log.calls.clear()
    _, seen = arena.ports.history.newest(table, "p:anna:once")
    assert seen is not None
    assert seen.version == 5
    assert arena.ports.history.newest(table, "p:anna:never")[1] is None
    assert arena.log.calls == ["read", "read"]


def test_other_versions_are_not_found() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    for version in (-1, 0, 5, 10**30):
        refusal = refused("version-not-found", arena.ports.history.at, table, version)
        assert refusal.facts == {"version": 4}
    refused("match-not-found", arena.ports.history.at, "nowhere", 1)


# --- a store that lost events -------------------------------------------------------------------------------------------


def _truncated(arena: Arena, table: str) -> None:
    arena.log.rewrite(table, arena.log.stored(table)[:4])


def _other_event_at_the_newest_version(arena: Arena, table: str) -> None:
    stored = arena.log.stored(table)
    arena.log.rewrite(table, resealed(stored, len(stored), salt="0" * 32))


def _other_history_that_is_longer(arena: Arena, table: str) -> None:
    stored = arena.log.stored(table)
    other = Arena()
    other.toy("anna", "ben")
    arena.log.rewrite(table, resealed(stored, 3, salt="0" * 32))
    arena.act(table, "ben", key="after")


@pytest.mark.parametrize("lose", [_truncated, _other_event_at_the_newest_version, _other_history_that_is_longer])
def test_lost_events_are_noticed_and_nothing_is_served_from_the_cache(
    lose: Callable[[Arena, str], None],
) -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    arena.wait(1_000)
    arena.act(table, "anna")
    lost = arena.match(table)
    assert lost.head.version == 5
    late = fresh(arena)
    assert late.newest(table)[0] == lost
    lose(arena, table)
    if len(arena.log.stored(table)) >= 5:
        assert late.at(table, 5) == fresh(arena).at(table, 5) != lost
    expected = fresh(arena).newest(table)[0]
    assert expected.head != lost.head
    assert arena.match(table) == expected
    assert arena.ports.history.at(table, expected.head.version) == expected
    arena.log.calls.clear()
    assert arena.match(table) == expected
    assert arena.log.calls == ["read"]


def test_a_lost_version_is_not_found() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    assert arena.version(table) == 4
    arena.log.rewrite(table, arena.log.stored(table)[:3])
    refused("version-not-found", arena.ports.history.at, table, 4)


def test_a_lost_match_is_not_found_although_it_was_cached() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    arena.log.lose(table)
    refused("match-not-found", arena.match, table)
    refused("match-not-found", arena.ports.history.at, table, 1)


def test_bytes_that_are_no_event_at_the_cached_version_are_corrupt() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    stored = arena.log.stored(table)
    for garbage in (b"", b"\xff", b"{}", ENDLESS, stored[0]):
        arena.log.rewrite(table, (*stored[:3], garbage))
        with pytest.raises(Corrupt) as caught:
            arena.match(table)
        assert caught.value.version == 4


def test_a_slow_reader_does_not_replace_a_newer_cached_match() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    reader = fresh(arena)
    old = reader.at(table, 3)
    new, _ = reader.newest(table)
    reader.keep(old)
    assert reader.newest(table)[0] is new


def test_a_reader_that_notices_lost_events_keeps_what_another_reader_cached_since(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another reader noticed the loss first, and cached the match as it is now."""
    arena = Arena()
    table = arena.toy("anna", "ben")
    reader = fresh(arena)
    reader.newest(table)
    arena.log.rewrite(table, arena.log.stored(table)[:3])
    now, _ = fresh(arena).newest(table)
    read = arena.log.read

    def meanwhile(match: str, *, first: int | None = 1, last: int | None = None, command: str | None = None) -> Tail:
        monkeypatch.setattr(arena.log, "read", read)
        reader.newest(table)
        return read(match, first=first, last=last, command=command)

    monkeypatch.setattr(arena.log, "read", meanwhile)
    assert reader.newest(table)[0] == now
    arena.log.calls.clear()
    assert reader.newest(table)[0] == now
    assert arena.log.calls == ["read"]


def test_a_limited_number_of_matches_is_cached_the_most_recently_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_history, "CACHED_MATCHES", 2)
    arena = Arena()
    first, second, third = (arena.toy("anna", "ben") for _ in range(3))
    reader = fresh(arena)
    matches = [reader.newest(table)[0] for table in (first, second, first, third)]
    assert reader.newest(first)[0] is matches[0]
    assert reader.newest(second)[0] is not matches[1]


def test_many_threads_read_and_act_on_the_same_matches() -> None:
    arena = Arena()
    tables = [arena.toy("anna", "ben", "carl", "dora") for _ in range(4)]
    arena.wait(1_000)
    reads: list[tuple[str, Head]] = []

    def act_in_each(player: str) -> None:
        for table in tables:
            arena.act(table, player, key=f"{table}-{player}")
            reads.append((table, arena.match(table).head))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(act_in_each, ("anna", "ben", "carl", "dora")))
    for table in tables:
        assert arena.types(table)[6:] == ["action"] * 4
        heads = {Head(version, digest(stored)) for version, stored in enumerate(arena.log.stored(table), 1)}
        assert {head for read_table, head in reads if read_table == table} <= heads
        assert arena.match(table) == fresh(arena).newest(table)[0]


# --- an unreadable match does not affect others -------------------------------------------------------------------------


def _unknown_event_type(stored: tuple[bytes, ...]) -> tuple[bytes, ...]:
    return resealed(stored, 4, type="match_paused_v9")


def _unknown_first_event(stored: tuple[bytes, ...]) -> tuple[bytes, ...]:
    return resealed(stored, 1, type="match_made")


def _newer_ruleset(stored: tuple[bytes, ...]) -> tuple[bytes, ...]:
    return _created(stored, game="toy", ruleset=2)


def _unknown_game(stored: tuple[bytes, ...]) -> tuple[bytes, ...]:
    return _created(stored, game="chess", ruleset=1)


def _created(stored: tuple[bytes, ...], **changes: object) -> tuple[bytes, ...]:
    data = {**msgspec.json.decode(msgspec.json.decode(stored[0], type=Event).data), **changes}
    head = genesis("table", data["game"], data["ruleset"])[1]
    return resealed(stored, 1, data=msgspec.Raw(canonical(data)), prev=head.hash)


@pytest.mark.parametrize("alter", [_unknown_event_type, _unknown_first_event])
def test_an_event_of_a_newer_release_affects_only_its_own_match(
    alter: Callable[[tuple[bytes, ...]], tuple[bytes, ...]],
) -> None:
    arena = Arena()
    table, other = arena.toy("anna", "ben"), arena.toy("anna", "ben")
    arena.log.rewrite(table, alter(arena.log.stored(table)))
    refused("engine-too-old", arena.match, table)
    assert arena.match(other).status == "running"


@pytest.mark.parametrize("alter", [_newer_ruleset, _unknown_game])
def test_a_match_of_newer_rules_is_refused(
    alter: Callable[[tuple[bytes, ...]], tuple[bytes, ...]],
) -> None:
    arena = Arena()
    stored = alter(arena.log.stored(arena.toy("anna", "ben")))
    refused("engine-too-old", begin, "table", stored[0], arena.ports.games)


def test_a_changed_byte_anywhere_in_a_stored_event_affects_only_its_own_match() -> None:
    arena = Arena()
    table, other = arena.toy("anna", "ben"), arena.toy("anna", "ben")
    stored = arena.log.stored(table)
    for index in range(0, len(stored[2]), 3):
        changed = bytearray(stored[2])
        changed[index] ^= 1
        arena.log.rewrite(table, (*stored[:2], bytes(changed), *stored[3:]))
        with pytest.raises((Corrupt, Refused), match=r"^(version [34]: .+|engine-too-old)$"):
            fresh(arena).newest(table)
    assert arena.match(other).status == "running"
