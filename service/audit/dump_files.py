"""The files of a dump: match files by month, a table of heads for each of these files, and an index of them all.

Matches are in parts, `<month>-<number>.ndjson.zst`. A part is a series of match files, each compressed by itself as one
zstd frame with a checksum (RFC 8878), so that a reader can decompress one match alone. Beside it,
`<month>-<number>.heads.csv` has a row for each match: its newest version and hash, and where its frame is.

Files appear only when they are complete, and a part never changes. `index.json` names all parts with their SHA-256. Its
entries form a chain, so `head` is a digest of the whole dump up to its newest part: whoever kept an earlier `head` can
check that the dump only grew. `SHA256SUMS` has the same SHA-256 in the form that `sha256sum -c` reads.
"""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Annotated, BinaryIO, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from events.log import MAX_BYTES
from events.record import MatchId, canonical, digest
from service.audit.match_file import FirstLine

if sys.version_info >= (3, 14):
    from compression import zstd as zstd
else:
    from backports import zstd as zstd

FORMAT: Final = "moonstone-dump/1"
INDEX: Final = "index.json"
SUMS: Final = "SHA256SUMS"
ZSTD: Final = b"\x28\xb5\x2f\xfd"
"""The first four bytes of a zstd frame (RFC 8878, 3.1.1)."""
DAMAGED: Final = (zstd.ZstdError, EOFError)
"""What reading a damaged zstd file raises."""

MAX_MATCH_BYTES: Final = 1 << 28
"""The largest size of a match file, and of an index or a table of heads."""
MIN_LINE_BYTES: Final = 100
"""A shorter line counts as this many bytes, which limits the number of lines. A line with an event is longer."""
_FIRST_LINE: Final = b'{"format":'
"""The start of the first line of a match file. The canonical form of an event starts with another field."""
_Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
_Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]
_Name = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{4,6}-[0-9]{2}-[0-9]{4,}\.(ndjson\.zst|heads\.csv)\Z")]


class BadDump(Exception):
    """The files are not those of a whole dump; the text names the file and its fault."""


class HeadRow(NamedTuple):
    """A match of a part: its newest version and hash, the server time (ms) of its end, and where its frame is."""

    match: MatchId
    game: str
    ended_at: _Count
    version: _Count
    head: str
    offset: _Count
    bytes: _Count


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of matches that ended in one month (UTC), and its table of heads.

    `prev` is the digest of the entry before, in canonical form; empty for the first.
    """

    month: str
    file: _Name
    matches: _Count
    events: _Count
    bytes: _Count
    sha256: _Sha256
    heads: _Name
    heads_sha256: _Sha256
    prev: str

    @property
    def checksums(self) -> Sequence[tuple[str, str]]:
        """The SHA-256 and the name of both files."""
        return (self.sha256, self.file), (self.heads_sha256, self.heads)


class Index(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All parts of a dump.

    `store` is a digest of the id of the store that it is of. `head` is the digest of the last part's entry. `checksum`
    is the digest of the index in canonical form, with an empty `checksum`.
    """

    format: str
    store: str
    parts: tuple[Part, ...] = ()
    head: str = ""
    checksum: str = ""


def head_of(parts: Sequence[Part]) -> str:
    """The digest of a dump that has these parts."""
    return digest(canonical(parts[-1])) if parts else ""


