"""Events as pages: every version for every viewer, the chain checked."""

from itertools import pairwise

import pytest

from events.record import digest
from service.errors import Corrupt
from service.games.visibility import Viewer
from service.match import Match
from service.redaction import SeenEvent
from tests.service.arena import ENDLESS, Arena


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
def test_pages_of_any_size_are_the_whole(viewer: Viewer) -> None:
    arena = Arena()
    match = arena.play_out(arena.toy("anna", "ben"))
    whole = arena.ports.history.events(match, viewer, 0, 100)
    for size in (1, 2, 7, len(whole), len(whole) + 1):
        paged: list[SeenEvent] = []
        for after in range(0, len(whole), size):
            arena.log.calls.clear()
            paged += arena.ports.history.events(match, viewer, after, size)
            assert arena.log.calls == ["read"]
        assert tuple(paged) == whole
    assert arena.ports.history.events(match, viewer, len(whole), 5) == ()
    assert arena.ports.history.events(match, viewer, len(whole) + 9, 5) == ()


def test_events_of_an_older_match_end_with_it() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    old: Match = arena.ports.history.at(table, 3)
    assert len(arena.ports.history.events(old, None, 0, 100)) == 3


def test_events_that_vanished_or_changed_are_corrupt() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    match = arena.match(table)
    stored = arena.log.stored(table)
    arena.log.rewrite(table, stored[:3])
    for after in (0, 2, 3):
        with pytest.raises(Corrupt) as caught:
            arena.ports.history.events(match, None, after, 10)
        assert caught.value.version == 4
    arena.log.rewrite(table, (*stored[:2], stored[2].replace(b"anna", b"nina").replace(b"ben", b"bob"), stored[3]))
    with pytest.raises(Corrupt) as caught:
        arena.ports.history.events(match, None, 0, 10)
    assert caught.value.version == 4
    for garbage in (b"", b"\xff", ENDLESS):
        arena.log.rewrite(table, (*stored[:2], garbage, stored[3]))
        with pytest.raises(Corrupt) as caught:
            arena.ports.history.events(match, None, 3, 10)
        assert caught.value.version == 3
