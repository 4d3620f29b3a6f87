"""The files of a dump: match files by month, a table of heads for each of these files, and an index of them all.

Matches are in parts, `<month>-<number>.ndjson.zst`. A part is a series of match files, each compressed by itself as one
zstd frame with a checksum (RFC 8878), so that a reader can decompress one match alone. Beside it,
`<month>-<number>.heads.csv` has a row for each match: its newest version and hash, and where its frame is.

Files appear only when they are complete, and a part never changes. `index.json` names all parts with their SHA-256. Its
entries form a chain, so `head` is a digest of the whole dump up to its newest part: whoever kept an earlier `head` can
check that the dump only grew.
"""

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, BinaryIO, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from events.log import MAX_BYTES
from events.record import MatchId, Version, canonical, digest
from service.audit.match_file import FirstLine

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FORMAT: Final = "moonstone-dump/1"
INDEX: Final = "index.json"
ZSTD: Final = b"\x28\xb5\x2f\xfd"
"""The first four bytes of a zstd frame (RFC 8878, 3.1.1)."""
DAMAGED: Final = (zstd.ZstdError, EOFError)
"""What reading a damaged zstd file raises."""

MAX_MATCHES: Final = 1000
MAX_PART_BYTES: Final = 1 << 26
"""A part that has this many matches or compressed bytes is complete."""
MAX_MATCH_BYTES: Final = 1 << 28
"""The largest size of a match file."""
_FIRST_LINE: Final = b'{"format":'
"""The start of the first line of a match file. The canonical form of an event starts with another field."""
_LEVEL: Final = 9
_COLUMNS: Final = "match,game,ended_at,version,head,offset,bytes"
_OPTIONS: Final[dict[int, int]] = {
    zstd.CompressionParameter.compression_level: _LEVEL,
    zstd.CompressionParameter.checksum_flag: 1,
}
_Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
_Name = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{4,6}-[0-9]{2}-[0-9]{4,}\.(ndjson\.zst|heads\.csv)\Z")]


class BadDump(Exception):
    """The files are not those of a whole dump; the text names the file and its fault."""


class HeadRow(NamedTuple):
    """A match of a part: its newest version and hash, the server time (ms) of its end, and where its frame is."""

    match: MatchId
    game: str
    ended_at: int
    version: Version
    head: str
    offset: int
    bytes: int


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of matches that ended in one month (UTC), and its table of heads.

    `prev` is the digest of the entry before, in canonical form; empty for the first.
    """

    month: str
    file: _Name
    matches: int
    events: int
    bytes: int
    sha256: _Sha256
    heads: _Name
    heads_sha256: _Sha256
    prev: str


class Index(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All parts of a dump.

    `store` is a digest of the id of the store that it is of. `after` is the number of the newest end that was looked at,
    and `left_out` are the matches that could not be read then. `head` is the digest of the last part's entry. `checksum` is
    the digest of the index in canonical form, with an empty `checksum`.
    """

    format: str
    store: str
    after: int = 0
    left_out: tuple[MatchId, ...] = ()
    parts: tuple[Part, ...] = ()
    head: str = ""
    checksum: str = ""


def head_of(parts: Sequence[Part]) -> str:
    """The digest of a dump that has these parts."""
    return digest(canonical(parts[-1])) if parts else ""


