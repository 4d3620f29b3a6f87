"""A change of any value in any event of a finished match is found, unless nothing in the file depends on the value."""

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import pytest

from events.record import canonical
from service.audit.verify import Fault, verify
from service.games.registry import GAMES
from service.match.randomness import Draws
from tests.length import LONG
from tests.service.audit.match_files import File, Lines, played

Path: TypeAlias = tuple[Any, ...]

FREE: Final = {
    "at", "salt", "match_created private", "match_created open_ms", "match_created manual_start", "match_created clock bot_pace_ms",
    "match_created clock", "match_created clock turn_seconds", "match_created clock bank_seconds", "match_created clock increment_seconds",
    # the order of cards that are played together
    "action action cards",
}  # fmt: skip
"""Values that may differ: times between two others, and clocks that would not have run out with the new value."""

pytestmark = pytest.mark.unmeasured  # the tests of each fault cover the audit


GAME_PARTS: Final = frozenset({"effects", "action", "draws"})
"""The fields of an event's data whose content depends on the game."""


def leaves(value: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        yield from leaves(part, (*path, name))
    yield path, value


def other_values(value: object) -> Iterator[object]:
    """Other possible values."""
    match value:
        case bool():
            yield not value
        case int():
            yield from (value + 1, value - 1)
        case str():
            yield value + "x"
        case list():
            yield from (value[1:], [*value, *value[-1:]], value[::-1])
        case dict():
            yield {**value, "mood": "good"}
            yield from ({other: value[other] for other in value if other != name} for name in value)


def some_of(values: tuple[object, ...], number: int) -> tuple[object, ...]:
    """The values; in the short form the one with this number, counted cyclically."""
    return values if LONG or not values else (values[number % len(values)],)


def one_of_each_kind(lines: Lines) -> Iterator[tuple[str, int, Path, object]]:
    """One value of each kind, by its JSON path without numbers.

    In the short form, every third of those of the game, and all that every game has: who did what, in which seat, when.
    """
    labels: set[str] = set()
    file = File(lines)
    found = [
        (version, path, value)
        for version, event in enumerate(file.events[1:], 1)
        for path, value in leaves(event)
        if path and path[0] not in {"prev", "version"}
    ]
    for version, path, value in Draws(lambda: bytes(32), {}).shuffle("values", found):
        names = [step for step in path if isinstance(step, str) and step != "data"]
        label = names[0] if names and names[0] in {"at", "salt"} else " ".join([file.events[version]["type"], *names])
        if label not in labels:
            labels.add(label)
            is_common = GAME_PARTS.isdisjoint(names) or names[-1] in {"type", "seat"}
            if LONG or is_common or len(labels) % 3 == 0:
                yield label, version, path, value


@pytest.mark.long
@pytest.mark.parametrize("name", GAMES)
def test_a_change_of_any_value_is_found(name: str) -> None:
    """In the short form, one other value of each kind, but of those of the game only of each third."""
    lines = played(name)
    assert verify(lines, GAMES).match.status == "finished"
    missed = {
        label
        for number, (label, version, path, value) in enumerate(one_of_each_kind(lines))
        if any(passes(lines, version, path, other) for other in some_of(tuple(other_values(value)), number))
    }
    assert missed <= FREE


@pytest.mark.long
@pytest.mark.parametrize("name", GAMES)
def test_no_event_can_be_left_out_or_repeated(name: str) -> None:
    """In a simultaneous game, a match without its last unanswered event is also possible. Only the head reveals the change."""
    lines = played(name)
    for version in Draws(lambda: bytes(32), {}).shuffle("versions", range(1, len(lines)))[: 30 if LONG else 4]:
        without, twice = File(lines), File(lines)
        del without.events[version]
        twice.events.insert(version, twice.events[version])
        for file in (twice,) if GAMES[name].info.simultaneous else (without, twice):
            with pytest.raises(Fault):
                verify(file.sealed(), GAMES)


def passes(lines: Lines, version: int, path: Path, other: object) -> bool:
    file = File(lines)
    parent: Any = file.events[version]
    for step in path[:-1]:
        parent = parent[step]
    if canonical(parent[path[-1]]) == canonical(other):
        return False
    parent[path[-1]] = other
    try:
        verify(file.sealed(), GAMES)
    except Fault:
        return False
    return True
