"""Decides for matches that cannot be folded whether a player may learn that they exist: private ones are hidden from strangers.

For a match that can be folded, `service.match.redaction.viewer_of` decides this.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from events.chain import BrokenChain, follow, genesis
from events.record import Event, Head, MatchId, decode
from service.games.visibility import Seat
from service.match.events import MatchCreated, SeatKind, SeatLeft
from service.repository.ports import Ports

_PAGE: Final = 500


class _SeatTaker(msgspec.Struct, frozen=True):
    """The fields that `seat_taken` and `seat_handed_over` share: the seat, and the player or bot that gets it."""

    seat: Seat
    player: str
    kind: SeatKind


_seat_taker: Final = msgspec.json.Decoder(_SeatTaker).decode


def may_learn_of(ports: Ports, match_id: MatchId, player: str | None) -> bool:
    """Whether a player (None for a client without a token) may learn that the match exists.

    Everyone may learn of a public match. A private match is known to its creator and to the people who have a seat, or had
    one that was handed over, as far as the intact part of the chain names them. If the chain is broken, others may have
    joined after the break. Then a player may also learn of the match if the index lists it for the player: the index lists
    only matches that the player created or was admitted to.
    """
    stored = ports.log.read(match_id).events
    begun = _begun(match_id, stored)
    if begun is None:
        return player is not None and _is_listed(ports, match_id, player)
    event, created, head = begun
    if not created.private:
        return True
    if player is None:
        return False
    seats = _seats(head, stored[1:])
    if event.by == f"player:{player}" or player in seats.people:
        return True
    return not (seats.whole or player in seats.left) and _is_listed(ports, match_id, player)


def _begun(match_id: MatchId, stored: Sequence[bytes]) -> tuple[Event, MatchCreated, Head] | None:
    """The first event of a match, its data and the head after it; None if it cannot be read."""
    try:
        created = msgspec.json.decode(decode(stored[0]).data, type=MatchCreated)
        event, head = follow(genesis(match_id, created.game, created.ruleset, created.format_number)[1], stored[0])
    except (IndexError, ValueError, RecursionError, BrokenChain):
        return None
    return event, created, head


class _Seats(NamedTuple):
    """The people and hosted bots that have or had a seat, those that left before the start, and whether all events could be read."""

    people: frozenset[str]
    left: frozenset[str]
    whole: bool


def _seats(head: Head, stored: Sequence[bytes]) -> _Seats:
    """The seats according to the events up to the first that cannot be read.

    This needs no rules, so it also works for a match of a newer release.
    """
    people: dict[Seat, str] = {}
    former: set[str] = set()
    seen: set[str] = set()
    whole = True
    try:
        for entry in stored:
            event, head = follow(head, entry)
            if event.type in {"seat_left", "seat_freed"}:
                people.pop(msgspec.json.decode(event.data, type=SeatLeft).seat, None)
            elif event.type in {"seat_taken", "seat_handed_over"}:
                taker = _seat_taker(event.data)
                former |= {people.pop(taker.seat)} if taker.seat in people else set()
                if taker.kind != "bot":
                    people[taker.seat] = taker.player
                    seen.add(taker.player)
    except (ValueError, RecursionError, BrokenChain):
        whole = False
    now = frozenset(people.values()) | former
    return _Seats(now, frozenset(seen) - now, whole)


def _is_listed(ports: Ports, match_id: MatchId, player: str) -> bool:
    before = None
    while entries := ports.index.matches_of(player, "all", before, _PAGE):
        if any(entry.match_id == match_id for entry in entries):
            return True
        before = entries[-1]
    return False
