"""Writes the files of a dump so that each appears only when it is complete and on the disk."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
from msgspec.structs import replace

from events.record import MatchId, canonical, digest
from service.audit.dump_files import INDEX, SUMS, HeadRow, Index, Part, checksum, sums_of, zstd

MAX_MATCHES: Final = 1000
MAX_PART_BYTES: Final = 1 << 26
"""A part that has this many matches or compressed bytes is complete."""
_SYNC_BYTES: Final = 1 << 20
"""The draft of a part is written to the disk this often, since the log's own writes wait for a large one."""
_LEVEL: Final = 9
_OPTIONS: Final[dict[int, int]] = {
    zstd.CompressionParameter.compression_level: _LEVEL,
    zstd.CompressionParameter.checksum_flag: 1,
}
_COLUMNS: Final = ",".join(HeadRow._fields)


def replace_file(path: Path, content: Iterable[bytes]) -> None:
    """Write a file so that it has either its old content or all of the new content, also after a loss of power."""
    draft = path.with_name(f"{path.name}.part")
    with _new(draft) as file:
        file.writelines(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _new(draft: Path) -> BinaryIO:
    """A new file to write to. What had its name is removed, so that nothing is written through a link."""
    draft.unlink(missing_ok=True)
    return draft.open("xb")


class PartWriter:
    """Collects matches in a draft of a part."""

    def __init__(self, folder: Path, month: str, number: int) -> None:
        self.month = month
        self._path = folder / f"{month}-{number:04}.ndjson.zst"
        self._heads = folder / f"{month}-{number:04}.heads.csv"
        self._draft = _new(self._path.with_name(f"{self._path.name}.part"))
        self._hash = sha256()
        self._rows: list[HeadRow] = []
        self._size = 0
        self._synced = 0

    def discard(self) -> None:
        """Remove the draft."""
        with suppress(OSError):  # a full disk refuses what was not written yet
            self._draft.close()
        Path(self._draft.name).unlink(missing_ok=True)

    @property
    def is_full(self) -> bool:
        return len(self._rows) >= MAX_MATCHES or self._size >= MAX_PART_BYTES

    def add(self, lines: Sequence[bytes], game: str, match: MatchId, ended_at: int) -> None:
        """Add a match, given the lines of its file without newlines."""
        frame = zstd.compress(b"".join([line + b"\n" for line in lines]), options=_OPTIONS)
        self._draft.write(frame)
        self._hash.update(frame)
        self._rows.append(HeadRow(match, game, ended_at, len(lines) - 1, digest(lines[-1]), self._size, len(frame)))
        self._size += len(frame)
        if self._size - self._synced >= _SYNC_BYTES:
            self._sync()

    def finish(self, prev: str) -> Part:
        """Write both files; returns the entry for the index, which follows the entry with the digest `prev`."""
        table = "".join(f"{line}\n" for line in (_COLUMNS, *(",".join(map(str, row)) for row in self._rows))).encode()
        self._sync()
        self._draft.close()
        Path(self._draft.name).replace(self._path)
        replace_file(self._heads, [table])
        return Part(
            month=self.month,
            file=self._path.name,
            matches=len(self._rows),
            events=sum(row.version for row in self._rows),
            bytes=self._size,
            sha256=self._hash.hexdigest(),
            heads=self._heads.name,
            heads_sha256=digest(table),
            prev=prev,
        )

    def _sync(self) -> None:
        self._draft.flush()
        os.fsync(self._draft.fileno())
        self._synced = self._size


def write_sums(folder: Path, index: Index) -> None:
    """Write the list of checksums of an index. It is written before the index, when the files are there already."""
    replace_file(folder / SUMS, [sums_of(index)])


def write_index(folder: Path, index: Index) -> None:
    sealed = replace(index, checksum=checksum(index))
    write_sums(folder, sealed)
    replace_file(folder / INDEX, [msgspec.json.format(canonical(sealed)), b"\n"])


def written(file: BinaryIO) -> zstd.ZstdFile:
    """A stream that is compressed quickly into a file, for data that is soon read again."""
    return zstd.ZstdFile(file, "w", level=1)
