"""The match file: a complete match, one event per line."""

import msgspec
import pytest

from events.chain import genesis
from events.record import canonical
from service.audit import match_file
from service.audit.match_file import export, split, summary
from tests.service.arena import Arena, refused


def finished(arena: Arena) -> str:
    table = arena.toy("anna", "ben", bots=("high",))
    arena.play_out(table)
    return table


@pytest.mark.parametrize("chunk", [1, 7, 500])
def test_a_file_is_the_first_line_and_every_event_as_it_is_stored(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_file, "CHUNK", chunk)
    arena = Arena()
    table = finished(arena)
    lines = list(export(arena.ports, arena.match(table)))
    assert lines[0] == b'{"format":"moonstone-match/2","game":"toy","match":"%s","ruleset":1}\n' % table.encode()
    assert b"".join(lines[1:]) == b"".join(stored + b"\n" for stored in arena.log.stored(table))


def test_a_match_is_exported_once_its_seed_is_revealed() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    refused("match-not-finished", export, arena.ports, arena.match(table))
    ended = arena.create()
    arena.leave(ended, "host")
    assert len(list(export(arena.ports, arena.match(ended)))) == 4


def test_a_file_is_split_again() -> None:
    arena = Arena()
    table = finished(arena)
    first, stored = split(export(arena.ports, arena.match(table)))
    assert (first.match, first.game, first.ruleset) == (table, "toy", 1)
    assert stored == arena.log.stored(table)


@pytest.mark.parametrize(
    "line",
    [
        None,
        b"",
        b"{}",
        b"\xff",
        b'{"format":"moonstone-match/1"}',
        genesis("m", "toy", 1)[0] + b" ",
        genesis("m", "toy", 1)[0].replace(b"/2", b"/3"),
        canonical({"format": "moonstone-match/1", "game": "toy", "match": "m", "ruleset": "1"}),
        b'{"game":"toy","format":"moonstone-match/1","match":"m","ruleset":1}',
    ],
)
def test_a_file_with_another_first_line_is_no_match_file(line: bytes | None) -> None:
    with pytest.raises(ValueError, match="the f"):
        split([] if line is None else [line])


def test_a_summary_has_the_game_and_its_outcome() -> None:
    arena = Arena()
    match = arena.match(finished(arena))
    found = summary(match)
    assert list(found) == ["game", "seats", "versions", "seed", "outcome"]
    assert (found["game"], found["seats"], found["versions"]) == ("toy", 3, match.head.version)
    assert found["seed"] == match.server_seed
    assert found["outcome"] == msgspec.to_builtins(match.outcome)
