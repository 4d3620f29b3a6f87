"""Checks a dump: its index, the checksums of its files, its tables of heads, and each match in them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from events.record import MatchId, Version, digest
from service.audit.dump_files import (
    DAMAGED,
    INDEX,
    BadDump,
    HeadRow,
    Index,
    Part,
    bounded_lines,
    file_digest,
    match_files,
    match_named,
    opened,
    read_heads,
    read_index,
    read_match,
)
from service.audit.verify import CHECKS, Fault, verify
from service.games.protocol import AnyGame


class Checked(NamedTuple):
    """A match of a dump, its number of events, and its fault; None if it has none.

    `is_old`: an older ruleset played it, whose events cannot be decided again.
    """

    match: MatchId | None
    events: Version
    fault: str | None
    is_old: bool = False


def check_folder(folder: Path, index: Index, games: Mapping[str, AnyGame]) -> Iterator[Checked]:
    """Check all files of a dump. Yields each match, and a fault without a match for each file that is damaged."""
    for part in index.parts:
        yield from _check_part(folder, part, games)


def index_of(folder: Path) -> Index:
    """The index of the dump in a folder.

    Raises:
        BadDump: there is none, or it was changed.
    """
    index = read_index(folder)
    if index is None:
        raise BadDump(f"{folder} is not a dump: it has no {INDEX}")
    return index


def _check_part(folder: Path, part: Part, games: Mapping[str, AnyGame]) -> Iterator[Checked]:
    try:
        expected = {row.match: row for row in read_heads(folder, part)}
        if file_digest(folder / part.file) != part.sha256:
            yield Checked(None, 0, f"{folder / part.file} is damaged: its SHA-256 is not the one in {INDEX}")
        with opened(folder / part.file) as packed:
            for lines in match_files(bounded_lines(packed)):
                yield _against(expected.pop(match_named(lines) or "", None), lines, games)
    except BadDump as fault:
        yield Checked(None, 0, str(fault))
    except DAMAGED as error:
        yield Checked(None, 0, f"{folder / part.file} is damaged: {error}")
    else:
        for match in expected:
            yield Checked(match, 0, f"is in {part.heads} but not in {part.file}")


def _against(row: HeadRow | None, lines: list[bytes], games: Mapping[str, AnyGame]) -> Checked:
    checked = check_match(lines, games)
    if checked.fault is None and row is None:
        return checked._replace(fault="is not in the table of heads")
    if checked.fault is None and row is not None:
        found = len(lines) - 1, digest(lines[-1].removesuffix(b"\n"))
        if found != (row.version, row.head):
            return checked._replace(fault="has another head than in the table of heads")
    return checked


def check_match(lines: list[bytes], games: Mapping[str, AnyGame]) -> Checked:
    try:
        verdict = verify(lines, games)
    except Fault as fault:
        return Checked(match_named(lines), 0, f"version {fault.version}, {fault.check}: {fault.text}")
    return Checked(verdict.match.id, verdict.match.head.version, None, is_old=verdict.checks != CHECKS)


def find(folder: Path, match: MatchId) -> list[bytes] | None:
    """The lines of a match in a dump, including newlines; None if it is not in the tables of heads.

    Raises:
        BadDump: the index, a table of heads or the match is damaged or missing.
    """
    for part in index_of(folder).parts:
        for row in read_heads(folder, part):
            if row.match == match:
                return read_match(folder, part, row)
    return None