def month_of(ended_at: int) -> str:
    """The month (UTC) of a server time in milliseconds, such as 2026-11."""
    return time.strftime("%Y-%m", time.gmtime(ended_at // 1000))


def replace_file(path: Path, content: Iterable[bytes]) -> None:
    """Write a file so that it has either its old content or all of the new content, also after a loss of power."""
    draft = path.with_name(f"{path.name}.part")
    with draft.open("wb") as file:
        file.writelines(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


class PartWriter:
    """Collects matches in a draft of a part."""

    def __init__(self, folder: Path, month: str, number: int) -> None:
        self.month = month
        self._path = folder / f"{month}-{number:04}.ndjson.zst"
        self._heads = folder / f"{month}-{number:04}.heads.csv"
        self._draft = self._path.with_name(f"{self._path.name}.part").open("wb")
        self._hash = sha256()
        self._rows: list[HeadRow] = []
        self._size = 0

    def close(self) -> None:
        """Give the draft up."""
        self._draft.close()

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

    def finish(self, prev: str) -> Part:
        """Write both files; returns the entry for the index, which follows the entry with the digest `prev`."""
        table = "".join(f"{line}\n" for line in (_COLUMNS, *(",".join(map(str, row)) for row in self._rows))).encode()
        self._draft.flush()
        os.fsync(self._draft.fileno())
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


def write_index(folder: Path, index: Index) -> None:
    sealed = replace(index, checksum=_checksum(index))
    replace_file(folder / INDEX, [msgspec.json.format(canonical(sealed)), b"\n"])


def _checksum(index: Index) -> str:
    return digest(canonical(replace(index, checksum="")))


def read_index(folder: Path) -> Index | None:
    """The index of a dump, after a check of the chain of its entries; None if the folder has none.

    Raises:
        BadDump: the file is not an index, or its entries were changed.
    """
    path = folder / INDEX
    try:
        index = msgspec.json.decode(path.read_bytes(), type=Index)
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:
        raise BadDump(f"{path} is not the index of a dump: {error}") from None
    if index.format != FORMAT:
        raise BadDump(f"{path} has the format {index.format[:40]}; this program reads {FORMAT}")
    if [part.prev for part in index.parts] != [head_of(index.parts[:end]) for end in range(len(index.parts))]:
        raise BadDump(f"{path} was changed: its entries do not follow each other")
    if index.head != head_of(index.parts) or index.checksum != _checksum(index):
        raise BadDump(f"{path} was changed: its head or its checksum is not that of its entries")
    return index


def read_heads(folder: Path, part: Part) -> list[HeadRow]:
    """The table of heads of a part, after a check of its checksum.

    Raises:
        BadDump: the table is missing or damaged.
    """
    path = folder / part.heads
    try:
        table = path.read_bytes()
    except FileNotFoundError:
        raise BadDump(f"{path} is missing") from None
    if digest(table) != part.heads_sha256:
        raise BadDump(f"{path} is damaged: its SHA-256 is not the one in {INDEX}")
    rows = []
    for line in table.decode().splitlines()[1:]:
        match, game, ended_at, version, head, offset, size = line.split(",")
        rows.append(HeadRow(match, game, int(ended_at), int(version), head, int(offset), int(size)))
    return rows


def file_digest(path: Path) -> str:
    """The SHA-256 of a file in hex, read in chunks.

    Raises:
        BadDump: the file is missing.
    """
    hashed = sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                hashed.update(chunk)
    except FileNotFoundError:
        raise BadDump(f"{path} is missing") from None
    return hashed.hexdigest()


def opened(file: BinaryIO | Path) -> zstd.ZstdFile:
    """The decompressed content of a part, to be read as a stream."""
    return zstd.ZstdFile(file)


def written(file: BinaryIO) -> zstd.ZstdFile:
    """A stream that is compressed quickly into a file, for data that is soon read again."""
    return zstd.ZstdFile(file, "w", level=1)


def match_files(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Split the lines of a part into match files. At most one of them is in memory."""
    found: list[bytes] = []
    for line in lines:
        if found and line.startswith(_FIRST_LINE):
            yield found
            found = []
        found.append(line)
    if found:
        yield found


def bounded_lines(file: BinaryIO | zstd.ZstdFile) -> Iterator[bytes]:
    """The lines of a decompressed part, including newlines.

    Raises:
        BadDump: a line or a match is larger than any in a match file.
    """
    size = 0
    while line := file.readline(MAX_BYTES + 2):
        size = len(line) if line.startswith(_FIRST_LINE) else size + len(line)
        if len(line) > MAX_BYTES + 1 or size > MAX_MATCH_BYTES:
            raise BadDump("the file has a line or a match that is too large")
        yield line


def match_named(lines: Sequence[bytes]) -> MatchId | None:
    """The match that a match file names in its first line; None if that is no such line."""
    try:
        return msgspec.json.decode(lines[0], type=FirstLine).match
    except (ValueError, RecursionError):
        return None


def read_match(folder: Path, part: Part, row: HeadRow) -> list[bytes]:
    """The lines of one match, including newlines.

    Raises:
        BadDump: its frame is missing or damaged.
    """
    path = folder / part.file
    try:
        with path.open("rb") as file:
            file.seek(row.offset)
            return zstd.decompress(file.read(row.bytes)).splitlines(keepends=True)
    except FileNotFoundError:
        raise BadDump(f"{path} is missing") from None
    except DAMAGED as error:
        raise BadDump(f"{path}: the match {row.match} is damaged: {error}") from None
