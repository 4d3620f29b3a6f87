"""Who may be told of a match that cannot be folded: of a private one no stranger may learn even that it is there.

Of a match that can be folded `service.match.redaction.viewer_of` says it.
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


class _Given(msgspec.Struct, frozen=True):
    """What all events that give somebody a seat share."""

    seat: Seat
    player: str
    kind: SeatKind


def may_be_told(ports: Ports, match_id: MatchId, player: str | None) -> bool:
    """Whether a player (None for somebody without a token) may learn that such a match is stored.

    Everyone may of a public match; of a private one its creator and its seats, those that were handed over too, as the
    unbroken part of its chain names them. Where the chain is broken nobody knows who came later, and the index counts too:
    among a player's matches are only those that the player made or was let into.
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
    """The first event of a match and the head after it, None if it cannot be read."""
    try:
        created = msgspec.json.decode(decode(stored[0]).data, type=MatchCreated)
        event, head = follow(genesis(match_id, created.game, created.ruleset)[1], stored[0])
    except (IndexError, ValueError, RecursionError, BrokenChain):
        return None
    return event, created, head


class _Seats(NamedTuple):
    """The people who have or had seats in play, those who left before it, and whether that is all there is to know."""

    people: frozenset[str]
    left: frozenset[str]
    whole: bool


def _seats(head: Head, stored: Sequence[bytes]) -> _Seats:
    """What as many events as can be read say of the seats.

    It takes no rules, so that the people of a match that this service is too old for are found too.
    """
    people: dict[Seat, str] = {}
    former: set[str] = set()
    seen: set[str] = set()
    whole = True
    try:
        for entry in stored:
            event, head = follow(head, entry)
            if event.type == "seat_left":
                people.pop(msgspec.json.decode(event.data, type=SeatLeft).seat, None)
            elif event.type in {"seat_taken", "seat_handed_over"}:
                given = msgspec.json.decode(event.data, type=_Given)
                former |= {people.pop(given.seat)} if given.seat in people else set()
                if given.kind == "human":
                    people[given.seat] = given.player
                    seen.add(given.player)
    except (ValueError, RecursionError, BrokenChain):
        whole = False
    now = frozenset(people.values()) | former
    return _Seats(now, frozenset(seen) - now, whole)


def _is_listed(ports: Ports, match_id: MatchId, player: str) -> bool:
    before = None
    while places := ports.index.matches_of(player, "all", before, _PAGE):
        if any(place.partition(":")[2] == match_id for place in places):
            return True
        before = places[-1]
    return False
