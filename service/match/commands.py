"""Commands of a match, as values: `service.match.decide` returns the events of each, or refuses it.

A player's command holds the client's preconditions. A command of the service names what is due.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from events.record import Version
from service.games.protocol import AnyGame
from service.games.visibility import Seat
from service.match.events import DefaultReason
from service.match.new_match import NewMatch
from service.match.seat_holder import HostedBot

SeenHead: TypeAlias = tuple[Version, str]
"""A version that a client saw, and the first hex digits of its event's hash."""


class PlayerCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A person's command. `if_match`: the match's head must be one of these; None accepts any head."""

    player: str
    if_match: tuple[SeenHead, ...] | None = None


class Create(msgspec.Struct, frozen=True, kw_only=True):
    """Create an open match. The creator gets no seat."""

    player: str
    game: AnyGame
    wanted: NewMatch


class Join(PlayerCommand, frozen=True, kw_only=True):
    """Take a seat, by default the lowest free one. `has_join_code`: the client sent the right join code.

    `hosted`: the player is a hosted bot, which takes the seat itself.
    """

    seat: Seat | None = None
    client_seed: str | None = None
    has_join_code: bool = False
    hosted: HostedBot | None = None


class SeatBot(PlayerCommand, frozen=True, kw_only=True):
    """Give a bot of the game, by its name, or a hosted bot a seat, by default the lowest free one."""

    bot: str | HostedBot
    seat: Seat | None = None


class Start(PlayerCommand, frozen=True, kw_only=True):
    """Start a full match with manual start."""


class Leave(PlayerCommand, frozen=True, kw_only=True):
    """Give up a seat. A creator without a seat aborts the open match. `only_open`: leave no match that has started."""

    only_open: bool = False


class FreeSeat(PlayerCommand, frozen=True, kw_only=True):
    """As the creator, take a seat of an open match away from its player or bot."""

    seat: Seat


class AskAbort(PlayerCommand, frozen=True, kw_only=True):
    """Ask to abort a running match. It is aborted when all its people ask for it."""


class TakeBack(PlayerCommand, frozen=True, kw_only=True):
    """Take back the seat that was handed over to a bot."""


class ReplaceAbsent(PlayerCommand, frozen=True, kw_only=True):
    """Hand the seat of another player, who has been absent for long, over to a bot."""

    seat: Seat


class Act(PlayerCommand, frozen=True, kw_only=True):
    """Take an action, given in its JSON form. `seat` and `decision` are checked if the client sent them.

    `received_at`: server time in milliseconds at which the action was received; None if it is decided at once.
    `paused_ms`: server time minus match time when the action was received; None if no event was appended since.
    """

    action: Mapping[str, Any]
    seat: Seat | None = None
    decision: str | None = None
    received_at: int | None = None
    paused_ms: int | None = None


class ActAsBot(msgspec.Struct, frozen=True, kw_only=True):
    """Take the action that a seat's bot chose, given in its JSON form."""

    seat: Seat
    bot: str
    action: Mapping[str, Any]


class TakeDefault(msgspec.Struct, frozen=True, kw_only=True):
    """Take the default action of an open decision."""

    seat: Seat
    action: Any
    reason: DefaultReason


class Ring(msgspec.Struct, frozen=True, kw_only=True):
    """Ring the bell of a timed game."""

    label: str


class Forfeit(msgspec.Struct, frozen=True, kw_only=True):
    """Resign for a seat whose time has run out, or whose hosted bot failed."""

    seat: Seat


class HandOver(msgspec.Struct, frozen=True, kw_only=True):
    """Give a seat to a bot of the game: that of a person whose time has run out, or of a hosted bot that failed."""

    seat: Seat


class Expire(msgspec.Struct, frozen=True, kw_only=True):
    """Abort a match that has waited for players for too long."""


class Extend(msgspec.Struct, frozen=True, kw_only=True):
    """Move all deadlines by the milliseconds of an outage."""

    ms: int


class Suspend(msgspec.Struct, frozen=True, kw_only=True):
    """Suspend a match whose rules raised the exception named `reason`."""

    reason: str


class Resume(msgspec.Struct, frozen=True, kw_only=True):
    """Resume a suspended match."""


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """Score a match that has no open decision, and reveal its seed."""


PlayersCommand: TypeAlias = Join | SeatBot | FreeSeat | Start | Leave | AskAbort | TakeBack | ReplaceAbsent | Act
ServiceCommand: TypeAlias = (
    ActAsBot | TakeDefault | Ring | Forfeit | HandOver | Expire | Extend | Suspend | Resume | Score
)
MatchCommand: TypeAlias = PlayersCommand | ServiceCommand
"""A command to a match that exists."""
Command: TypeAlias = Create | MatchCommand
