"""The match file: a complete match with one canonical JSON object per line."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Final

import msgspec

from events.chain import FORMATS, genesis
from events.record import Head, MatchId
from service.errors import Refused
from service.match.events import Ruleset
from service.match.model import Match
from service.repository.ports import Ports

CHUNK: Final = 500
"""Number of events read from the log at a time."""


class FirstLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    match: Annotated[MatchId, msgspec.Meta(pattern=r"^[a-z2-7]{26}\Z")]
    game: str
    ruleset: Ruleset

    @property
    def format_number(self) -> int:
        """The number of the format.

        Raises:
            ValueError: this program does not know the format.
        """
        for number, name in FORMATS.items():
            if name == self.format:
                return number
        raise ValueError(f"the format is {self.format}; this program reads {' and '.join(FORMATS.values())}")

    @property
    def line(self) -> tuple[bytes, Head]:
        """The first line in canonical form, and the head of a match without events."""
        return genesis(self.match, self.game, self.ruleset, self.format_number)


def first_line(match: Match) -> FirstLine:
    created = match.created
    return FirstLine(FORMATS[created.format_number], match.id, created.game, created.ruleset)


def export(ports: Ports, match: Match) -> Iterator[bytes]:
    """The lines of the file of a match that is over, including newlines.

    Raises:
        Refused: `match-not-finished`.
    """
    if match.server_seed is None:
        raise Refused("match-not-finished", "A match can be exported once it is over and its seed is revealed.")
    return _lines(ports, match)


def _lines(ports: Ports, match: Match) -> Iterator[bytes]:
    yield first_line(match).line[0] + b"\n"
    for first in range(1, match.head.version + 1, CHUNK):
        last = min(match.head.version, first + CHUNK - 1)
        for stored in ports.log.read(match.id, first=first, last=last).events:
            yield stored + b"\n"


def split(lines: Iterable[bytes]) -> tuple[FirstLine, tuple[bytes, ...]]:
    """The first line and the stored events of a match file.

    Raises:
        ValueError: the first line is not the first line of a match file.
    """
    found = [line.removesuffix(b"\n") for line in lines]
    if not found:
        raise ValueError("the file is empty")
    try:
        first = msgspec.json.decode(found[0], type=FirstLine)
    except msgspec.DecodeError as error:
        raise ValueError(f"the first line is not that of a match file: {error}") from None
    if first.line[0] != found[0]:
        raise ValueError("the first line is not in canonical form")
    return first, tuple(found[1:])


def summary(match: Match) -> Mapping[str, object]:
    """The output of `moonstone play --json`."""
    return {
        "game": match.created.game,
        "seats": len(match.seats),
        "versions": match.head.version,
        "seed": match.server_seed,
        "outcome": msgspec.to_builtins(match.outcome),
    }
