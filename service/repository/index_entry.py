"""Entries of the match index, and the cursors of its pages."""

import re
from dataclasses import dataclass
from typing import Final, Self

from events.record import MatchId
from service.repository import cursors

_STORED: Final = re.compile(r"([0-9]{13}):(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, order=True)
class IndexEntry:
    """An entry of the match index. Entries sort by `created_at` (server milliseconds), then by `match_id`."""

    created_at: int
    match_id: MatchId

    @property
    def stored(self) -> str:
        """The stored form `<created_at, 13 digits>:<match id>`, which sorts as the entry does."""
        return f"{self.created_at:013d}:{self.match_id}"

    @classmethod
    def parse(cls, stored: str) -> Self:
        """The entry with this stored form.

        Raises:
            ValueError: it is not a stored form.
        """
        found = _STORED.fullmatch(stored)
        if found is None:
            raise ValueError(f"not an entry of the match index: {stored!r}")
        return cls(int(found[1]), found[2])


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
