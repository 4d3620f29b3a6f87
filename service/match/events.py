"""The typed `data` of each event type, as in a match file.

Unknown fields are refused: an event with a field that this service does not know must not be folded without it.
"""

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Final, Generic, Literal, TypeAlias, TypeVar, Union

import msgspec
from msgspec import UNSET, UnsetType

from service.games.protocol import AnyGame, Outcome
from service.games.visibility import Seat
from service.match.randomness import Draw

A = TypeVar("A")
E = TypeVar("E")

SeatKind: TypeAlias = Literal["human", "bot", "hosted"]
"""A person, a bot of the game, or (in format 2) a bot that an account hosts."""

Ruleset: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]
"""A ruleset below 1 never existed. A file that names one would pass as one of old rules, not decided again."""


SHORTEST_CLOCK: Final = 5
LONGEST_CLOCK: Final = 1_209_600
LONGEST_INCREMENT: Final = 86_400
"""The limits of a clock are in seconds; the longest clock is two weeks."""
SLOWEST_PACE: Final = 60_000
"""The largest `bot_pace_ms`."""

Seconds: TypeAlias = Annotated[int, msgspec.Meta(ge=SHORTEST_CLOCK, le=LONGEST_CLOCK)]
Increment: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=LONGEST_INCREMENT)]
Pace: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=SLOWEST_PACE)]
OnTimeout: TypeAlias = Literal["default_action", "bot", "resign"]
DefaultReason: TypeAlias = Literal["clock", "bot-failed", "player-left", "bot-late"]
"""Why a default action was taken: the deadline passed, the seat's bot chose no legal action, its player left, or (in
format 2) its hosted bot did not answer in time."""
HandOverReason: TypeAlias = Literal["clock", "absent", "bot-failed", "returned"]
"""Why a seat was handed over, in format 2: its time ran out; another seat asked, since it had not moved for 14 days;
its hosted bot failed; or the person who had it before took it back from a bot."""
AbortReason: TypeAlias = Literal["creator-left", "agreed", "expired"]
"""Why a match was aborted. Format 1 has only the first."""
BotFallback: TypeAlias = Literal["default_action", "bot", "resign"]
"""What happens when a hosted bot fails."""
SHORTEST_WAIT_MS: Final = 1_000
LONGEST_WAIT_MS: Final = 30 * 24 * 3_600_000
OpenMs: TypeAlias = Annotated[int, msgspec.Meta(ge=SHORTEST_WAIT_MS, le=LONGEST_WAIT_MS)]
PlayerId: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]
SHORTEST_LIMIT_MS: Final = 1_000
LONGEST_LIMIT_MS: Final = 10_000
LimitMs: TypeAlias = Annotated[int, msgspec.Meta(ge=SHORTEST_LIMIT_MS, le=LONGEST_LIMIT_MS)]
"""How long a hosted bot may take for a decision that has no other deadline, in milliseconds."""


