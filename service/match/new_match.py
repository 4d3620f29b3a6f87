"""The description of a match to create, and its checks: game, seats, options, bots and clock."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from events.chain import NEWEST_FORMAT
from service.errors import Refused
from service.games.bots import bots_of
from service.games.protocol import AnyGame, BadOptions
from service.match.characters import printable
from service.match.events import BotFallback, MatchClock
from service.match.model import OPEN_MS
from service.match.seat_holder import HostedBot

_MAX_NAME: Final = 64
"""The most characters of an unknown name in a refusal."""


class NewMatch(msgspec.Struct, frozen=True):
    """A match to create. `bots` take the lowest seats. `open_ms`: how long it may wait for players, in milliseconds.

    `hosted`: what is known of those of the `bots` that are hosted, by their ids.
    `default_clock`: the client said nothing about a clock. None without it means that the client wants no clock.
    """

    game: str
    seats: int
    options: Mapping[str, Any] = {}
    bots: tuple[str, ...] = ()
    clock: MatchClock | None = None
    private: bool = False
    manual_start: bool = False
    default_clock: bool = False
    rated: bool = False
    open_ms: int = OPEN_MS
    bot_fallback: BotFallback = "default_action"
    format_number: int = NEWEST_FORMAT
    hosted: Mapping[str, HostedBot] = {}


DEFAULT_CLOCK: Final = MatchClock(turn_seconds=7 * 24 * 3600, on_timeout="default_action")


def with_clock(game: AnyGame, wanted: NewMatch) -> NewMatch:
    """The match with the default clock if the client said nothing about a clock and the game keeps no time itself."""
    if not wanted.default_clock or wanted.clock is not None or game.info.keeps_time:
        return wanted
    return replace(wanted, clock=DEFAULT_CLOCK)


def complete(clock: MatchClock | None) -> MatchClock | None:
    """A valid clock with the values that its absent fields stand for, so that clocks of equal effect are equal."""
    if clock is None:
        return None
    if clock.bank_seconds is not UNSET and clock.increment_seconds is UNSET:
        clock = replace(clock, increment_seconds=0)
    if clock.turn_seconds is clock.bank_seconds or clock.on_timeout is not UNSET:
        return clock
    return replace(clock, on_timeout="default_action")


def game_named(games: Mapping[str, AnyGame], game_id: str) -> AnyGame:
    """A game by its id.

    Raises:
        Refused: `game-not-found`.
    """
    game = games.get(game_id)
    if game is None:
        fault = f"There is no game {_shown(game_id)}. There are: {', '.join(sorted(games))}."
        raise Refused("game-not-found", fault, games=sorted(games))
    return game


def checked_options(game: AnyGame, wanted: NewMatch) -> Any:
    """The typed options of a match, after a check of its seats, bots and clock, and of what a rated match must have.

    Raises:
        Refused: `bot-not-found`, `invalid-options`.
    """
    if wanted.seats not in game.info.seats:
        raise Refused(
            "invalid-options",
            f"{game.info.title} has {game.info.seats[0]} to {game.info.seats[-1]} seats.",
            parameter="seats",
        )
    if len(wanted.bots) > wanted.seats:
        raise Refused(
            "invalid-options",
            f"The match has {wanted.seats} seats, and {len(wanted.bots)} bots are named.",
            parameter="bots",
        )
    for name in wanted.bots:
        if name not in wanted.hosted:
            check_bot(game, name)
        elif wanted.bots.count(name) > 1:
            fault = f"A hosted bot has one seat of a match, and {_shown(name)} is named twice."
            raise Refused("invalid-options", fault, parameter="bots")
    _check_clock(game, wanted.clock)
    try:
        options = game.options(wanted.seats, wanted.options)
    except BadOptions as error:
        path = ("options", *error.path)
        raise Refused("invalid-options", f"These options do not fit the game: {error}.", parameter=path) from None
    if wanted.rated:
        _check_rated(game, wanted, options)
    return options


def _check_rated(game: AnyGame, wanted: NewMatch, options: Any) -> None:
    """Check that a match is public, is not solo, has only people, a clock, and the default options or those of a variant.

    Raises:
        Refused: `invalid-options`.
    """
    timed = wanted.clock is not None and not wanted.clock.turn_seconds is wanted.clock.bank_seconds is UNSET
    if wanted.private:
        raise Refused("invalid-options", "A rated match is public; leave out private.", parameter="private")
    if wanted.seats == 1:
        raise Refused("invalid-options", "A rated match has two seats at least.", parameter="seats")
    if wanted.bots:
        fault = "In a rated match players take all seats themselves, hosted bots with their own tokens; leave out bots."
        raise Refused("invalid-options", fault, parameter="bots")
    if not (timed or game.info.keeps_time):
        raise Refused(
            "invalid-options",
            "A rated match needs turn_seconds or bank_seconds; without clock it has seven days for a decision.",
            parameter="clock",
        )
    variants = ({}, *game.info.variants.values())
    if not any(options == game.options(wanted.seats, variant) for variant in variants):
        named = (
            f" or those of a variant of the game: {', '.join(sorted(game.info.variants))}" if game.info.variants else ""
        )
        fault = f"A rated match has the default options{named}; GET /v1/games/{game.info.id} has both."
        raise Refused("invalid-options", fault, parameter="options")


def _check_clock(game: AnyGame, clock: MatchClock | None) -> None:
    """Check that the fields of a clock fit together, and fit the game.

    Raises:
        Refused: `invalid-options`.
    """
    if clock is None:
        return
    kinds = [kind is not UNSET for kind in (clock.turn_seconds, clock.bank_seconds)]
    if game.info.keeps_time and (any(kinds) or clock.increment_seconds is not UNSET or clock.on_timeout is not UNSET):
        raise Refused(
            "invalid-options",
            f"{game.info.title} keeps its own time; of a clock only bot_pace_ms may be set.",
            parameter="clock",
        )
    if all(kinds):
        raise Refused("invalid-options", "A clock has turn_seconds or bank_seconds, not both.", parameter="clock")
    if clock.increment_seconds is not UNSET and not kinds[1]:
        path = ("clock", "increment_seconds")
        raise Refused("invalid-options", "increment_seconds belongs to bank_seconds.", parameter=path)
    if clock.on_timeout is not UNSET and not any(kinds):
        path = ("clock", "on_timeout")
        raise Refused("invalid-options", "on_timeout belongs to turn_seconds or bank_seconds.", parameter=path)


def check_pace(clock: MatchClock | None) -> None:
    """Check that bots act before their deadline: a bot takes up to 1.5 times its pace.

    Matches from before this rule may break it.

    Raises:
        Refused: `invalid-options`.
    """
    if clock is None or clock.bot_pace_ms is UNSET:
        return
    allowed = 1000 * sum(seconds for seconds in (clock.turn_seconds, clock.bank_seconds) if seconds is not UNSET)
    if allowed and clock.bot_pace_ms > allowed // 2:
        fault = f"A bot has {allowed} ms for a decision, so its pace may be at most {allowed // 2} ms."
        raise Refused("invalid-options", fault, parameter=("clock", "bot_pace_ms"))


def check_bot(game: AnyGame, name: str) -> None:
    if name not in bots_of(game):
        bots = sorted(bots_of(game))
        fault = f"No bot {_shown(name)} plays {game.info.title}. There are: {', '.join(bots)}."
        raise Refused("bot-not-found", fault, bots=bots)


def _shown(name: str) -> str:
    """A name that somebody gave, for a refusal."""
    return repr(printable(name[:_MAX_NAME]))
