"""What can be asked of a match, as values: `service.match.decide` answers each with the events that it brings, or refuses it.

A command of a player holds all that the client insists on. A command of the service names what is due.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from events.record import Version
from service.games.protocol import AnyGame
from service.games.visibility import Seat
from service.match.events import DefaultReason
from service.match.new_match import NewMatch

SeenHead: TypeAlias = tuple[Version, str]
"""A version that a client saw, and how the hash of its event begins."""


class PlayerCommand(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asks. `if_match`: one of these heads must be the newest; None insists on nothing."""

    player: str
    if_match: tuple[SeenHead, ...] | None = None


class Create(msgspec.Struct, frozen=True, kw_only=True):
    """Open a new match; the creator gets no seat by it."""

    player: str
    game: AnyGame
    wanted: NewMatch


class Join(PlayerCommand, frozen=True, kw_only=True):
    """Take a seat, the lowest free one if none is named. `has_join_code`: the right code of this match was given."""

    seat: Seat | None = None
    client_seed: str | None = None
    has_join_code: bool = False


class SeatBot(PlayerCommand, frozen=True, kw_only=True):
    """Give a bot a seat, the lowest free one if none is named."""

    bot: str
    seat: Seat | None = None


class Start(PlayerCommand, frozen=True, kw_only=True):
    """Start a full match that is started by hand."""


class Leave(PlayerCommand, frozen=True, kw_only=True):
    """Give up a seat; for a creator without a seat, give up an open match."""


class Act(PlayerCommand, frozen=True, kw_only=True):
    """Take an action, given in its JSON form. `seat` and `decision` are checked where they are given.

    `received_at`: server time of receipt in milliseconds, where that was before the command is decided. `paused_ms`: how far
    match time lay behind server time at the receipt, where other events have been appended since.
    """

    action: Mapping[str, Any]
    seat: Seat | None = None
    decision: str | None = None
    received_at: int | None = None
    paused_ms: int | None = None


class ActAsBot(msgspec.Struct, frozen=True, kw_only=True):
    """Take what a seat's bot chose, given in its JSON form."""

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
    """Resign for a seat whose time has run out."""

    seat: Seat


class HandOver(msgspec.Struct, frozen=True, kw_only=True):
    """Give the seat of a person whose time has run out to a bot."""

    seat: Seat


class Extend(msgspec.Struct, frozen=True, kw_only=True):
    """Give the time of an outage back, in milliseconds."""

    ms: int


class Suspend(msgspec.Struct, frozen=True, kw_only=True):
    """Stop a match in which the rules raised the exception named `reason`."""

    reason: str


class Resume(msgspec.Struct, frozen=True, kw_only=True):
    """Let a suspended match go on."""


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """Score a match that has nothing left to decide, and reveal its seed."""


ServiceCommand: TypeAlias = ActAsBot | TakeDefault | Ring | Forfeit | HandOver | Extend | Suspend | Resume | Score
MatchCommand: TypeAlias = Join | SeatBot | Start | Leave | Act | ServiceCommand
"""A command to a match that exists."""
Command: TypeAlias = Create | MatchCommand
