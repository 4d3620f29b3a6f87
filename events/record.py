"""One event as it is stored: an envelope that is the same for all games, its canonical bytes and their hash."""

from collections.abc import Callable
from hashlib import sha256
from typing import Final, TypeAlias

import msgspec

MatchId: TypeAlias = str
Version: TypeAlias = int
"""An event's number in its match: from 1, without gaps."""


class Event(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, kw_only=True):
    """One entry of a match's stream.

    `at` is server time in milliseconds and never earlier than that of the event before. `data` depends on `type` and is
    kept as JSON. `prev` is the hash of the event before (for version 1, of the match file's first line). `salt` is 128
    random bits in hex: with it, a hidden choice cannot be found by hashing all possible choices. The fields are in the
    order of the canonical form, so that `encode` need not sort them.
    """

    at: int
    by: str
    data: msgspec.Raw
    prev: str
    salt: str
    type: str
    version: Version


class Head(msgspec.Struct, frozen=True, gc=False):
    """The newest event of a match: its version and hash."""

    version: Version
    hash: str


canonical: Final[Callable[[object], bytes]] = msgspec.json.Encoder(order="sorted").encode
"""The RFC 8785 form of a JSON value without fractions: sorted keys, no spaces, UTF-8.

All keys are ASCII, for which sorting by code point and by UTF-16 code unit is the same.
"""

encode: Final[Callable[[Event], bytes]] = msgspec.json.Encoder().encode
"""The same bytes as `canonical` for an event, in less time."""

decode: Final[Callable[[bytes], Event]] = msgspec.json.Decoder(Event).decode
"""Decodes stored bytes to an event.

Raises:
    msgspec.DecodeError: the bytes are not an event.
"""


def digest(stored: bytes) -> str:
    """The SHA-256 of stored bytes, in hex."""
    return sha256(stored).hexdigest()
