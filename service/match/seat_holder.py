"""Who has a seat of a match: a person, a bot of the game, or a bot that an account hosts."""

import msgspec

from events.record import Version
from service.match.events import DefaultReason, SeatKind


class LastMove(msgspec.Struct, frozen=True):
    """The last event in which a hosted bot's seat acted: `reason` is None for its own action.

    Otherwise the service took a default action for the seat, and this is why.
    """

    version: Version
    reason: DefaultReason | None


class HostedBot(msgspec.Struct, frozen=True):
    """A bot that an account hosts, as a match records it.

    `id` is the account of the bot, `owner` the player who owns it. `limit_ms`: how long it may take for a decision where the
    match has no clock, in milliseconds.
    """

    id: str
    owner: str
    limit_ms: int


class SeatHolder(msgspec.Struct, frozen=True):
    """The player or bot of a seat. After `resigned`, the service takes default actions for the seat.

    `former` is the person or hosted bot from which a bot of the game took the seat over. `owner` is the player who owns the
    hosted bot that has or had the seat. `limit_ms`: how long a hosted bot may take where the match has no clock.
    """

    player: str
    kind: SeatKind
    client_seed: str | None = None
    resigned: bool = False
    former: str | None = None
    owner: str | None = None
    limit_ms: int | None = None

    @property
    def is_present(self) -> bool:
        """Whether a person has the seat and has not left it."""
        return self.kind == "human" and not self.resigned

    @property
    def is_hosted(self) -> bool:
        """Whether a hosted bot has the seat and has not left it."""
        return self.kind == "hosted" and not self.resigned

    @property
    def account(self) -> str | None:
        """The account of the person or hosted bot that has the seat, or had it until a bot of the game took it over."""
        return self.former if self.kind == "bot" else self.player

    @property
    def account_kind(self) -> SeatKind:
        """The kind of `account`; `bot` if there is none."""
        if self.kind != "bot" or self.former is None:
            return self.kind
        return "human" if self.owner is None else "hosted"
