"""Checks a dump: its index, the checksums of its files, its tables of heads, and each match in them.

Every match in a dump must be public and over, and there once.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from events.record import MatchId, Version, decode, digest
from service.audit.dump_files import (
    DAMAGED,
    INDEX,
    SUMS,
    BadDump,
    HeadRow,
    Index,
    Part,
    bounded_lines,
    file_digest,
    match_files,
    match_named,
    month_of,
    opened,
    read_heads,
    read_index,
    read_match,
    regular,
    sums_of,
)
from service.audit.match_file import split
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
    sums = folder / SUMS
    if not _begins_with(sums, sums_of(index)):  # after a kill it may list one part more
        yield Checked(None, 0, f"{sums} does not list the files of {INDEX} with their SHA-256")
    seen: set[MatchId] = set()
    for part in index.parts:
        for checked in _check_part(folder, part, games):
            if checked.match is not None and checked.match in seen:
                yield checked._replace(fault="is in the dump twice")
            else:
                yield checked
            if checked.match is not None and checked.events:
                seen.add(checked.match)


def _begins_with(path: Path, content: bytes) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(content)) == content


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
        rows = read_heads(folder, part)
        months = {month_of(row.ended_at) for row in rows}
        if (*_totals(rows), months) != (part.matches, part.events, part.bytes, {part.month}):
            yield Checked(None, 0, f"{folder / part.heads} has other matches than its entry in {INDEX} says")
        expected = {row.match: row for row in rows}
        packed_file = regular(folder / part.file)
        if packed_file.stat().st_size != part.bytes or file_digest(packed_file) != part.sha256:
            yield Checked(None, 0, f"{folder / part.file} is damaged: its SHA-256 is not the one in {INDEX}")
        with opened(packed_file) as packed:
            for lines in match_files(bounded_lines(packed, str(packed_file))):
                yield _against(expected.pop(match_named(lines) or "", None), lines, games)
    except BadDump as fault:
        yield Checked(None, 0, str(fault))
    except DAMAGED as error:
        yield Checked(None, 0, f"{folder / part.file} is damaged: {error}")
    else:
        for match in expected:
            yield Checked(match, 0, f"is in {part.heads} but not in {part.file}")


def _totals(rows: Sequence[HeadRow]) -> tuple[int, int, int]:
    """The number of matches, events and bytes; -1 bytes if the frames do not follow each other."""
    size = 0
    for row in rows:
        size = size + row.bytes if row.offset == size else -1
    return len(rows), sum(row.version for row in rows), size


def _against(row: HeadRow | None, lines: list[bytes], games: Mapping[str, AnyGame]) -> Checked:
    """Check a match and compare it with its row in the table of heads."""
    checked = check_match(lines, games)
    if checked.fault is not None:
        return checked
    if row is None:
        return checked._replace(fault="is not in the table of heads")
    first, stored = split(lines)
    newest = decode(stored[-1])
    found = row._replace(game=first.game, ended_at=newest.at, version=newest.version, head=digest(stored[-1]))
    wrong = next((name for name in HeadRow._fields if getattr(row, name) != getattr(found, name)), None)
    return checked if wrong is None else checked._replace(fault=f"has another {wrong} than in the table of heads")


def check_match(lines: list[bytes], games: Mapping[str, AnyGame]) -> Checked:
    """Check a match of a dump by itself."""
    try:
        verdict = verify(lines, games)
    except Fault as fault:
        return Checked(match_named(lines), 0, f"version {fault.version}, {fault.check}: {fault.text}")
    match = verdict.match
    private = "is private, and no private match may be in a dump" if match.created.private else None
    return Checked(match.id, match.head.version, private, is_old=verdict.checks != CHECKS)


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
