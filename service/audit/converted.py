"""Recognises match files that an editor, a mail program, a shell or an archiver converted.

Such a file breaks the hash chain, although nobody forged it. An original file has none of these signs: each line is
canonical JSON in UTF-8, without spaces around it and without control characters, and ends with one line feed.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from events.record import canonical

_STARTS: Final = (
    (b"\xff\xfe\0\0", "it is in UTF-32"),
    (b"\0\0\xfe\xff", "it is in UTF-32"),
    (b"\xff\xfe", "it is in UTF-16"),
    (b"\xfe\xff", "it is in UTF-16"),
    (b"{\0", "it is in UTF-16"),
    (b"\0{", "it is in UTF-16"),
    (b"\xef\xbb\xbf", "it begins with a byte order mark"),
    (b"\x28\xb5\x2f\xfd", "it is compressed, with zstd"),
    (b"\x1f\x8b", "it is compressed twice, with gzip"),
    (b"\xfd7zXZ\0", "it is compressed, with xz"),
    (b"BZh", "it is compressed, with bzip2"),
    (b"\x04\x22\x4d\x18", "it is compressed, with lz4"),
    (b"PK\x03\x04", "it is in a zip archive"),
)
"""The first bytes of converted files. One layer of gzip, which the service itself may send, is already decompressed."""


def by_its_start(start: bytes) -> str | None:
    """How a file with these first bytes was converted; None if they show no conversion."""
    return next((done for sign, done in _STARTS if start.startswith(sign)), None)


def by_its_lines(lines: Sequence[bytes]) -> str | None:
    """How a file with these lines (including newlines) was converted; None if they show no conversion."""
    if lines and lines[0].strip() in {b"{", b"["}:
        return "its JSON was spread over several lines"
    for number, line in enumerate(lines, 1):
        if not line.strip():
            at_end = all(not rest.strip() for rest in lines[number:])
            return "it has an empty line at its end" if at_end else f"line {number} is empty"
        if line.endswith(b"\r\n"):
            return "its lines end in CRLF" if number == 1 else f"line {number} ends in CRLF"
        if b"\r" in line:
            return "its lines end in CR" if len(lines) == 1 else f"line {number} holds a carriage return"
        if line.removesuffix(b"\n") != line.strip():
            return f"line {number} has spaces around it"
        try:
            line.decode()
        except UnicodeDecodeError:
            return f"line {number} is not in UTF-8"
    return "its JSON was written anew" if lines and _is_written_anew(lines[0]) else None


def _is_written_anew(line: bytes) -> bool:
    """Whether a line is a JSON object that is not in canonical form."""
    try:
        found = msgspec.json.decode(line, type=dict[str, str | int])
    except (ValueError, RecursionError):
        return False
    return canonical(found) != line.removesuffix(b"\n")
