"""Entries of the match index, and the cursors of its pages."""

from typing import Final, Self

import msgspec

from events.record import MatchId
from service.repository import cursors

_DIGITS: Final = 13
"""Digits of the time in a stored form."""


class IndexEntry(msgspec.Struct, frozen=True, order=True, gc=False):
    """An entry of the match index. Entries sort by `created_at` (server milliseconds), then by `match_id`."""

    created_at: int
    match_id: MatchId

    @property
    def stored(self) -> str:
        """The stored form `<created_at, 13 digits>:<match id>`, which sorts as the entry does."""
        return f"{self.created_at:0{_DIGITS}d}:{self.match_id}"

    @classmethod
    def parse(cls, stored: str) -> Self:
        """The entry with this stored form.

        Raises:
            ValueError: it is not a stored form.
        """
        digits, colon, match_id = stored.partition(":")
        if not (colon and len(digits) == _DIGITS and digits.isascii() and digits.isdigit()):
            raise ValueError(f"not an entry of the match index: {stored!r}")
        return cls(int(digits), match_id)


def encode(entry: IndexEntry) -> str:
    """The cursor of the page that begins after an entry."""
    return cursors.encode(entry.stored)


def decode(cursor: str) -> IndexEntry:
    """The entry in a cursor.

    Raises:
        Refused: `invalid-parameter`: `encode` did not create this cursor.
    """
    try:
        return IndexEntry.parse(cursors.decode(cursor, str))
    except ValueError:
        raise cursors.foreign("cursor") from None
