"""Copies the public matches that are over from the log into a dump, in the order in which they ended.

Matches are copied byte for byte. The index is saved after each part, so a run that was killed is continued from its last
part, and a later run adds only matches that ended since.
"""

import fcntl
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from events.chain import FORMATS
from events.record import MatchId, decode
from service.audit.dump_files import (
    FORMAT,
    BadDump,
    Index,
    head_of,
    month_of,
    read_heads,
    read_index,
)
from service.audit.dump_writer import PartWriter, write_index
from service.audit.match_file import CHUNK, FirstLine
from service.audit.verify import Fault, check_chain
from service.match.events import MatchCreated
from service.repository.ports import ENDING_MS, Ports

_SETTLED_MS: Final = 2 * ENDING_MS
"""After this time an announced end is in the log, or never will be."""
_BATCH: Final = 1000
"""Number of entries of the list of ended matches that are read at a time."""
_NAMES: Final = re.compile(r"[0-9]{4,6}-[0-9]{2}-[0-9]{4,}\.(ndjson\.zst|heads\.csv)(\.part)?|index\.json\.part")

Report = Callable[[str], object]


class Summary(NamedTuple):
    """What a run added, and the matches that it had to leave out."""

    matches: int
    events: int
    left_out: int
    head: str


class _Ended(NamedTuple):
    """A match that is over: the lines of its file without newlines, and the server time (ms) of its end."""

    lines: tuple[bytes, ...]
    game: str
    ended_at: int
    private: bool


def extend(ports: Ports, folder: Path, store: str, report: Report, step: Callable[[], object]) -> Summary:
    """Add all public matches that ended since the last run to the dump in a folder; a new folder gets a new dump.

    `store` is a digest of the store's id. Each match that cannot be read is reported and left out, and the next run tries
    it again. `step` is called after each match.

    Raises:
        BadDump: the folder has files that are not of a whole dump of this store, or another process writes to it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        return _Run(ports, folder, _index(folder, store), report, step).run()


def count(ports: Ports, folder: Path) -> int:
    """About how many matches `extend` will look at, for a progress bar.

    Raises:
        BadDump: the folder has an index that cannot be read.
    """
    index = read_index(folder)
    after, again = (index.after, len(index.left_out)) if index else (0, 0)
    return again + sum(1 for _ in _ends(ports, after, ports.now()))


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

    Files of a run that was killed, which the index does not name, are removed.
    """
    index = read_index(folder)
    if index is None:
        if strange := sorted(path.name for path in folder.iterdir() if not _is_ours(path)):
            raise BadDump(f"{folder} has no dump but other files ({strange[0]}); give a new or an empty folder")
        index = Index(FORMAT, store)
    if index.store != store:
        raise BadDump(f"the dump in {folder} is of another store")
    sizes = {part.file: part.bytes for part in index.parts}
    for name, size in sizes.items():
        path = folder / name
        if not path.exists() or path.stat().st_size != size:
            raise BadDump(f"{path} is missing or damaged; get it back from a copy, or make a new dump")
    named = {*sizes, *(part.heads for part in index.parts)}
    for path in folder.iterdir():
        if _is_ours(path) and path.name not in named:
            path.unlink()
    return index


def _is_ours(path: Path) -> bool:
    """Whether a file has the name of a part, of a table of heads, or of a draft of a file of the dump."""
    return _NAMES.fullmatch(path.name) is not None


def _ends(ports: Ports, after: int, until: int) -> Iterator[tuple[int, MatchId]]:
    """Numbers and ids of the listed matches that ended after one server time (ms) and until another."""
    while listed := ports.index.ended(after, _BATCH):
        for number, entry in listed:
            if number > until:
                return
            yield number, entry.match_id
        after = listed[-1][0]


class _Run:
    """One run: the index as saved last, and the part that is being written."""

    def __init__(self, ports: Ports, folder: Path, index: Index, report: Report, step: Callable[[], object]) -> None:
        self._ports = ports
        self._folder = folder
        self._index = index
        self._report = report
        self._step = step
        self._known = {row.match for part in index.parts for row in read_heads(folder, part)}
        self._left_out = dict.fromkeys(index.left_out)
        self._after = index.after
        self._writer: PartWriter | None = None

    def run(self) -> Summary:
        before = len(self._index.parts)
        try:
            for match_id in self._index.left_out:
                self._copy(match_id)
                self._step()
            self._copy_new()
            self._save()
        finally:
            if self._writer is not None:
                self._writer.close()
        added = self._index.parts[before:]
        matches, events = sum(part.matches for part in added), sum(part.events for part in added)
        return Summary(matches, events, len(self._index.left_out), self._index.head)

    def _copy_new(self) -> None:
        """Copy the matches that ended since the last run, up to the first that is about to end.

        The list is read from a little before the last number, since a store that was restored may number its ends anew.
        """
        for number, match_id in _ends(self._ports, self._index.after - _SETTLED_MS, self._ports.now()):
            if match_id not in self._known and match_id not in self._left_out:
                is_over = self._copy(match_id)
                if not is_over and self._ports.now() - number <= _SETTLED_MS:
                    return
            if number > self._after:
                self._after = number
                self._step()

    def _copy(self, match_id: MatchId) -> bool:
        """Add a match, unless it is private or cannot be read. Returns False if it is not over."""
        try:
            found = _read(self._ports, match_id)
        except Fault as fault:
            self._report(f"match {match_id} is left out: version {fault.version}: {fault.text}")
            self._left_out[match_id] = None
            return True
        self._left_out.pop(match_id, None)
        if found is None:
            return False
        if not found.private:
            self._add(match_id, found)
        return True

    def _add(self, match_id: MatchId, found: _Ended) -> None:
        month = month_of(found.ended_at)
        if self._writer is not None and (self._writer.is_full or self._writer.month != month):
            self._save()
        if self._writer is None:
            self._writer = PartWriter(self._folder, month, len(self._index.parts) + 1)
        self._writer.add(found.lines, found.game, match_id, found.ended_at)
        self._known.add(match_id)

    def _save(self) -> None:
        """Complete the part, if there is one, and save the index."""
        parts = self._index.parts
        if self._writer is not None:
            parts = (*parts, self._writer.finish(self._index.head))
            self._writer = None
        self._index = replace(
            self._index, after=self._after, left_out=tuple(self._left_out), parts=parts, head=head_of(parts)
        )
        write_index(self._folder, self._index)


def _read(ports: Ports, match_id: MatchId) -> _Ended | None:
    """A match that is over, with an intact chain; None if it is not over.

    Raises:
        Fault: its events are missing, or their chain is broken.
    """
    stored = _stored(ports, match_id)
    try:
        created = msgspec.json.decode(decode(stored[0]).data, type=MatchCreated)
        newest = decode(stored[-1])
    except IndexError:
        raise Fault(0, "chain", "its events are missing") from None
    except (ValueError, RecursionError):
        raise Fault(len(stored), "chain", "is not an event that this release knows") from None
    if newest.type != "seed_revealed":
        return None
    first = FirstLine(FORMATS[created.format_number], match_id, created.game, created.ruleset)
    check_chain(first, stored)
    lines = (first.line[0], *stored)
    return _Ended(lines, created.game, newest.at, created.private)


def _stored(ports: Ports, match_id: MatchId) -> list[bytes]:
    stored: list[bytes] = []
    while True:
        began = time.monotonic()
        events = ports.log.read(match_id, first=len(stored) + 1, last=len(stored) + CHUNK).events
        stored += events
        if len(events) < CHUNK:
            return stored
        time.sleep(time.monotonic() - began)  # so that moves come between two large reads