class MatchClock(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How much time a seat has, what happens when it is used up, and how fast bots play.

    A seat has `turn_seconds` for each decision (a turn may have several), or `bank_seconds` for all decisions together;
    each decision then adds `increment_seconds`. `on_timeout` is `default_action` if it is absent.
    """

    turn_seconds: Seconds | UnsetType = UNSET
    bank_seconds: Seconds | UnsetType = UNSET
    increment_seconds: Increment | UnsetType = UNSET
    on_timeout: OnTimeout | UnsetType = UNSET
    bot_pace_ms: Pace | UnsetType = UNSET


class MatchCreated(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The data of the first event. Format 1 has none of the last four fields, format 2 has all of them.

    `open_ms`: after this many milliseconds since its creation a match that has not started is aborted.
    """

    game: str
    ruleset: Ruleset
    options: dict[str, Any]
    seats: int
    clock: MatchClock | None
    private: bool
    manual_start: bool
    seed_commitment: str
    format: Literal[2] | UnsetType = UNSET
    rated: bool | UnsetType = UNSET
    open_ms: OpenMs | UnsetType = UNSET
    bot_fallback: BotFallback | UnsetType = UNSET

    def __post_init__(self) -> None:
        absent = (self.format is UNSET, self.rated is UNSET, self.open_ms is UNSET, self.bot_fallback is UNSET)
        if any(absent) and not all(absent):
            raise ValueError(
                "format 2 has the fields format, rated, open_ms and bot_fallback, and format 1 has none of them"
            )

    @property
    def format_number(self) -> int:
        return 1 if self.format is UNSET else self.format

    def full_banks(self) -> tuple[int, ...]:
        """The time of each seat before its first decision, in milliseconds; empty if the clock has no bank."""
        clock = self.clock
        return () if clock is None or clock.bank_seconds is UNSET else (clock.bank_seconds * 1000,) * self.seats


class SeatTaken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The seat of a hosted bot, and no other, has `owner`, the player who owns the bot, and `limit_ms`."""

    seat: Seat
    player: PlayerId
    kind: SeatKind
    client_seed: str | UnsetType = UNSET
    owner: PlayerId | UnsetType = UNSET
    limit_ms: LimitMs | UnsetType = UNSET

    def __post_init__(self) -> None:
        if {self.kind == "hosted"} != {self.owner is not UNSET, self.limit_ms is not UNSET}:
            raise ValueError("the seat of a hosted bot has the fields owner and limit_ms, and no other seat has them")


class SeatLeft(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    seat: Seat


class SeatFreed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    seat: Seat


class AbortAsked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    seat: Seat


class MatchStarted(msgspec.Struct, Generic[E], frozen=True, gc=False, forbid_unknown_fields=True):
    draws: tuple[Draw, ...]
    effects: tuple[E, ...]


class Acted(msgspec.Struct, Generic[A, E], frozen=True, gc=False, forbid_unknown_fields=True):
    """The data of an `action`, or, with a reason, of a `default_action`."""

    seat: Seat
    action: A
    effects: tuple[E, ...]
    draws: tuple[Draw, ...] | UnsetType = UNSET
    reason: DefaultReason | UnsetType = UNSET


class Rang(msgspec.Struct, Generic[E], frozen=True, gc=False, forbid_unknown_fields=True):
    """The data of a `timer`: the bell of a timed game rang."""

    label: str
    effects: tuple[E, ...]
    draws: tuple[Draw, ...] | UnsetType = UNSET


class SeatHandedOver(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`reason` is absent in format 1, where the only reason is the clock."""

    seat: Seat
    player: str
    kind: SeatKind
    reason: HandOverReason | UnsetType = UNSET


class Resigned(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    seat: Seat


class MatchScored(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    outcome: Outcome
    draws: tuple[Draw, ...] | UnsetType = UNSET


class MatchAborted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    reason: AbortReason


class MatchSuspended(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`reason` is the name of the exception that the rules raised."""

    reason: Annotated[str, msgspec.Meta(min_length=1)]


class SeedRevealed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    server_seed: str


class ClockExtended(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    ms: Annotated[int, msgspec.Meta(ge=1)]
    reason: Literal["outage"]


class MatchResumed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class GameCodec(msgspec.Struct, frozen=True):
    """Decoders for a game's own types: an action, and the data of events that contain actions or effects."""

    action: Callable[[bytes], Any]
    started: Callable[[msgspec.Raw], MatchStarted[Any]]
    acted: Callable[[msgspec.Raw], Acted[Any, Any]]
    rang: Callable[[msgspec.Raw], Rang[Any]]


@cache
def codec(game: AnyGame) -> GameCodec:
    action: Any = Union[game.info.actions]  # noqa: UP007  (built at run time)
    effect: Any = Union[game.info.effects]  # noqa: UP007
    return GameCodec(
        action=msgspec.json.Decoder(action).decode,
        started=msgspec.json.Decoder(MatchStarted[effect]).decode,
        acted=msgspec.json.Decoder(Acted[action, effect]).decode,
        rang=msgspec.json.Decoder(Rang[effect]).decode,
    )
