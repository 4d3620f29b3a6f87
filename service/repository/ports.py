"""Protocols for what use cases need from outside. Adapters implement them, and `service.container` connects them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias

from events.feed import Feed as Feed
from events.log import Log
from events.log import LogUnavailable as LogUnavailable
from events.record import MatchId
from service.errors import Refused
from service.games.protocol import AnyGame
from service.match.facets import Facets as Facets
from service.match.facets import lookups as lookups
from service.repository.accounts import Accounts as Accounts
from service.repository.accounts import Player as Player
from service.repository.accounts import digest_of as digest_of
from service.repository.bot_tasks import BotTasks
from service.repository.bots import Bots
from service.repository.index_entry import IndexEntry
from service.repository.limits import Limits
from service.repository.match_history import History
from service.repository.match_lock import MatchLocks
from service.repository.news import News
from service.repository.ratings import Ratings
from service.repository.seeks import Seeks
from service.repository.webhooks import Webhooks

Games: TypeAlias = Mapping[str, AnyGame]
"""The games of this service, by id."""

StatusList: TypeAlias = Literal["open", "running", "finished", "aborted"]
"""A list of public matches in the index. A match is in one of them, by its status."""

ENDING_MS: Final = 30_000
"""The end of a match is in the log within this time after it was announced to the index; otherwise it was not appended."""

OwnList: TypeAlias = Literal["all", "active", "public", "left"]
"""Which matches of a player: all that it created or took a seat in, only those that are not over, or only the public ones."""

Lane: TypeAlias = Literal["turns", "bots"]
"""The queue of a job: `turns` for matches with people, `bots` for all others.

