"""The append-only files of an embedded log after a loss of power: what may be cut off, and what is damage.

A server that syncs before it answers has acknowledged no part of a command whose end is not on the disk. After a loss of
power its newest file may end in such a part, or in zeros where a file system has grown the file before it wrote the data.
Everything else that cannot be read is damage: what comes after it may have been acknowledged.
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
"""In a server's folder, with the files and their manifest."""
_MANIFEST: Final = "appendonly.aof.manifest"
_LISTED: Final = re.compile(r"file (\S+) seq \d+ type ([bhi])(?: startoffset \d+(?: endoffset \d+)?)?")

_CHUNK: Final = 1 << 20
_NEXT_COMMAND: Final = re.compile(rb"\r\n\*[0-9]+\r\n\$[0-9]+\r\n")
"""The end of one command and the beginning of the next, which no data of ours looks like."""

RESTORE: Final = "Restore the newest backup into a new folder with `moonstone restore`"


class Damaged(Exception):
    """A file cannot be read and may not be cut; the text says where, and what to do."""


class _Line(NamedTuple):
    """A sign and a number."""

    whole: re.Pattern[bytes]
    torn: re.Pattern[bytes]


_COUNT: Final = _Line(re.compile(rb"\*([0-9]{1,10})\r\n"), re.compile(rb"(\*([0-9]{1,10}\r?)?)?"))
"""Of a command: how many parts it has."""
_LENGTH: Final = _Line(re.compile(rb"\$([0-9]{1,10})\r\n"), re.compile(rb"(\$([0-9]{1,10}\r?)?)?"))
"""Of a part: how many bytes it has."""


class _Broken(Exception):
    """What stands there is no beginning of a command."""


class _Torn(Exception):
    """The file ends before the command does."""


def mend(folder: Path) -> str | None:
    """Cut off what a loss of power left at the end of the newest file: a sentence that says what was done.

    None if there was nothing to do. The file as it was is kept beside.

    Raises:
        Damaged: a file has another fault. Nothing was changed.
        OSError: a file cannot be read or written.
    """
    files = _increments(folder)
    for file in files:
        whole, size = _whole_part(file), file.stat().st_size
        if whole == size:
            continue
        if file is not files[-1]:  # the server had synced it before it began the next
            raise _damaged(file, whole)
        kept = _cut(file, whole)
        return (
            f"{file} ended in {size - whole} bytes that are no whole command, as after a loss of power: they were cut off, "
            f"for nothing in them was acknowledged; the file as it was is kept beside it as {kept.name}"
        )
    return None


def _increments(folder: Path) -> Sequence[Path]:
    """The files of commands, the newest last."""
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
    """How many bytes there are up to the end of the last whole command that is in no open transaction.

    Raises:
        Damaged: what follows is not what a loss of power leaves.
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
    """Where the zeros begin in which a file ends; its size if it does not end in any."""
    end = len(data)
    while end:
        start = max(0, end - _CHUNK)
        rest = data[start:end].rstrip(b"\0")
        if rest:
            return start + len(rest)
        end = start
    return 0


def _after_unit(data: mmap, at: int, end: int) -> int:
    """The place after a command, or after a transaction from its MULTI to its EXEC."""
    parts, name, at = _command(data, at, end)
    if name == b"MULTI":
        while name != b"EXEC":
            parts, name, at = _command(data, at, end)
            # No command that writes has but one part: this was the EXEC, and what follows is another command's.
            if name == b"MULTI" or (parts == 1 and name != b"EXEC"):
                raise _Broken
    return at


def _command(data: mmap, at: int, end: int) -> tuple[int, bytes, int]:
    """How many parts a command has, its name in capitals, and the place after it."""
    count, at = _number(_COUNT, data, at, end)
    if not count:
        raise _Broken
    name = b""
    for place in range(count):
        length, at = _number(_LENGTH, data, at, end)
        after = at + length + 2
        if after > end:
            # A damaged length, too, reaches over the end, but over whole commands.
            raise _Broken if _NEXT_COMMAND.search(data, at, end) else _Torn
        if data[after - 2 : after] != b"\r\n":
            raise _Broken
        if not place:
            name = data[at : after - 2].upper()
        at = after
    return count, name, at


def _number(line: _Line, data: mmap, at: int, end: int) -> tuple[int, int]:
    """The number in a line, and the place after the line."""
    found = line.whole.match(data, at, end)
    if found is None:
        raise _Torn if line.torn.fullmatch(data, at, end) else _Broken
    return int(found[1]), found.end()


def _cut(file: Path, size: int) -> Path:
    """Cut a file to its first bytes; where it is kept as it was."""
    kept = file.with_name(f"{file.name}.before-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}")
    try:
        shutil.copy2(file, kept)
    except OSError:  # such as a full disk
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
