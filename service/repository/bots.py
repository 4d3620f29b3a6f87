"""The port for hosted bots: accounts that act like players, and that a player owns."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, Protocol, TypeAlias, get_args

import msgspec

from events.record import MatchId
from service.repository.signing import SigningKey

PREFIX: Final = "bt_"
"""The ids of the accounts of hosted bots begin with this. No other account has such an id, nor has a bot of a game."""

Seating: TypeAlias = Literal["owner", "everyone"]
"""Who may give the bot a seat: only its owner, or everyone in the matches that they create."""
SEATINGS: Final[tuple[Seating, ...]] = get_args(Seating)


class Bot(msgspec.Struct, frozen=True):
    """A hosted bot; its name is that of its account. Times are in server milliseconds.

    `public`: whether everyone may see it in the list of bots. `max_matches`: how many matches that are not over it has a seat
    in. `limit_ms`: how long it may take for a decision where the match has no clock. It takes effect in later matches. `url`: the
    address at which it is called for each task; None if it pulls its tasks. `key` signs the calls.
    """

    id: str
    owner: str
    created_at: int
    games: tuple[str, ...]
    about: str
    public: bool
    seating: Seating
    max_matches: int
    limit_ms: int
    key: SigningKey
    url: str | None = None


Admitted: TypeAlias = Literal["new", "known", "full"]
"""Whether a match is counted from now on, was counted before, or is not counted because others are."""


def is_hosted(player: str) -> bool:
    """Whether an id is that of a hosted bot's account."""
    return player.startswith(PREFIX)


class Bots(Protocol):
    """Hosted bots. A crash may leave a bot without an account, which its owner can remove; no bot is lost."""

    def add(self, bot: Bot, limit: int) -> bool:
        """Add a bot unless its owner has `limit` of them. The limit also holds for concurrent calls."""
        ...

    def change(self, bot: str, changed: Callable[[Bot], Bot]) -> Bot | None:
        """Replace a bot by what `changed` makes of it, and return that; None if there is no such bot.

        No concurrent change is lost: `changed` is called again if the bot was replaced meanwhile.
        """
        ...

    def remove(self, bot: str, owner: str) -> None:
        """Remove a bot for good. May be repeated."""
        ...

    def find(self, ids: Sequence[str]) -> Mapping[str, Bot]:
        """The bots with these ids, without those that do not exist."""
        ...

    def of(self, owner: str) -> Sequence[str]:
        """The ids of an owner's bots, also of those that are about to be added, oldest first."""
        ...

    def owners(self) -> Iterator[str]:
        """The players who have bots, in any order."""
        ...

    def public(self, after: str, limit: int) -> Sequence[str]:
        """The ids of at most `limit` public bots that come after an id, in the order of the ids."""
        ...

    def admit(self, bot: str, match_id: MatchId, at: int, limit: int) -> Admitted:
        """Count a match in which a bot is about to get a seat, unless `limit` others are counted.

        `at` is server time in milliseconds. The limit also holds for concurrent calls.
        """
        ...

    def seat(self, bot: str, match_id: MatchId, at: int) -> None:
        """Count a match in which a bot has got its seat, also if another command, which failed, has released it."""
        ...

    def release(self, bot: str, match_id: MatchId, at: int) -> None:
        """Count a match no longer, unless it was counted at another time than `at`."""
        ...

    def admitted(self, bot: str) -> Mapping[MatchId, int]:
        """The matches that are counted, and the times at which they were admitted."""
        ...
