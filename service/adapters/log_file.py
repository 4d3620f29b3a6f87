"""The append-only files of an embedded log after a power failure: what may be cut off, and what is damage.

A server that syncs before it answers has not acknowledged a command whose end is not on the disk. After a power failure its
newest file may end in part of such a command, or in zeros, if the file system extended the file before it wrote the data.
Anything else that cannot be read is damage, because commands after it may have been acknowledged.
"""

import os
import re
import shutil
import time
from collections.abc import Sequence
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = "appendonlydir"
"""The folder in a server's folder that holds the append-only files and their manifest."""
_MANIFEST: Final = "appendonly.aof.manifest"
_LISTED: Final = re.compile(r"file (\S+) seq \d+ type ([bhi])(?: startoffset \d+(?: endoffset \d+)?)?")

_CHUNK: Final = 1 << 20
_NEXT_COMMAND: Final = re.compile(rb"\r\n\*[0-9]+\r\n\$[0-9]+\r\n")
"""The end of one command and the beginning of the next. Our data never contains this."""

RESTORE: Final = "Restore the newest backup into a new folder with `moonstone restore`"


class Damaged(Exception):
    """A file cannot be read and must not be cut; the text says where, and what to do."""


class _Line(NamedTuple):
    """The patterns of a line of the protocol (RESP): of the complete line, and of a beginning of it."""

    complete: re.Pattern[bytes]
    partial: re.Pattern[bytes]


_COUNT: Final = _Line(re.compile(rb"\*([0-9]{1,10})\r\n"), re.compile(rb"(\*([0-9]{1,10}\r?)?)?"))
"""The number of parts of a command."""
_LENGTH: Final = _Line(re.compile(rb"\$([0-9]{1,10})\r\n"), re.compile(rb"(\$([0-9]{1,10}\r?)?)?"))
"""The number of bytes of a part."""


class _Broken(Exception):
    """The bytes are not a command, nor the beginning of one."""


class _Torn(Exception):
    """The file ends in the middle of a command."""


def repair(folder: Path) -> str | None:
    """Cut off the incomplete end that a power failure left in the newest file.

    Returns a sentence that says what was done, or None if nothing was. The original file is kept beside it.

    Raises:
        Damaged: a file has another fault. Nothing was changed.
        OSError: a file cannot be read or written.
    """
    files = _increments(folder)
    for file in files:
        whole, size = _whole_part(file), file.stat().st_size
        if whole == size:
            continue
        if file is not files[-1]:  # the server syncs a file before it begins the next one
            raise _damaged(file, whole)
        kept = _cut(file, whole)
        return (
            f"{file} ended in {size - whole} bytes that are no complete command, as after a power failure. They were cut off, "
            f"because nothing in them was acknowledged; the original file is kept beside it as {kept.name}"
        )
    return None


def _increments(folder: Path) -> Sequence[Path]:
    """The files with commands, the newest last."""
    manifest = folder / _MANIFEST
    if not manifest.exists():
        return ()
    try:
        lines = manifest.read_text("ascii").splitlines()
    except UnicodeDecodeError:
        lines = [""]
    listed = [_LISTED.fullmatch(line) for line in lines]
    found = [entry.groups() for entry in listed if entry]
    if len(found) < len(lines):
        raise Damaged(f"{manifest} is damaged; nothing was changed. {RESTORE}")
    return [folder / name for name, kind in found if kind == "i"]


def _whole_part(file: Path) -> int:
    """The length in bytes up to the end of the last complete command that is not in an open transaction.

    Raises:
        Damaged: a power failure cannot explain the bytes that follow.
    """
    if not file.exists():
        raise Damaged(f"{file} is missing; nothing was changed. {RESTORE}")
    if not file.stat().st_size:
        return 0
    with file.open("rb") as opened, mmap(opened.fileno(), 0, access=ACCESS_READ) as data:
        end = _without_zeros(data)
        whole = 0
        try:
            while whole < end:
                whole = _after_unit(data, whole, end)
        except _Torn:
            pass
        except _Broken:
            raise _damaged(file, whole) from None
    return whole


def _without_zeros(data: mmap) -> int:
    """The file's size without zeros at its end."""
    end = len(data)
    while end:
        start = max(0, end - _CHUNK)
        rest = data[start:end].rstrip(b"\0")
        if rest:
            return start + len(rest)
        end = start
    return 0


def _after_unit(data: mmap, at: int, end: int) -> int:
    """The offset after a command, or after a whole transaction from its MULTI to its EXEC."""
    parts, name, at = _command(data, at, end)
    if name == b"MULTI":
        while name != b"EXEC":
            parts, name, at = _command(data, at, end)
            # Every write command has more than one part, so this one was EXEC with a damaged name.
            if name == b"MULTI" or (parts == 1 and name != b"EXEC"):
                raise _Broken
    return at


def _command(data: mmap, at: int, end: int) -> tuple[int, bytes, int]:
    """The number of a command's parts, its name in capitals, and the offset after it."""
    count, at = _number(_COUNT, data, at, end)
    if not count:
        raise _Broken
    name = b""
    for index in range(count):
        length, at = _number(_LENGTH, data, at, end)
        after = at + length + 2
        if after > end:
            # A damaged length can reach beyond the end too, but then complete commands follow.
            raise _Broken if _NEXT_COMMAND.search(data, at, end) else _Torn
        if data[after - 2 : after] != b"\r\n":
            raise _Broken
        if not index:
            name = data[at : after - 2].upper()
        at = after
    return count, name, at


def _number(line: _Line, data: mmap, at: int, end: int) -> tuple[int, int]:
    """The number in a line, and the offset after the line."""
    found = line.complete.match(data, at, end)
    if found is None:
        raise _Torn if line.partial.fullmatch(data, at, end) else _Broken
    return int(found[1]), found.end()


def _cut(file: Path, size: int) -> Path:
    """Truncate a file to `size` bytes, and return the path of a copy of the original."""
    kept = file.with_name(f"{file.name}.before-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}")
    try:
        shutil.copy2(file, kept)
    except OSError:  # for example a full disk
        kept.unlink(missing_ok=True)
        raise
    for path, length in ((kept, file.stat().st_size), (file, size)):
        with path.open("r+b") as opened:
            opened.truncate(length)
            os.fsync(opened.fileno())
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return kept


def _damaged(file: Path, whole: int) -> Damaged:
    return Damaged(
        f"{file} is damaged after byte {whole} of {file.stat().st_size}, and what follows may have been acknowledged; "
        f"nothing was changed. {RESTORE}"
    )
