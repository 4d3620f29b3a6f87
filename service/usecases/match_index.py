"""Finding matches, anyone's and one's own: the index follows the log, and is mended where it fell behind."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from events.record import MatchId
from service.errors import Corrupt, Refused
from service.match.model import Match, Status
from service.match.new_match import game_named
from service.repository.ports import ENDING_MS, Mine, Ports, Shelf
from service.views.damaged_match_access import may_be_told
from service.views.match_views import MatchSummary, OwnMatch, own_summaries, summaries

IN_FLIGHT_MS: Final = 2 * ENDING_MS
"""An index entry without a match is younger than this while its match is being created, or without an end while it ends."""
LOOKED_AT: Final = 200
"""How many matches are looked at for a page, whatever comes of it; it may then hold fewer than there is room for."""
STRIDE: Final = 50
"""So many at once, at least, where only those of one game are wanted."""


def listed(
    ports: Ports, shelf: Shelf, before: str | None, limit: int, game: str | None = None
) -> tuple[tuple[MatchSummary, ...], str | None]:
    """Public matches of a shelf, newest first, and the place to go on from (None at the end).

    The index may be behind the log after a crash; what it holds wrongly is mended here. A match that cannot be folded
    is left out.

    Raises:
        Refused: `game-not-found`.
    """
    stride = _stride(ports, game, limit)
    found: list[Match] = []
    looked = 0
    while len(found) < limit and looked < LOOKED_AT:
        places = ports.index.page(shelf, before, stride)
        looked += stride
        for place, match in _at(ports, places):
            before = place
            kept = _belonging(ports, place, match, shelf)
            if kept is not None and game in {None, kept.created.game}:
                found.append(kept)
            if len(found) == limit:
                break
        else:
            if len(places) < stride:
                return summaries(ports, found), None
    return summaries(ports, found), before


def ended(ports: Ports, after: int, limit: int, game: str | None = None) -> tuple[tuple[MatchSummary, ...], int]:
    """Public matches that are over, in the order of their ends, and the number to go on from, now or when more have ended.

    Whoever goes on from there misses none: one that is about to end is waited for, so that no later end is told before it.

    Raises:
        Refused: `game-not-found`.
    """
    stride = _stride(ports, game, limit)
    found: list[Match] = []
    looked = 0
    while len(found) < limit and looked < LOOKED_AT:
        numbered = ports.index.ended(after, stride)
        looked += stride
        for (number, _), (_, match) in zip(numbered, _at(ports, [place for _, place in numbered]), strict=True):
            over = match if isinstance(match, Match) and match.is_over else None
            if len(found) == limit or (over is None and ports.now() - number <= IN_FLIGHT_MS):
                return summaries(ports, found), after
            after = number
            if over is not None and game in {None, over.created.game}:
                found.append(over)
        if len(numbered) < stride:
            break
    return summaries(ports, found), after


def _stride(ports: Ports, game: str | None, limit: int) -> int:
    """How many matches a page looks at in one go."""
    if game is None:
        return limit
    game_named(ports.games, game)
    return max(limit, STRIDE)


class OwnPage(NamedTuple):
    """A page of a player's matches, those of them that cannot be folded now, and the place to go on from (None at the end)."""

    matches: tuple[OwnMatch, ...]
    unreadable: tuple[MatchId, ...]
    last: str | None


def listed_for(ports: Ports, player: str, mine: Mine, before: str | None, limit: int) -> OwnPage:
    """A player's matches, private ones included, the last created first."""
    places = ports.index.matches_of(player, mine, before, limit)
    read = _at(ports, places)
    found = [own(ports, place, match, player, mine) for place, match in read]
    matches = [match for match in found if match is not None]
    unreadable = [_read(place)[1] for place, match in read if not isinstance(match, Match) and _is_there(match)]
    return OwnPage(
        own_summaries(ports, matches, player),
        tuple([match_id for match_id in unreadable if may_be_told(ports, match_id, player)]),
        places[-1] if len(places) == limit else None,
    )


def own_match(ports: Ports, place: str, player: str, mine: Mine) -> Match | None:
    """The match that a place of a player's stands for, None where it is none (yet); then the index is mended."""
    ((_, match),) = _at(ports, (place,))
    return own(ports, place, match, player, mine)


def own(ports: Ports, place: str, match: Match | Corrupt | Refused, player: str, mine: Mine) -> Match | None:
    """As `own_match`, of what was read at the place.

    A place is taken away only where no seat can be taken any more: it may have been written for one that is about to be.
    """
    created_at, match_id = _read(place)
    if not isinstance(match, Match):
        if _died(ports, match, created_at):
            ports.index.dismiss(player, match_id, created_at)
        return None
    theirs = match.is_of(player)
    if match.created_at != created_at or not (theirs or match.status == "open"):
        ports.index.dismiss(player, match_id, created_at)
        return None
    if mine == "active" and match.is_over:
        ports.index.conclude(player, match_id, created_at, ports.now())
        return None
    return match if theirs else None


