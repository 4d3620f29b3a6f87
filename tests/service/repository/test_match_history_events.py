"""Events as pages: every version for every viewer, the chain checked."""

from dataclasses import replace
from itertools import pairwise

import pytest

from events.record import digest
from service.errors import Corrupt
from service.games.visibility import Viewer
from service.match.model import Match
from service.match.redaction import SeenEvent
from service.repository.match_history import History
from service.repository.verified_events import CACHED_EVENTS, VerifiedEvents
from tests.service.arena import ENDLESS, Arena, person


def another_process(arena: Arena) -> History:
    """A history with an empty cache."""
    return History(arena.log, arena.ports.games, arena.ports.secret)


@pytest.mark.parametrize("viewer", [None, 0, 1])
def test_every_viewer_sees_every_version_with_its_hash(viewer: Viewer) -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    match = arena.play_out(table)
    stored = arena.log.stored(table)
    events = arena.ports.history.events(match, viewer, 0, 100)
    assert [event.version for event in events] == list(range(1, len(stored) + 1))
    assert [event.hash for event in events] == [digest(entry) for entry in stored]
    assert all(later.prev == event.hash for event, later in pairwise(events))
    assert {event.match for event in events} == {table}


@pytest.mark.parametrize("viewer", [None, 0, 1])
def test_pages_of_any_size_add_up_to_all_events(viewer: Viewer) -> None:
    arena = Arena()
    match = arena.play_out(arena.toy("anna", "ben"))
    all_events = arena.ports.history.events(match, viewer, 0, 100)
    for size in (1, 2, 7, len(all_events), len(all_events) + 1):
        paged: list[SeenEvent] = []
        for after in range(0, len(all_events), size):
            arena.log.calls.clear()
            paged += arena.ports.history.events(match, viewer, after, size)
            assert arena.log.calls == ([] if after >= len(all_events) - CACHED_EVENTS else ["read"])
        assert tuple(paged) == all_events
    assert arena.ports.history.events(match, viewer, len(all_events), 5) == ()
    assert arena.ports.history.events(match, viewer, len(all_events) + 9, 5) == ()


def test_events_of_an_older_match_end_with_it() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    old: Match = arena.ports.history.at(table, 3)
    assert len(arena.ports.history.events(old, None, 0, 100)) == 3


def test_missing_and_changed_events_are_corrupt() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    match = arena.match(table)
    stored = arena.log.stored(table)
    history = another_process(arena)
    arena.log.rewrite(table, stored[:3])
    for after in (0, 2, 3):
        with pytest.raises(Corrupt) as caught:
            history.events(match, None, after, 10)
        assert caught.value.version == 4
    arena.log.rewrite(table, (*stored[:2], stored[2].replace(b"anna", b"nina").replace(b"ben", b"bob"), stored[3]))
    with pytest.raises(Corrupt) as caught:
        history.events(match, None, 0, 10)
    assert caught.value.version == 4
    for garbage in (b"", b"\xff", ENDLESS):
        arena.log.rewrite(table, (*stored[:2], garbage, stored[3]))
        with pytest.raises(Corrupt) as caught:
            history.events(match, None, 3, 10)
        assert caught.value.version == 3


@pytest.mark.unmeasured
def test_recent_events_are_the_same_from_the_cache_as_from_the_log() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    reader = another_process(arena)
    reader.newest(table)
    while True:
        arena.work(table)
        match, _ = reader.newest(table)
        for viewer in (None, 0, 1):
            for after in range(max(0, match.head.version - CACHED_EVENTS - 2), match.head.version):
                shown = reader.events(match, viewer, after, 100)
                assert shown == another_process(arena).events(match, viewer, after, 100)
        if match.is_over:
            break
        player = next((name for one in match.decisions() if (name := person(match, one.seat))), None)
        if player is None:
            arena.ring(table)
        else:
            arena.time = max(arena.time, match.decisions()[0].opens_at)
            arena.act(table, player)


def test_cached_events_of_a_lost_history_are_not_served() -> None:
    """A store that lost events and continued differently shows nothing of the old history."""
    arena = Arena()
    table = arena.toy("anna", "ben")
    reader = another_process(arena)
    before, _ = reader.newest(table)
    arena.leave(table, "anna")
    lost, _ = reader.newest(table)
    assert [event.type for event in reader.events(lost, None, before.head.version, 9)] == ["resigned"]
    arena.log.rewrite(table, arena.log.stored(table)[: before.head.version])
    arena.log._matches[table].commands.clear()
    arena.ports = replace(arena.ports, history=another_process(arena))
    arena.leave(table, "ben")
    found, _ = reader.newest(table)
    (event,) = reader.events(found, None, before.head.version, 9)
    assert (event.by, event.hash) == ("seat:1", found.head.hash)


def test_events_that_were_cached_out_of_order_are_read_from_the_log() -> None:
    """If two threads append one after the other, the second may update the cache first."""
    arena = Arena()
    table = arena.toy("anna", "ben")
    cached = VerifiedEvents(arena.log)
    second, third = (arena.ports.history.at(table, version) for version in (2, 3))
    first, _, last = VerifiedEvents(arena.log).read(third, 0, 9)
    cached.keep(table, [first])
    cached.keep(table, [last])
    arena.log.calls.clear()
    assert [one.event.version for one in cached.read(third, 0, 9)] == [1, 2, 3]
    assert arena.log.calls == ["read"]
    assert [one.head for one in cached.read(third, 2, 9)] == [third.head]
    assert [one.head for one in cached.read(second, 1, 9)] == [second.head]
    assert arena.log.calls == ["read", "read"]
