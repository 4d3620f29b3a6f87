"""Dumps of matches of the toy game, for tests."""

from contextlib import nullcontext
from pathlib import Path
from typing import Final

from events.record import MatchId, digest
from service.audit.dump import Progress, Summary, extend
from service.audit.dump_check import Checked, check_folder, index_of
from service.audit.dump_files import bounded_lines, match_files, match_named, opened
from service.audit.dump_source import Source
from service.audit.match_file import export
from service.match.model import Match
from tests.service.arena import Arena
from tests.service.games.toy.game import TOY

STORE: Final = digest(b"a store")


def over(arena: Arena, *, private: bool = False) -> Match:
    """A match of two bots that has ended."""
    arena.wait(1_000)
    return arena.play_out(arena.create("toy", 2, bots=("high", "random"), private=private))


def source(arena: Arena) -> Source:
    return Source(arena.ports, sleep=lambda _: None)


def write(arena: Arena, folder: Path, report: list[str] | None = None, progress: Progress = nullcontext) -> Summary:
    return extend(source(arena), folder, STORE, ([] if report is None else report).append, progress)


def contents(folder: Path) -> dict[MatchId, bytes]:
    """The match files of a dump, after a check of all of it."""
    assert [found.fault for found in check_folder(folder, index_of(folder), {"toy": TOY}) if found.fault] == []
    found: dict[MatchId, bytes] = {}
    for part in index_of(folder).parts:
        with opened(folder / part.file) as packed:
            for lines in match_files(bounded_lines(packed)):
                match = match_named(lines)
                assert match is not None
                assert match not in found, "it is there twice"
                found[match] = b"".join(lines)
    return found


def exported(arena: Arena, *matches: Match) -> dict[MatchId, bytes]:
    return {match.id: b"".join(export(arena.ports, match)) for match in matches}


def faults(folder: Path) -> list[Checked]:
    return [found for found in check_folder(folder, index_of(folder), {"toy": TOY}) if found.fault is not None]
