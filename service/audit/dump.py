"""Copies the public matches that are over from the log into a dump, in the order in which they ended.

Matches are copied byte for byte. The index is saved after each part, so a run that was killed is continued after its
last part. Each run compares the log's list of ended matches with the matches in the dump, and depends on no clock.
"""

import fcntl
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from events.record import MatchId
from service.audit.dump_files import FORMAT, INDEX, SUMS, BadDump, Index, head_of, month_of, read_heads, read_index
from service.audit.dump_source import Ended, Source
from service.audit.dump_writer import PartWriter, write_index, write_sums
from service.audit.verify import Fault

_NAMES: Final = re.compile(
    r"[0-9]{4,6}-[0-9]{2}-(?P<number>[0-9]{4,})\.(ndjson\.zst|heads\.csv)(?P<draft>\.part)?|(index\.json|SHA256SUMS)\.part"
)
_BEFORE_THE_INDEX: Final = {SUMS, f"{SUMS}.part", f"{INDEX}.part"}
"""What a run that was killed may have written before the index of a new dump."""

Report = Callable[[str], object]
Progress: TypeAlias = Callable[[Sequence[MatchId]], AbstractContextManager[Iterable[MatchId]]]
"""Gives the matches back one by one, and shows how many are done."""


class Summary(NamedTuple):
    """What a run added, and how many matches it had to leave out."""

    matches: int
    events: int
    left_out: int
    head: str


def extend(source: Source, folder: Path, store: str, report: Report, progress: Progress) -> Summary:
    """Add all public matches that are over, and not yet in it, to the dump in a folder; a new folder gets a new dump.

    `store` is a digest of the store's id. Each match that cannot be read is reported and left out, and the next run
    tries it again.

    Raises:
        BadDump: the folder has files that are not of a whole dump of this store, or another process writes to it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        return _Run(source, folder, _index(folder, store), report).run(progress)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let no other process write to the dump. The lock ends with the process."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadDump(f"another process writes to the dump in {folder}") from None
        yield
    finally:
        os.close(descriptor)


def _index(folder: Path, store: str) -> Index:
    """The index of the folder's dump, after a check that its files are there and have the right size.

    A new folder gets an index without parts. Files of a run that was killed, which the index does not name, are removed.
    """
    index = read_index(folder)
    if index is None:
        if strange := sorted(path.name for path in folder.iterdir() if path.name not in _BEFORE_THE_INDEX):
            raise BadDump(f"{folder} has no index.json but other files ({strange[0]}); give a new or an empty folder")
        index = Index(FORMAT, store)
        write_index(folder, index)
    if index.store != store:
        raise BadDump(f"the dump in {folder} is of another store")
    for part in index.parts:
        path = folder / part.file
        if not path.exists() or path.stat().st_size != part.bytes:
            raise BadDump(f"{path} is missing or damaged; get it back from a copy, or make a new dump")
    leftovers = _leftovers(folder, index)
    write_sums(folder, index)
    for path in leftovers:
        path.unlink(missing_ok=True)  # its draft has just become the new SHA256SUMS
    return index


def _leftovers(folder: Path, index: Index) -> list[Path]:
    """The files of a run that was killed: drafts, and the part that would have been the next one.

    Raises:
        BadDump: there are other parts that the index does not name, so it is not the newest index.
    """
    named = {name for part in index.parts for _, name in part.checksums}
    found: list[Path] = []
    for path in folder.iterdir():
        name = _NAMES.fullmatch(path.name)
        if name is None or path.name in named:
            continue
        is_draft = name["number"] is None or name["draft"] is not None
        if not is_draft and int(name["number"]) != len(index.parts) + 1:
            raise BadDump(f"{path} is not in {INDEX}; get the newest {INDEX} back from a copy, or make a new dump")
        found.append(path)
    return found


class _Run:
    """One run: the index as saved last, and the part that is being written."""

    def __init__(self, source: Source, folder: Path, index: Index, report: Report) -> None:
        self._source = source
        self._folder = folder
        self._index = index
        self._report = report
        self._left_out = 0
        self._writer: PartWriter | None = None

    def run(self, progress: Progress) -> Summary:
        before = self._index.parts
        known = {row.match for part in before for row in read_heads(self._folder, part)}
        listed = dict.fromkeys(self._source.listed())
        new = [match_id for match_id in listed if match_id not in known]
        if lost := known - listed.keys():
            self._report(
                f"the store lacks {len(lost)} matches of the dump, for example {min(lost)}, as after a restore from an older "
                f"backup; other matches may have ended differently since then, so begin a new dump"
            )
        try:
            with progress(new) as matches:
                for match_id in matches:
                    self._copy(match_id)
            self._save()
        finally:
            if self._writer is not None:
                self._writer.discard()
        added = self._index.parts[len(before) :]
        matches_added, events = sum(part.matches for part in added), sum(part.events for part in added)
        return Summary(matches_added, events, self._left_out, self._index.head)

    def _copy(self, match_id: MatchId) -> None:
        """Add a match, unless it cannot be read, is private, or is not over; then a later run looks at it again."""
        try:
            found = self._source.match(match_id)
        except Fault as fault:
            self._report(f"match {match_id} is left out: version {fault.version}: {fault.text}")
            self._left_out += 1
            return
        if found is not None and not found.is_private:
            self._add(match_id, found)

    def _add(self, match_id: MatchId, found: Ended) -> None:
        month = month_of(found.ended_at)
        if self._writer is not None and (self._writer.is_full or self._writer.month != month):
            self._save()
        if self._writer is None:
            self._writer = PartWriter(self._folder, month, len(self._index.parts) + 1)
        self._writer.add(found.lines, found.game, match_id, found.ended_at)

    def _save(self) -> None:
        """Complete the part, if there is one, and save the index."""
        parts = self._index.parts
        if self._writer is not None:
            parts = (*parts, self._writer.finish(self._index.head))
            self._writer = None
        self._index = replace(self._index, parts=parts, head=head_of(parts))
        write_index(self._folder, self._index)
