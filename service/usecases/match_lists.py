"""Lists of matches: public ones, ended ones, and those of a player. Their readers correct wrong entries."""

from typing import Final, NamedTuple

from events.record import MatchId
from service.match.model import Match
from service.match.new_match import game_named
from service.repository.index_entry import IndexEntry
from service.repository.ports import OwnList, Ports, StatusList
from service.usecases.match_index import IN_FLIGHT_MS, creation_failed, is_there, status_list_of, update_index
from service.usecases.pages import Judgement, Read, matches_at, page, positioned
from service.views.damaged_match_access import may_learn_of
from service.views.match_views import MatchSummary, OwnMatch, own_summaries, summaries

MIN_BATCH: Final = 50
"""Minimum number of matches in one read if only those of one game are wanted."""


def public_page(
    ports: Ports, status_list: StatusList, before: IndexEntry | None, limit: int, game: str | None = None
) -> tuple[tuple[MatchSummary, ...], IndexEntry | None]:
    """Public matches of a list, newest first, and the entry where the next page begins (None at the end).

    Wrong entries, which a crash may have left, are corrected. A match that cannot be folded is left out.

    Raises:
        Refused: `game-not-found`.
    """
    batch = _batch_size(ports, game, limit)

    def judge(_: IndexEntry | None, entry: IndexEntry, match: Read) -> Judgement:
        kept = _belonging(ports, entry, match, status_list)
        return kept if kept is not None and game in {None, kept.created.game} else "skip"

    found = page(
        ports,
        before,
        lambda position: positioned(ports.index.page(status_list, position, batch)),
        judge,
        limit=limit,
        batch=batch,
    )
    return found.matches, None if found.is_last else found.position


def ended_page(ports: Ports, after: int, limit: int, game: str | None = None) -> tuple[tuple[MatchSummary, ...], int]:
    """Public matches that are over, in the order of their ends, and the number after which the next page begins.

    A reader that always continues from this number misses no match: a page stops before a match that is about to end.

    Raises:
        Refused: `game-not-found`.
    """
    batch = _batch_size(ports, game, limit)

    def judge(number: int, _: IndexEntry, match: Read) -> Judgement:
        if isinstance(match, Match) and match.is_over:
            return match if game in {None, match.created.game} else "skip"
        is_about_to_end = ports.now() - number <= IN_FLIGHT_MS  # otherwise the entry is wrong
        return "stop" if is_about_to_end else "skip"

    found = page(ports, after, lambda position: ports.index.ended(position, batch), judge, limit=limit, batch=batch)
    return found.matches, found.position


def _batch_size(ports: Ports, game: str | None, limit: int) -> int:
    """How many matches a page reads at once."""
    if game is None:
        return limit
    game_named(ports.games, game)
    return max(limit, MIN_BATCH)


class OwnPage(NamedTuple):
    """A page of a player's matches.

    `unreadable` are those that cannot be folded. `last` is the entry where the next page begins (None at the end).
    """

    matches: tuple[OwnMatch, ...]
    unreadable: tuple[MatchId, ...]
    last: IndexEntry | None


def own_page(ports: Ports, player: str, own_list: OwnList, before: IndexEntry | None, limit: int) -> OwnPage:
    """A player's matches, including private ones, newest first."""
    entries = ports.index.matches_of(player, own_list, before, limit)
    read = matches_at(ports, entries)
    found = [own(ports, entry, match, player, own_list) for entry, match in read]
    matches = [match for match in found if match is not None]
    unreadable = [entry.match_id for entry, match in read if not isinstance(match, Match) and is_there(match)]
    return OwnPage(
        own_summaries(ports, matches, player),
        tuple([match_id for match_id in unreadable if may_learn_of(ports, match_id, player)]),
        entries[-1] if len(entries) == limit else None,
    )


def player_page(
    ports: Ports, player: str, before: IndexEntry | None, limit: int
) -> tuple[tuple[MatchSummary, ...], IndexEntry | None]:
    """The public matches that a player created or has or had a seat in, newest first, and where the next page begins.

    Raises:
        Refused: `player-not-found`.
    """
    ports.player(player)
    entries = ports.index.matches_of(player, "public", before, limit)
    read = [own(ports, entry, match, player, "public") for entry, match in matches_at(ports, entries)]
    found = [match for match in read if match is not None and not match.created.private]
    return summaries(ports, found), entries[-1] if len(entries) == limit else None


def own_match(ports: Ports, entry: IndexEntry, player: str, own_list: OwnList) -> Match | None:
    """The match of an entry of a player, None if it is not the player's (yet). A wrong entry is removed."""
    ((_, match),) = matches_at(ports, (entry,))
    return own(ports, entry, match, player, own_list)


def own(ports: Ports, entry: IndexEntry, match: Read, player: str, own_list: OwnList) -> Match | None:
    """As `own_match`, for a match that was read already.

    An entry is removed only if no seat can be taken any more: it may be of a seat that the player is about to take.
    """
    created_at, match_id = entry.created_at, entry.match_id
    if not isinstance(match, Match):
        if creation_failed(ports, match, created_at):
            ports.index.dismiss(player, match_id, created_at)
        return None
    is_own = match.is_of(player)
    if match.created_at != created_at:
        ports.index.dismiss(player, match_id, created_at)
        return None
    if not (is_own or match.status == "open"):
        ports.index.add_left(player, match_id, created_at)
        ports.index.dismiss(player, match_id, created_at)
        return None
    if own_list == "active" and match.is_over:
        ports.index.conclude(player, match_id, created_at, ports.now())
        return None
    return match if is_own else None


def admit(ports: Ports, creator: str, match_id: MatchId, created_at: int, limit: int) -> bool:
    """Whether a player may create one more match. If so, it counts as open from now on.

    At the limit, wrong entries are removed and the limit is checked again, since a crash must not lock a player out.
    """
    if ports.index.admit(match_id, created_at, creator, limit):
        return True
    for entry, match in matches_at(ports, ports.index.open_entries(creator)):
        _belonging(ports, entry, match, "open", creator)
    return ports.index.admit(match_id, created_at, creator, limit)


def _belonging(
    ports: Ports, entry: IndexEntry, match: Read, status_list: StatusList, creator: str = ""
) -> Match | None:
    """The match of an entry, if the entry is correct and in the right list; else None, and the index is corrected.

    `creator` is given for an entry in the list of a creator's open matches: without a match, nothing else names it.
    """
    created_at, match_id = entry.created_at, entry.match_id
    if not isinstance(match, Match):
        if creation_failed(ports, match, created_at):
            ports.index.move(match_id, created_at, creator, None, private=False)
        return None
    if match.created_at != created_at:
        ports.index.move(match_id, created_at, match.creator, None, private=match.created.private)
    elif status_list_of(match) == status_list:
        return match
    update_index(ports, match)
    return None
