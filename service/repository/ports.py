"""What use cases need from outside, as protocols: adapters fulfil them, `service.container` puts them together."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias

import msgspec

from events.feed import Feed as Feed
from events.log import Log
from events.log import LogUnavailable as LogUnavailable
from events.record import MatchId
from service.games.protocol import AnyGame
from service.repository.match_history import History
from service.repository.match_lock import Turnstile

Games: TypeAlias = Mapping[str, AnyGame]
"""The games that are played here, by id."""

Shelf: TypeAlias = Literal["open", "running", "finished", "aborted"]

ENDING_MS: Final = 30_000
"""An end that was announced is in the log within this time, or it did not come."""

Mine: TypeAlias = Literal["all", "active"]
"""Which of a player's matches: those it made or took a seat in, or of these the ones that are not over."""

Lane: TypeAlias = Literal["turns", "bots"]
"""`turns` is for matches in which people play; `bots` for all others, which have workers of their own, so that no person
waits for them, however many there are."""


class Player(msgspec.Struct, frozen=True):
    """An account: `id` is opaque and public, the name is no part of any match."""

    id: str
    name: str
    created_at: int


def news_of(player: str) -> str:
    """The name under which waiters are told that a player's matches became more; no match has such an id."""
    return f"player:{player}"


def digest_of(token: str) -> str:
    """What is stored of a token or a ticket: its SHA-256 in hex."""
    return hashlib.sha256(token.encode()).hexdigest()


class Accounts(Protocol):
    def add(self, player: Player, token_digest: str) -> None:
        """A new player with a first token."""
        ...

    def by_token(self, token_digest: str) -> Player | None: ...

    def remembered(self, token_digest: str) -> Player | None:
        """As `by_token`, where this process knows it without asking."""
        ...

    def players(self, ids: Sequence[str]) -> Mapping[str, Player]:
        """Those of some players that exist."""
        ...

    def add_token(self, player: str, token_digest: str) -> None: ...

    def revoke(self, token_digest: str) -> None:
        """From now on the token is nobody's, in every process."""
        ...


class Tickets(Protocol):
    """What lets somebody in once. They may all be lost at once; none is ever good twice."""

    def keep(self, ticket_digest: str, token_digest: str, seconds: int) -> None: ...

    def find(self, ticket_digest: str) -> str | None:
        """The digest of the token that a ticket stands for; the ticket stays good."""
        ...

    def redeem(self, ticket_digest: str) -> str | None:
        """The digest of the token that a ticket stands for; from now on the ticket is none."""
        ...


class MatchIndex(Protocol):
    """Which matches there are. It may hold too much after a crash, never too little; what a match is, its log says."""

    def admit(self, match_id: MatchId, created_at: int, creator: str, limit: int) -> bool:
        """Count a match that is about to be created among its creator's that wait for players, unless those are so many.

        However many are told at once, no more than the limit are admitted. One that is counted already is admitted again,
        whenever it was to be created.
        """
        ...

    def add(self, match_id: MatchId, created_at: int, creator: str, *, private: bool) -> None:
        """A match that is about to be created, also among its creator's."""
        ...

    def enrol(self, player: str, match_id: MatchId, created_at: int) -> None:
        """A player who is about to take a seat, and is told of it where it waits for news."""
        ...

    def dismiss(self, player: str, match_id: MatchId, created_at: int) -> None:
        """A match is none of a player's any more."""
        ...

    def conclude(self, player: str, match_id: MatchId, created_at: int, at: int) -> None:
        """Take a match that is over from the active ones of a player, and note when (`at`, server milliseconds).

        Of one that is noted already the first time counts.
        """
        ...

    def concluded(self, player: str, since: int, skip: int, limit: int) -> Sequence[str]:
        """Places of a player's matches that were concluded at a time or later, the first first, after the first `skip`."""
        ...

    def move(self, match_id: MatchId, created_at: int, creator: str, shelf: Shelf | None, *, private: bool) -> None:
        """To the shelf where the match now belongs, None for no shelf."""
        ...

    def end(self, match_id: MatchId, created_at: int, ended_at: int) -> None:
        """A public match that is about to end, or has ended, behind all that were told before: `ended` gives it a number.

        It keeps its number however often it is told, unless more than ENDING_MS have passed: then the end that was
        announced did not come, and readers have gone past it.
        """
        ...

    def withdraw(self, match_id: MatchId, created_at: int) -> None:
        """Take back an end that was announced and did not come."""
        ...

    def ended(self, after: int, limit: int) -> Sequence[tuple[int, str]]:
        """Numbers and places of public matches that ended, or are about to, in the order in which they were told.

        A number rises with each match and is the server's time of the end, or a little more.
        """
        ...

    def page(self, shelf: Shelf, before: str | None, limit: int) -> Sequence[str]:
        """Public matches of a shelf, newest first, as sortable places `<created_at>:<match id>`."""
        ...

    def matches_of(self, player: str, mine: Mine, before: str | None, limit: int) -> Sequence[str]:
        """Places of a player's matches, the last created first."""
        ...

    def open_places(self, creator: str) -> Sequence[str]:
        """The places of a creator's matches that wait for players, private ones too."""
        ...


class Jobs(Protocol):
    def hint(self, match_id: MatchId, lane: Lane = "turns") -> None:
        """Tell the workers that a match has a job due now. Losing a hint costs time, never a turn."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    log: Log
    history: History
    accounts: Accounts
    tickets: Tickets
    index: MatchIndex
    jobs: Jobs
    games: Games
    now: Callable[[], int]
    """Server time in milliseconds."""
    lost: Callable[[int, int, int], int]
    """Milliseconds between two server times in which the log could take no action, or nobody enforced deadlines. The sweepers
    may be silent just now because the log was away: they count as so from the number of milliseconds on that is given third.
    """
    secret: bytes
    """The store's own secret: match ids and join codes are derived from it, snapshots and tickets sealed with it."""
    turnstile: Turnstile = field(default_factory=Turnstile)