def month_of(ended_at: int) -> str:
    """The month (UTC) of a server time in milliseconds, such as 2026-11."""
    return time.strftime("%Y-%m", time.gmtime(ended_at // 1000))


def checksum(index: Index) -> str:
    """The digest of an index without its checksum."""
    return digest(canonical(replace(index, checksum="")))


def sums_of(index: Index) -> bytes:
    """The content of `SHA256SUMS`: a line for each file that the index names."""
    files = ((sha256, name) for part in index.parts for sha256, name in part.checksums)
    return "".join(f"{sha256}  {name}\n" for sha256, name in files).encode()


def regular(path: Path) -> Path:
    """The path itself, if it is a regular file or a link to one. Reading a pipe or a device might never end.

    Raises:
        BadDump: it is missing or something else.
    """
    if not path.is_file():
        raise BadDump(f"{path} is {'not a regular file' if path.exists() else 'missing'}")
    return path


def _read_whole(path: Path) -> bytes:
    """The content of a regular file.

    Raises:
        BadDump: it is missing, too large, or not a regular file.
    """
    if regular(path).stat().st_size > MAX_MATCH_BYTES:
        raise BadDump(f"{path} is too large")
    return path.read_bytes()


def read_index(folder: Path) -> Index | None:
    """The index of a dump, after a check of the chain of its entries; None if the folder has none.

    Raises:
        BadDump: the file is not an index, or its entries were changed.
    """
    path = folder / INDEX
    if not path.exists():
        return None
    try:
        index = msgspec.json.decode(_read_whole(path), type=Index)
    except (ValueError, RecursionError) as error:
        raise BadDump(f"{path} is not the index of a dump: {error}") from None
    if index.format != FORMAT:
        raise BadDump(f"{path} has the format {index.format[:40]}; this program reads {FORMAT}")
    entries = [digest(canonical(part)) for part in index.parts]
    if [part.prev for part in index.parts] != ["", *entries][: len(entries)]:
        raise BadDump(f"{path} was changed: its entries do not follow each other")
    if index.head != head_of(index.parts) or index.checksum != checksum(index):
        raise BadDump(f"{path} was changed: its head or its checksum is not that of its entries")
    return index


def read_heads(folder: Path, part: Part) -> list[HeadRow]:
    """The table of heads of a part, after a check of its checksum.

    Raises:
        BadDump: the table is missing, damaged, or not such a table.
    """
    path = folder / part.heads
    table = _read_whole(path)
    if digest(table) != part.heads_sha256:
        raise BadDump(f"{path} is damaged: its SHA-256 is not the one in {INDEX}")
    try:
        cells = [line.split(",") for line in table.decode().splitlines()]
        if cells[:1] != [list(HeadRow._fields)]:
            raise BadDump(f"{path} does not begin with the names of the columns")
        return [msgspec.convert(row, HeadRow, strict=False) for row in cells[1:]]
    except ValueError as error:
        raise BadDump(f"{path} is not a table of heads: {error}") from None


def file_digest(path: Path) -> str:
    """The SHA-256 of a file in hex, read in chunks.

    Raises:
        BadDump: the file is missing, or not a regular file.
    """
    hashed = sha256()
    with regular(path).open("rb") as file:
        while chunk := file.read(1 << 20):
            hashed.update(chunk)
    return hashed.hexdigest()


def opened(file: BinaryIO | Path) -> zstd.ZstdFile:
    """The decompressed content of a part, to be read as a stream.

    Raises:
        BadDump: the file is missing, or not a regular file.
    """
    return zstd.ZstdFile(regular(file) if isinstance(file, Path) else file)


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


def bounded_lines(file: BinaryIO | zstd.ZstdFile, name: str = "the file") -> Iterator[bytes]:
    """The lines of a decompressed part, including newlines. Errors call it by `name`.

    Raises:
        BadDump: a line or a match is larger than any in a match file.
    """
    size = 0
    while line := file.readline(MAX_BYTES + 2):
        counted = max(len(line), MIN_LINE_BYTES)
        size = counted if line.startswith(_FIRST_LINE) else size + counted
        if len(line) > MAX_BYTES + 1 or size > MAX_MATCH_BYTES:
            raise BadDump(f"{name} has a line or a match that is too large")
        yield line


def match_named(lines: Sequence[bytes]) -> MatchId | None:
    """The match that a match file names in its first line; None if that is no such line."""
    try:
        return msgspec.json.decode(lines[0], type=FirstLine).match
    except (ValueError, RecursionError, IndexError):
        return None


def read_match(folder: Path, part: Part, row: HeadRow) -> list[bytes]:
    """The lines of one match, including newlines.

    Raises:
        BadDump: its frame is missing or damaged.
    """
    path = folder / part.file
    with regular(path).open("rb") as file:
        file.seek(row.offset)
        frame = BytesIO(file.read(min(row.bytes, MAX_MATCH_BYTES)))
    try:
        lines = next(match_files(bounded_lines(opened(frame), str(path))), [])
    except DAMAGED as error:
        raise BadDump(f"{path}: the match {row.match} is damaged: {error}") from None
    if match_named(lines) != row.match:
        raise BadDump(f"{path}: the match {row.match} is not at its offset")
    return lines
