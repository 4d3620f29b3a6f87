"""Pages by opaque cursors: stable while new items arrive, no totals, a capped limit."""

import base64
import binascii
from typing import Final, TypeVar

import msgspec

from service.errors import Refused

T = TypeVar("T")

DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 200
MAX_CURSOR: Final = 200

Position = TypeVar("Position")


def encode(position: object) -> str:
    """A cursor for the place after which the next page begins; `position` is any small JSON value."""
    return base64.urlsafe_b64encode(msgspec.json.encode(position)).rstrip(b"=").decode()


def decode(cursor: str, shape: type[Position]) -> Position:
    """The position in a cursor.

    Raises:
        Refused: `invalid-parameter`, the cursor is none that `encode` made.
    """
    try:
        packed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        position = msgspec.json.decode(packed, type=shape)
    except (ValueError, binascii.Error, msgspec.DecodeError):
        position = None
    # One position, one cursor: padding and spare bits would let many spellings through.
    if position is None or encode(position) != cursor:
        raise Refused(
            "invalid-parameter",
            "The cursor is none that this service made; start from the first page.",
            parameter="cursor",
        )
    return position
