"""Facets of an open match: the properties by which players look for one, such as `game=ape_town` or `free_seats=2`."""

from itertools import combinations
from typing import Final, Literal, TypeAlias

from msgspec import UNSET

from events.record import canonical
from service.games.protocol import AnyGame
from service.match.events import MatchClock
from service.match.model import Match

Facet: TypeAlias = str
"""`<name>=<value>`; of an option `option=<name>:<value as JSON>`."""
Facets: TypeAlias = frozenset[Facet]

ClockKind: TypeAlias = Literal["none", "turn", "bank", "game"]
"""No clock, seconds for each decision, seconds for all decisions of a seat, or a game that keeps its own time."""
Speed: TypeAlias = Literal["minutes", "hours", "days"]
"""Whether a decision, or the bank, has less than an hour, less than a day, or more.

A game that keeps its own time takes minutes.
"""

HOUR_S: Final = 3_600
DAY_S: Final = 86_400


def facets_of(match: Match) -> Facets:
    """The facets of a match; none if it is private, or does not wait for players."""
    if match.status != "open" or match.created.private:
        return frozenset()
    free = sum(holder is None for holder in match.seats)
    has_bots = any(holder is not None and holder.kind != "human" for holder in match.seats)
    speed = speed_of(match.game, match.created.clock)
    return frozenset(
        {
            facet("game", match.created.game),
            facet("seats", match.created.seats),
            facet("clock", clock_kind(match.game, match.created.clock)),
            facet("bots", has_bots),
            facet("rated", match.created.rated is True),
            creator_facet(match.creator),
            *(facet("free_seats", number) for number in range(1, free + 1)),
            *(option_facet(name, value) for name, value in match.created.options.items()),
            *([] if speed is None else [facet("speed", speed)]),
        }
    )


def facet(name: str, value: str | int | bool) -> Facet:
    text = value if isinstance(value, str) else canonical(value).decode()
    return f"{name}={text}"


def option_facet(name: str, value: object) -> Facet:
    return facet("option", f"{name}:{canonical(value).decode()}")


def creator_facet(player: str) -> Facet:
    return facet("creator", player)


def clock_kind(game: AnyGame, clock: MatchClock | None) -> ClockKind:
    if game.info.keeps_time:
        return "game"
    if clock is None or clock.turn_seconds is clock.bank_seconds is UNSET:
        return "none"
    return "bank" if clock.turn_seconds is UNSET else "turn"


def speed_of(game: AnyGame, clock: MatchClock | None) -> Speed | None:
    """None if there is no clock."""
    if game.info.keeps_time:
        return "minutes"
    times = () if clock is None else (clock.turn_seconds, clock.bank_seconds)
    seconds = sum(time for time in times if time is not UNSET)
    if not seconds:
        return None
    return "minutes" if seconds < HOUR_S else "hours" if seconds < DAY_S else "days"


def lookups(facets: Facets) -> frozenset[Facets]:
    """The combinations of facets by which a match with these facets can be looked up: none, each alone, and most pairs.

    A creator has few open matches, which are looked up by the creator alone; more free seats include fewer.
    """
    paired = sorted(one for one in facets if not one.startswith("creator="))
    pairs = (
        frozenset(pair) for pair in combinations(paired, 2) if not all(one.startswith("free_seats=") for one in pair)
    )
    return frozenset({frozenset(), *(frozenset({one}) for one in facets), *pairs} if facets else ())
