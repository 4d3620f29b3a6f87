"""Reads what users give to `verify` and `dataset`: a match file, a file of matches of a dump, or the folder of a dump."""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedIOBase, BytesIO
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias, cast

import click

from events.chain import FORMATS, NEWEST_FORMAT
from events.log import MAX_BYTES
from service.audit import converted
from service.audit.dump_files import INDEX, MIN_LINE_BYTES, ZSTD, match_files
from service.match.characters import printable

_GZIP: Final = b"\x1f\x8b"
"""The first two bytes of a gzip file (RFC 1952)."""
_MAX_BYTES: Final = 1 << 28
"""The largest size of a match file after decompression, and of a part of a dump before it."""
_FORMAT_NAME: Final = FORMATS[NEWEST_FORMAT].partition("/")[0].encode()
_LINES_WITH_FORMAT: Final = 10
"""A converted match file names its format in one of this many lines, not always in the first."""


class Packed(NamedTuple):
    """A file of matches of a dump, still compressed, and its name for messages."""

    name: str
    content: bytes


Source: TypeAlias = list[bytes] | Packed | Path
"""The lines of a match file, a file of a dump, or the folder of a dump."""


def expanded(name: str) -> Sequence[str]:
    """The match files in a folder that is no dump, by name; otherwise only the name itself."""
    folder = Path(name)
    if name == "-" or not folder.is_dir() or (folder / INDEX).exists():
        return [name]
    return sorted(str(file) for ending in ("ndjson", "ndjson.gz") for file in folder.glob(f"*.{ending}")) or [name]


def opened(name: str) -> Source:
    """What the file or folder of this name holds; - is stdin. Raises as `source_of`."""
    if name != "-" and (folder := Path(name)).is_dir():
        if expanded(name) == [name] and not (folder / INDEX).exists():
            raise click.ClickException(printable(f"{name} has no match files, and no {INDEX} of a dump."))
        return folder
    with click.open_file(name, "rb") as file:
        return source_of(cast(BufferedIOBase, file))


def source_of(file: BufferedIOBase) -> Source:
    """What a file holds. A match file may be gzip-compressed, as the service sends it.

    Raises:
        click.ClickException: it is a file of something else, or was damaged or converted.
    """
    start = file.readline(MAX_BYTES + 2)
    if start.startswith(ZSTD):
        return Packed(str(getattr(file, "name", "The file")), start + read(file))
    if not start.startswith(_GZIP):
        return _match_file(list(_bounded(file, start)))
    with _gzip("The file", start + read(file)) as packed:
        return _match_file(list(_bounded(packed, packed.readline(MAX_BYTES + 2))))


def _match_file(lines: list[bytes]) -> list[bytes]:
    if not any(_FORMAT_NAME in line for line in lines[:_LINES_WITH_FORMAT]):
        fault = "does not name the format of one in its first line" if lines else "is empty"
        raise click.ClickException(
            f"The file is not a match file: it {fault}. GET /v1/matches/ID/export gives the file of a match that is over, and "
            f"`moonstone play --export FILE` writes one."
        )
    if done := converted.by_its_lines(lines):
        raise click.ClickException(converted_text("The file", done))
    if next(match_files(lines)) != lines:
        raise click.ClickException("The file has several matches: give the compressed file of the dump (.ndjson.zst).")
    return lines


def unpacked(name: str, content: bytes) -> bytes:
    """Content that may be gzip-compressed, without the compression."""
    if not content.startswith(_GZIP):
        return content
    with _gzip(name, content) as packed:
        return read(packed)


@contextmanager
def _gzip(name: str, content: bytes) -> Iterator[gzip.GzipFile]:
    try:
        with gzip.open(BytesIO(content)) as packed:
            yield packed
    except (OSError, EOFError, zlib.error) as error:
        raise click.ClickException(f"{name} is gzip, but damaged: {error}.") from None


def converted_text(name: str, done: str) -> str:
    """Says that a file was converted, and what to do."""
    return (
        f"{name} was converted on its way: {done}. Fetch it again and keep it byte for byte, because the "
        f"hashes are computed from these bytes."
    )


def _bounded(file: BufferedIOBase | gzip.GzipFile, line: bytes) -> Iterator[bytes]:
    """All lines, of which `line` is the first. A file that is too large raises, so that endless input ends too."""
    if done := converted.by_its_start(line):
        raise click.ClickException(converted_text("The file", done))
    size = number = 0
    while line:
        size, number = size + max(len(line), MIN_LINE_BYTES), number + 1
        if len(line) > MAX_BYTES + 1:
            raise click.ClickException(f"Line {number} of the file is longer than the largest event.")
        if size > _MAX_BYTES:
            raise _too_long()
        yield line
        line = file.readline(MAX_BYTES + 2)


def read(file: BufferedIOBase | gzip.GzipFile) -> bytes:
    """The rest of a file; raises if it is too large."""
    content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise _too_long()
    return content


def _too_long() -> click.ClickException:
    return click.ClickException("The file is larger than the largest match.")
