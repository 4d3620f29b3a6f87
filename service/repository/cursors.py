"""Opaque cursors: where a page or a stream goes on, in a form that nobody is tempted to read or to make up."""

import base64
import binascii
from typing import Final, TypeVar

import msgspec

from service.errors import Refused

Position = TypeVar("Position")

MAX_LENGTH: Final = 200


def encode(position: object) -> str:
    """A cursor for a position, which is any small JSON value."""
    return base64.urlsafe_b64encode(msgspec.json.encode(position)).rstrip(b"=").decode()


def decode(cursor: str, shape: type[Position], parameter: str = "cursor", advice: str = "start anew") -> Position:
    """The position in a cursor.

    Raises:
        Refused: `invalid-parameter`, the cursor is none that `encode` made; `advice` says what to do without one.
    """
    try:
        packed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        position = msgspec.json.decode(packed, type=shape)
    except (ValueError, binascii.Error, msgspec.DecodeError):
        position = None
    # One position, one cursor: padding and spare bits would let many spellings through.
    if position is None or encode(position) != cursor:
        raise Refused("invalid-parameter", f"The cursor is none that this service made; {advice}.", parameter=parameter)
    return position
