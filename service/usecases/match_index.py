"""Lists of matches: public ones, ended ones, and those of a player.

The index is written before the log and corrected by readers: after a crash it may have wrong entries, but lacks none.
"""

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
"""Within this age, the match of an entry may still be created, or may still end. An older entry without it is wrong."""
LOOKED_AT: Final = 200
"""Maximum number of matches that are read for a page. The page may then have fewer than `limit` matches."""
STRIDE: Final = 50
"""Minimum number of matches in one read if only those of one game are wanted."""


def listed(
    ports: Ports, shelf: Shelf, before: str | None, limit: int, game: str | None = None
) -> tuple[tuple[MatchSummary, ...], str | None]:
    """Public matches of a list, newest first, and the entry where the next page begins (None at the end).

    Wrong entries, which a crash may have left, are corrected. A match that cannot be folded is left out.

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
    """Public matches that are over, in the order of their ends, and the number after which the next page begins.

    A reader that always continues from this number misses no match: a page stops before a match that is about to end.

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
            over = match if isinstance(match, Match) and match.is_over else None  # None: about to end, or a wrong entry
            if len(found) == limit or (over is None and ports.now() - number <= IN_FLIGHT_MS):
                return summaries(ports, found), after
            after = number
            if over is not None and game in {None, over.created.game}:
                found.append(over)
        if len(numbered) < stride:
            break
    return summaries(ports, found), after


def _stride(ports: Ports, game: str | None, limit: int) -> int:
    """How many matches a page reads at once."""
    if game is None:
        return limit
    game_named(ports.games, game)
    return max(limit, STRIDE)


class OwnPage(NamedTuple):
    """A page of a player's matches.

    `unreadable` are those that cannot be folded. `last` is the entry where the next page begins (None at the end).
    """

    matches: tuple[OwnMatch, ...]
    unreadable: tuple[MatchId, ...]
    last: str | None


def listed_for(ports: Ports, player: str, mine: Mine, before: str | None, limit: int) -> OwnPage:
    """A player's matches, including private ones, newest first."""
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
    """The match of an entry of a player, None if it is not the player's (yet). A wrong entry is removed."""
    ((_, match),) = _at(ports, (place,))
    return own(ports, place, match, player, mine)


def own(ports: Ports, place: str, match: Match | Corrupt | Refused, player: str, mine: Mine) -> Match | None:
    """As `own_match`, for a match that was read already.

    An entry is removed only if no seat can be taken any more: it may be of a seat that the player is about to take.
    """
    created_at, match_id = _read(place)
    if not isinstance(match, Match):
        if _died(ports, match, created_at):
            ports.index.dismiss(player, match_id, created_at, entirely=True)
        return None
    theirs = match.is_of(player)
    if match.created_at != created_at or not (theirs or match.status == "open"):
        ports.index.dismiss(player, match_id, created_at, entirely=True)
        return None
    if mine == "active" and match.is_over:
        ports.index.dismiss(player, match_id, created_at, entirely=False)
        return None
    return match if theirs else None


def admitted(ports: Ports, creator: str, match_id: MatchId, created_at: int, limit: int) -> bool:
    """Whether a player may create one more match. If so, it counts as open from now on.

    At the limit, wrong entries are removed and the limit is checked again, since a crash must not lock a player out.
    """
    if ports.index.admit(match_id, created_at, creator, limit):
        return True
    for place, match in _at(ports, ports.index.open_places(creator)):
        _belonging(ports, place, match, "open", creator)
    return ports.index.admit(match_id, created_at, creator, limit)


def _at(ports: Ports, places: Sequence[str]) -> Sequence[tuple[str, Match | Corrupt | Refused]]:
    """The entries with their matches, which are read at once; in place of an unreadable match, the exception."""
    ids = [_read(place)[1] for place in places]
    found = ports.history.newest_each(ids)
    return [(place, found[match_id]) for place, match_id in zip(places, ids, strict=True)]


def _belonging(
    ports: Ports, place: str, match: Match | Corrupt | Refused, shelf: Shelf, creator: str = ""
) -> Match | None:
    """The match of an entry, if the entry is correct and in the right list; else None, and the index is corrected.

    `creator` is given for an entry in the list of a creator's open matches: without a match, nothing else names it.
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
    """Whether the match of an error is in the log, although it cannot be read."""
    return isinstance(error, Corrupt) or error.code != "match-not-found"


def _died(ports: Ports, error: Corrupt | Refused, created_at: int) -> bool:
    """Whether the creation of a match failed before its append, since the log still does not have it."""
    return not _is_there(error) and ports.now() - created_at > IN_FLIGHT_MS


def shelf_of(match: Match) -> Shelf:
    """The list of the index where a match belongs."""
    shelves: Mapping[Status, Shelf] = {
        "open": "open",
        "running": "running",
        "suspended": "running",
        "finished": "finished",
        "aborted": "aborted",
    }
    return shelves[match.status]


def announce(ports: Ports, before: Match, after: Match) -> None:
    """Update the index before an append, so that no list lacks a match if the process dies in between."""
    if after.seats is not before.seats:
        for player in sorted(_people(after) - _people(before)):
            ports.index.enrol(player, after.id, after.created_at)
    if after.ended_at is not None and before.ended_at is None:
        _announce_end(ports, after, after.ended_at)


def withdraw(ports: Ports, before: Match, after: Match) -> None:
    """Remove an announced end that was not appended, so that no list waits for it, unless another command ended the match."""
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
    """Remove a match from the list of a player who left before the start, unless they have joined again since."""
    if match.is_of(player):
        return
    ports.index.dismiss(player, match.id, match.created_at, entirely=True)
    newest, _ = ports.history.newest(match.id)
    if newest.is_of(player):
        ports.index.enrol(player, match.id, match.created_at)


def shelve(ports: Ports, match: Match, *, just_written: bool = False) -> None:
    """Put a match into the list where it belongs; may be repeated. `just_written`: its end was appended just now.

    Such an append may have taken so long, for example on a machine that slept, that readers have passed the announced
    number. Then the match gets a new number.
    """
    if match.ended_at is not None:
        _announce_end(ports, match, max(match.ended_at, ports.now()) if just_written else match.ended_at)
    ports.index.move(match.id, match.created_at, match.creator, shelf_of(match), private=match.created.private)


def shelve_ended(ports: Ports, matches: Iterable[Match]) -> None:
    """Put all matches that are over into their lists; those without a number get one in the order of their ends."""
    over = [replace(match, state=None) for match in matches if match.is_over]  # saves memory: these are all of a store
    for match in sorted(over, key=lambda one: one.ended_at or 0):
        shelve(ports, match)


def index_anew(ports: Ports, match: Match) -> None:
    """Write all entries of a match into an index that lost them, except those of ended matches (`shelve_ended`)."""
    for player in sorted(_people(match) | {match.creator}):
        ports.index.enrol(player, match.id, match.created_at)
    if not match.is_over:
        shelve(ports, match)