def admitted(ports: Ports, creator: str, match_id: MatchId, created_at: int, limit: int) -> bool:
    """Whether a player may have one more match waiting for players; it counts from now on, though it is yet to be made.

    At the limit the index is mended: what it holds too much of after a crash must not shut a player out for ever.
    """
    if ports.index.admit(match_id, created_at, creator, limit):
        return True
    for place, match in _at(ports, ports.index.open_places(creator)):
        _belonging(ports, place, match, "open", creator)
    return ports.index.admit(match_id, created_at, creator, limit)


def _at(ports: Ports, places: Sequence[str]) -> Sequence[tuple[str, Match | Corrupt | Refused]]:
    """The places with their matches, all read at once, or with why one cannot be read."""
    ids = [_read(place)[1] for place in places]
    found = ports.history.newest_each(ids)
    return [(place, found[match_id]) for place, match_id in zip(places, ids, strict=True)]


def _belonging(
    ports: Ports, place: str, match: Match | Corrupt | Refused, shelf: Shelf, creator: str = ""
) -> Match | None:
    """The match at a place, if the place is its own and on its shelf; else the index is mended.

    `creator` is told where the place is one of a creator's own, which nothing else may know any more.
    """
    created_at, match_id = _read(place)
    if not isinstance(match, Match):
        if _died(ports, match, created_at):
            ports.index.move(match_id, created_at, creator, None, private=False)
        return None
    if match.created_at != created_at:
        ports.index.move(match_id, created_at, match.creator, None, private=match.created.private)
    elif shelf_of(match) == shelf:
        return match
    shelve(ports, match)
    return None


def _read(place: str) -> tuple[int, MatchId]:
    stamp, _, match_id = place.partition(":")
    return int(stamp), match_id


def _is_there(error: Corrupt | Refused) -> bool:
    """Whether the log has a match that cannot be read."""
    return isinstance(error, Corrupt) or error.code != "match-not-found"


def _died(ports: Ports, error: Corrupt | Refused, created_at: int) -> bool:
    """Whether the creation of a match that the log does not have died before its append."""
    return not _is_there(error) and ports.now() - created_at > IN_FLIGHT_MS


def shelf_of(match: Match) -> Shelf:
    """The shelf of the index where a match belongs."""
    shelves: Mapping[Status, Shelf] = {
        "open": "open",
        "running": "running",
        "suspended": "running",
        "finished": "finished",
        "aborted": "aborted",
    }
    return shelves[match.status]


def announce(ports: Ports, before: Match, after: Match) -> None:
    """Tell the index what is about to be appended: then no list can lack it, whatever dies in between."""
    if after.seats is not before.seats:
        for player in sorted(_people(after) - _people(before)):
            ports.index.enrol(player, after.id, after.created_at)
    if after.ended_at is not None and before.ended_at is None:
        _announce_end(ports, after, after.ended_at)


def withdraw(ports: Ports, before: Match, after: Match) -> None:
    """Take back an announced end that was not appended, so that no list waits for it; not one that came by another command."""
    if after.ended_at is None or before.ended_at is not None:
        return
    newest, _ = ports.history.newest(before.id)
    if not newest.is_over:
        ports.index.withdraw(before.id, before.created_at)


def _announce_end(ports: Ports, match: Match, at: int) -> None:
    if not match.created.private:
        ports.index.end(match.id, match.created_at, at)


def _people(match: Match) -> set[str]:
    return {sitter.player for sitter in match.seats if sitter is not None and sitter.kind == "human"}


def left(ports: Ports, match: Match, player: str) -> None:
    """Take a match from the list of a player who gave the seat up before the start, unless they have come back since."""
    if match.is_of(player):
        return
    ports.index.dismiss(player, match.id, match.created_at)
    newest, _ = ports.history.newest(match.id)
    if newest.is_of(player):
        ports.index.enrol(player, match.id, match.created_at)


def shelve(ports: Ports, match: Match, *, just_written: bool = False) -> None:
    """Put a match where it belongs, however often; `just_written` where the end is new in the log.

    Such an end may have been on its way for so long, on a machine that slept, that readers have gone past its number.
    """
    if match.ended_at is not None:
        _announce_end(ports, match, max(match.ended_at, ports.now()) if just_written else match.ended_at)
    ports.index.move(match.id, match.created_at, match.creator, shelf_of(match), private=match.created.private)


def shelve_ended(ports: Ports, matches: Iterable[Match]) -> None:
    """Put those matches that are over where they belong, those that the index does not know yet in the order of their ends."""
    over = [replace(match, state=None) for match in matches if match.is_over]  # without tables all of a store find room
    for match in sorted(over, key=lambda one: one.ended_at or 0):
        shelve(ports, match)


def index_anew(ports: Ports, match: Match) -> None:
    """Write all places of a match into an index that lost them, but those that only its end gives it (`shelve_ended`)."""
    for player in sorted(_people(match) | {match.creator}):
        ports.index.enrol(player, match.id, match.created_at)
        if match.ended_at is not None:
            ports.index.conclude(player, match.id, match.created_at, match.ended_at)
    if not match.is_over:
        shelve(ports, match)
