"""Finding open matches by their facets, and keeping the index of facets right.

As in all of the index, an entry is added before an append and removed after it: a crash leaves entries too many, which
readers remove. An open match can lose a facet and get it again, when a seat is taken and left. So whoever removes an
entry reads the match again, and whoever adds one adds it again after the append.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import msgspec

from service.errors import Refused
from service.match import facets as facet
from service.match.facets import ClockKind, Facets, Speed, facets_of
from service.match.model import Match
from service.match.new_match import game_named
from service.match.rating import INITIAL
from service.repository.index_entry import IndexEntry
from service.repository.ports import Games, Ports
from service.usecases.match_index import creation_failed
from service.usecases.pages import Judgement, Read, page, positioned
from service.views.match_views import MatchSummary


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What an open match must have to be found; None means that it does not matter.

    `option` has texts such as `treachery:true`. `free_seats` is the least number of free seats. `rating_from` and `rating_to`
    are the least and the greatest rating of the people in the match, or of its creator if there are none.
    """

    game: str | None = None
    seats: int | None = None
    free_seats: int | None = None
    clock: ClockKind | None = None
    speed: Speed | None = None
    option: tuple[str, ...] = ()
    creator: str | None = None
    bots: bool | None = None
    rated: bool | None = None
    rating_from: int | None = None
    rating_to: int | None = None

    def facets(self, games: Games) -> Facets:
        """The facets that a match must have.

        Raises:
            Refused: `game-not-found`; `invalid-parameter`: no game has such an option, or no rating is in the range.
        """
        if self.rating_from is not None and self.rating_to is not None and self.rating_from > self.rating_to:
            raise Refused("invalid-parameter", "rating_from is greater than rating_to.", parameter="rating_from")
        hosted = games if self.game is None else {self.game: game_named(games, self.game)}
        known = _options_of(hosted)
        plain = msgspec.structs.asdict(self)
        options = plain.pop("option")
        del plain["rating_from"], plain["rating_to"]
        return frozenset(
            {
                *(facet.facet(name, value) for name, value in plain.items() if value is not None),
                *(_option(known, option) for option in options),
            }
        )


def _options_of(games: Games) -> Mapping[str, Sequence[Any]]:
    """The types of each option, by its name."""
    found: dict[str, list[Any]] = {}
    for game in games.values():
        for field in msgspec.structs.fields(game.info.options):
            found.setdefault(field.name, []).append(field.type)
    return found


def _option(known: Mapping[str, Sequence[Any]], option: str) -> facet.Facet:
    name, _, text = option.partition(":")
    if name not in known:
        names = f"the options are {', '.join(sorted(known))}" if known else "the game has no options"
        raise Refused("invalid-parameter", f"There is no such option; {names}.", parameter="option")
    for kind in known[name]:
        try:
            value = msgspec.json.decode(text.encode(), type=kind)
        except (msgspec.DecodeError, UnicodeEncodeError):
            continue
        return facet.option_facet(name, value)
    raise Refused("invalid-parameter", f"{name} never has this value.", parameter="option")


def open_page(
    ports: Ports, wanted: Wanted, before: IndexEntry | None, limit: int
) -> tuple[tuple[MatchSummary, ...], IndexEntry | None]:
    """Open public matches as wanted, newest first, and the entry where the next page begins (None at the end).

    `wanted` names at least one property. By one or two, a page costs the same however many matches there are. By more,
    it looks at the matches with the rarest two, at most MAX_READ of them, and may have fewer than `limit`.

    Raises:
        Refused: what `Wanted.facets` refuses.
    """
    all_of = wanted.facets(ports.games)
    lookup = _lookup(ports, all_of)

    def judge(_: IndexEntry | None, entry: IndexEntry, match: Read) -> Judgement:
        has = _facets_at(ports, entry, match)
        if isinstance(match, Match) and has is not None and all_of <= has:
            return match if _has_ratings(ports, wanted, match) else "skip"
        if has is not None and not lookup <= has:
            ports.index.unfile(entry.match_id, entry.created_at, lookup)
        return "skip"

    found = page(
        ports,
        before,
        lambda position: positioned(ports.index.find(lookup, position, limit)),
        judge,
        limit=limit,
        batch=limit,
    )
    return found.matches, None if found.is_last else found.position


def _facets_at(ports: Ports, entry: IndexEntry, match: Read) -> Facets | None:
    """The facets of the match of an entry, none if the entry is wrong; None if the match cannot be read, or not yet."""
    if not isinstance(match, Match):
        return frozenset() if creation_failed(ports, match, entry.created_at) else None
    return facets_of(match) if match.created_at == entry.created_at else frozenset()


def _has_ratings(ports: Ports, wanted: Wanted, match: Match) -> bool:
    """Whether the people in a match, or its creator if there are none, have ratings as wanted."""
    if wanted.rating_from is wanted.rating_to is None:
        return True
    ratings = ratings_of(ports, match.created.game, sorted(match.players) or [match.creator])
    return all(is_between(rating, wanted.rating_from, wanted.rating_to) for rating in ratings.values())


def ratings_of(ports: Ports, game: str, players: Sequence[str]) -> Mapping[str, int]:
    """The ratings of players in a game, as they are shown."""
    standings = ports.ratings.standings(game, players)
    return {player: (standings[player].rating if player in standings else INITIAL).shown for player in players}


def is_between(rating: int, lowest: int | None, highest: int | None) -> bool:
    """Whether a rating is in a range, whose ends are in it; None is no end."""
    return (lowest is None or lowest <= rating) and (highest is None or rating <= highest)


def _lookup(ports: Ports, all_of: Facets) -> Facets:
    """The list to read: the one of fewest matches among those that have all the facets that are wanted."""
    if not all_of:
        return all_of
    by_creator = frozenset(one for one in all_of if one.startswith(facet.creator_facet("")))
    if by_creator:
        return by_creator
    if all_of in facet.lookups(all_of):
        return all_of
    choices = sorted((frozenset(pair) for pair in combinations(sorted(all_of), 2)), key=sorted)
    choices = [choice for choice in choices if choice in facet.lookups(all_of)]
    return min(zip(ports.index.counts(choices), map(sorted, choices), choices, strict=True))[2]


def add_to_lists(ports: Ports, match: Match, known: Match | None = None) -> None:
    """Add a match to the lists of its facets, before and after the append that gives it these.

    The lists of `known`, the match before, have it already.
    """
    before, has = frozenset[str]() if known is None else facets_of(known), facets_of(match)
    if not has <= before:
        ports.index.file(match.id, match.created_at, has, before)


def update_lists(ports: Ports, before: Match, after: Match) -> None:
    """After the append that led to `after`, correct the lists of a match."""
    had, has = facets_of(before), facets_of(after)
    if had == has:
        return
    add_to_lists(ports, after, before)
    if had <= has:
        return
    ports.index.unfile(after.id, after.created_at, had, has)
    if after.status == "open":
        newest, _ = ports.history.newest(after.id)
        ports.index.file(newest.id, newest.created_at, facets_of(newest), has & facets_of(newest))
