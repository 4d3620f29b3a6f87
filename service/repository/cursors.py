"""Opaque cursors: encoded positions from which a page or a stream continues."""

import base64
import binascii
from typing import Final, TypeVar

import msgspec

from service.errors import Refused

Position = TypeVar("Position")

MAX_LENGTH: Final = 200
"""Maximum number of characters in a cursor."""


def encode(position: object) -> str:
    """A cursor for a position, which may be any small JSON value."""
    return base64.urlsafe_b64encode(msgspec.json.encode(position)).rstrip(b"=").decode()


def decode(
    cursor: str, shape: type[Position], parameter: str = "cursor", advice: str = "start again without one"
) -> Position:
    """The position in a cursor.

    Raises:
        Refused: `invalid-parameter`: `encode` did not create this cursor; `advice` says what the client can do.
    """
    try:
        packed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        position = msgspec.json.decode(packed, type=shape)
    except (ValueError, binascii.Error, msgspec.DecodeError):
        position = None
    # Each position has one cursor: padding and unused bits would allow several.
    if position is None or encode(position) != cursor:
        raise foreign(parameter, advice)
    return position


def foreign(parameter: str, advice: str = "start again without one") -> Refused:
    """The refusal of a cursor that this service did not create."""
    return Refused("invalid-parameter", f"This service did not create this cursor; {advice}.", parameter=parameter)