`bots` has workers of its own, so that people do not wait for matches of bots.
"""


NO_FACETS: Final[Facets] = frozenset()


def news_of(player: str) -> str:
    """The channel that announces new matches and news of a player. It differs from every match id."""
    return f"player:{player}"


class Tickets(Protocol):
    """Single-use stream tickets. The store may lose tickets, but accepts no ticket twice."""

    def keep(self, ticket_digest: str, token_digest: str, seconds: int) -> None: ...

    def find(self, ticket_digest: str) -> str | None:
        """The digest of the token that a ticket stands for. The ticket stays valid."""
        ...

    def redeem(self, ticket_digest: str) -> str | None:
        """The digest of the token that a ticket stands for. The ticket becomes invalid."""
        ...


class MatchIndex(Protocol):
    """An index of matches. After a crash it may contain too many entries, but never too few.

    The log decides what is true of a match; readers correct the index. `created_at` is in server milliseconds.
    """

    def admit(self, match_id: MatchId, created_at: int, creator: str, limit: int) -> bool:
        """Add a match that is about to be created to its creator's open matches, unless there are `limit` of them.

        Returns whether it is among them. The limit also holds for concurrent calls. A match that is already counted is
        admitted again, whatever its `created_at` is.
        """
        ...

    def add(self, match_id: MatchId, created_at: int, creator: str, *, private: bool) -> None:
        """Add a match that is about to be created, to the open ones and to its creator's."""
        ...

    def release(self, creator: str, match_id: MatchId, created_at: int) -> None:
        """Remove a match from the open matches of a player who did not create it after all."""
        ...

    def enrol(self, player: str, match_id: MatchId, created_at: int) -> None:
        """Add a match to those of a player who is about to take a seat, and announce it on `news_of(player)`.

        `publish` adds it to the player's public list.
        """
        ...

    def publish(self, players: Sequence[str], match_id: MatchId, created_at: int) -> None:
        """Add a public match to the public lists of these players."""
        ...

    def dismiss(self, player: str, match_id: MatchId, created_at: int) -> None:
        """Remove a match from all lists of a player but that of the matches that the player left."""
        ...

    def add_left(self, player: str, match_id: MatchId, created_at: int) -> None:
        """Add a match to those that a player left before their start. It stays there if the player joins again."""
        ...

    def conclude(self, player: str, match_id: MatchId, created_at: int, at: int) -> None:
        """Remove a match that is over from a player's active matches, and record the time `at` (server milliseconds).

        A repeated call keeps the first time.
        """
        ...

    def concluded(self, player: str, since: int, skip: int, limit: int) -> Sequence[IndexEntry]:
        """Entries of a player's matches that were concluded at `since` or later, oldest first, after the first `skip`."""
        ...

    def move(
        self, match_id: MatchId, created_at: int, creator: str, status_list: StatusList | None, *, private: bool
    ) -> None:
        """Move a match to the list where it now belongs; None removes it from all lists."""
        ...

    def end(self, match_id: MatchId, created_at: int, ended_at: int) -> None:
        """Append a public match that has ended, or is about to end, to the list of ended matches, and number it.

        A repeated call keeps the number for ENDING_MS. After that the announced end did not come, and readers may have
        passed its number, so the match gets a new number.
        """
        ...

    def withdraw(self, match_id: MatchId, created_at: int) -> None:
        """Remove an announced end that was not appended."""
        ...

    def ended(self, after: int, limit: int) -> Sequence[tuple[int, IndexEntry]]:
        """Numbers and entries of public matches that have ended or are about to end, in the order of their numbers.

        Numbers increase. Each is the server time of the end in milliseconds, or a little more.
        """
        ...

    def page(self, status_list: StatusList, before: IndexEntry | None, limit: int) -> Sequence[IndexEntry]:
        """Entries of the public matches in a list, newest first, after the entry `before`."""
        ...

    def matches_of(self, player: str, own_list: OwnList, before: IndexEntry | None, limit: int) -> Sequence[IndexEntry]:
        """Entries of a player's matches, newest first, after the entry `before`."""
        ...

    def open_entries(self, creator: str) -> Sequence[IndexEntry]:
        """Entries of a creator's matches that wait for players, including private ones."""
        ...

    def hold_seat(self, player: str, match_id: MatchId, created_at: int, at: int, limit: int) -> bool:
        """Add a match to those that have not started and in which a player has, or is about to take, a seat.

        Not if there are `limit` of them; returns whether it is among them. `at` is the server time of the addition. The limit
        also holds for concurrent calls. A match that is already counted is admitted again, and keeps its time.
        """
        ...

    def release_seat(self, player: str, match_id: MatchId, created_at: int) -> None:
        """Remove a match from those of `hold_seat`."""
        ...

    def held_seats(self, player: str) -> Sequence[tuple[int, IndexEntry]]:
        """The times and the entries of `hold_seat`."""
        ...

    def all_open(self) -> Iterator[IndexEntry]:
        """The entries of all matches that wait for players, including private ones, in any order; some may come twice."""
        ...

    def file(self, match_id: MatchId, created_at: int, facets: Facets, known: Facets = NO_FACETS) -> None:
        """Add an open match to the lists of each facet and of each pair of facets, unless `known` are in them already."""
        ...

    def unfile(self, match_id: MatchId, created_at: int, facets: Facets, kept: Facets = NO_FACETS) -> None:
        """Remove a match from the lists of these facets and of their pairs, except from those of `kept`."""
        ...

    def find(self, lookup: Facets, before: IndexEntry | None, limit: int) -> Sequence[IndexEntry]:
        """Entries of open matches in the list of one of their `lookups`, newest first, after the entry `before`."""
        ...

    def counts(self, found: Sequence[Facets]) -> Sequence[int]:
        """How many matches the list of each lookup has."""
        ...

    def is_published(self) -> bool:
        """Whether all matches of older releases are in the public lists of their players."""
        ...

    def set_published(self) -> None: ...


class Jobs(Protocol):
    def hint(self, match_id: MatchId, lane: Lane = "turns") -> None:
        """Notify the workers that a job of a match is due now. A lost hint delays the job, but does not lose it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Everything that the use cases need from outside."""

    log: Log
    history: History
    accounts: Accounts
    bots: Bots
    bot_tasks: BotTasks
    tickets: Tickets
    index: MatchIndex
    seeks: Seeks
    ratings: Ratings
    news: News
    webhooks: Webhooks
    jobs: Jobs
    limits: Limits
    games: Games
    now: Callable[[], int]
    """Server time in milliseconds."""
    lost: Callable[[int, int, int], int]
    """Milliseconds between two server times in which the log could not accept actions, or no sweeper enforced deadlines.

    Sweepers that are silent at this moment, perhaps because the log does not answer, count as an outage if they have been
    silent for longer than the third argument, in milliseconds.
    """
    hint_call: Callable[[MatchId], object] = lambda _: None
    """Tells the process that calls hosted bots that one is to be called in a match now. A lost hint delays the call."""
    secret: bytes
    """The store's secret. Match ids and join codes are derived from it; snapshots and tickets are sealed with it."""
    match_locks: MatchLocks = field(default_factory=MatchLocks)

    def player(self, player: str) -> Player:
        """The account of a player.

        Raises:
            Refused: `player-not-found`.
        """
        found = self.accounts.players((player,)).get(player)
        if found is None:
            raise Refused("player-not-found", "No player has this id (any more).")
        return found
