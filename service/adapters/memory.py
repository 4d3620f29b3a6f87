"""Implementations of all ports in the memory of this process, for local play and for tests of the use cases."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from events.memory_log import MemoryLog
from events.record import MatchId, Version
from service.adapters.clock import wall_clock
from service.adapters.local_limits import LocalLimits
from service.adapters.memory_accounts import MemoryAccounts as MemoryAccounts
from service.adapters.memory_bot_tasks import MemoryBotTasks as MemoryBotTasks
from service.adapters.memory_bots import MemoryBots as MemoryBots
from service.adapters.memory_news import MemoryNews as MemoryNews
from service.adapters.memory_ratings import MemoryRatings as MemoryRatings
from service.adapters.memory_seeks import MemorySeeks as MemorySeeks
from service.adapters.memory_webhooks import MemoryWebhooks as MemoryWebhooks
from service.repository.index_entry import IndexEntry
from service.repository.match_history import History
from service.repository.ports import (
    ENDING_MS,
    NO_FACETS,
    Facets,
    Games,
    Lane,
    OwnList,
    Ports,
    StatusList,
    lookups,
    news_of,
)


def _ignore(_key: str, _number: Version) -> None:
    pass


class MemoryTickets:
    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._tickets: dict[str, tuple[str, int]] = {}

    def keep(self, ticket_digest: str, token_digest: str, seconds: int) -> None:
        self._tickets[ticket_digest] = token_digest, self._now() + seconds * 1000

    def find(self, ticket_digest: str) -> str | None:
        token_digest, until = self._tickets.get(ticket_digest, (None, 0))
        return token_digest if self._now() < until else None

    def redeem(self, ticket_digest: str) -> str | None:
        found = self.find(ticket_digest)
        self._tickets.pop(ticket_digest, None)
        return found


class MemoryIndex:
    """`wake` is called with `news_of(player)` and an increasing number whenever a player is enrolled."""

    def __init__(self, wake: Callable[[str, Version], None] = _ignore) -> None:
        self._wake = wake
        self._own_lists: dict[tuple[str, OwnList], set[IndexEntry]] = {}
        self._enrolled = 0
        self._concluded: dict[str, dict[IndexEntry, int]] = {}
        self._status_lists: dict[IndexEntry, StatusList | None] = {}
        self._open: set[tuple[str, IndexEntry]] = set()
        self._private: set[IndexEntry] = set()
        self._ended: dict[IndexEntry, int] = {}
        self._held: dict[str, dict[IndexEntry, int]] = {}
        self._published = False
        self._filed: dict[Facets, set[IndexEntry]] = {}

    def admit(self, match_id: MatchId, created_at: int, creator: str, limit: int) -> bool:
        counted = self.open_entries(creator)
        if any(entry.match_id == match_id for entry in counted):
            return True
        if len(counted) >= limit:
            return False
        self._open.add((creator, IndexEntry(created_at, match_id)))
        return True

    def add(self, match_id: MatchId, created_at: int, creator: str, *, private: bool) -> None:
        self.enrol(creator, match_id, created_at)
        self.move(match_id, created_at, creator, "open", private=private)

    def release(self, creator: str, match_id: MatchId, created_at: int) -> None:
        self._open.discard((creator, IndexEntry(created_at, match_id)))

    def enrol(self, player: str, match_id: MatchId, created_at: int) -> None:
        own_lists: tuple[OwnList, ...] = ("all", "active")
        for own_list in own_lists:
            self._own_lists.setdefault((player, own_list), set()).add(IndexEntry(created_at, match_id))
        self._enrolled += 1
        self._wake(news_of(player), self._enrolled)

    def publish(self, players: Sequence[str], match_id: MatchId, created_at: int) -> None:
        for player in players:
            self._own_lists.setdefault((player, "public"), set()).add(IndexEntry(created_at, match_id))

    def dismiss(self, player: str, match_id: MatchId, created_at: int) -> None:
        entry = IndexEntry(created_at, match_id)
        own_lists: tuple[OwnList, ...] = ("all", "active", "public")
        for own_list in own_lists:
            self._own_lists.get((player, own_list), set()).discard(entry)
        self._concluded.get(player, {}).pop(entry, None)

    def add_left(self, player: str, match_id: MatchId, created_at: int) -> None:
        self._own_lists.setdefault((player, "left"), set()).add(IndexEntry(created_at, match_id))

    def conclude(self, player: str, match_id: MatchId, created_at: int, at: int) -> None:
        entry = IndexEntry(created_at, match_id)
        self._concluded.setdefault(player, {}).setdefault(entry, at)
        self._own_lists.get((player, "active"), set()).discard(entry)

    def concluded(self, player: str, since: int, skip: int, limit: int) -> Sequence[IndexEntry]:
        found = sorted((at, entry) for entry, at in self._concluded.get(player, {}).items() if at >= since)
        return [entry for _, entry in found[skip : skip + limit]]

    def move(
        self, match_id: MatchId, created_at: int, creator: str, status_list: StatusList | None, *, private: bool
    ) -> None:
        entry = IndexEntry(created_at, match_id)
        self._status_lists[entry] = status_list
        if status_list == "open":
            self._open.add((creator, entry))
        else:
            self._open.discard((creator, entry))
        if private:
            self._private.add(entry)

    def end(self, match_id: MatchId, created_at: int, ended_at: int) -> None:
        entry = IndexEntry(created_at, match_id)
        known = self._ended.get(entry)
        if known is None or ended_at - known > ENDING_MS:
            self._ended[entry] = max(ended_at, 1 + max(self._ended.values(), default=0))

    def withdraw(self, match_id: MatchId, created_at: int) -> None:
        self._ended.pop(IndexEntry(created_at, match_id), None)

    def ended(self, after: int, limit: int) -> Sequence[tuple[int, IndexEntry]]:
        return sorted((number, entry) for entry, number in self._ended.items() if number > after)[:limit]

    def page(self, status_list: StatusList, before: IndexEntry | None, limit: int) -> Sequence[IndexEntry]:
        return _page(
            (
                entry
                for entry, found in self._status_lists.items()
                if found == status_list and entry not in self._private
            ),
            before,
            limit,
        )

    def matches_of(self, player: str, own_list: OwnList, before: IndexEntry | None, limit: int) -> Sequence[IndexEntry]:
        return _page(self._own_lists.get((player, own_list), set()), before, limit)

    def open_entries(self, creator: str) -> Sequence[IndexEntry]:
        return sorted(entry for owner, entry in self._open if owner == creator)

    def hold_seat(self, player: str, match_id: MatchId, created_at: int, at: int, limit: int) -> bool:
        held = self._held.setdefault(player, {})
        entry = IndexEntry(created_at, match_id)
        if entry not in held and len(held) >= limit:
            return False
        held.setdefault(entry, at)
        return True

    def release_seat(self, player: str, match_id: MatchId, created_at: int) -> None:
        self._held.get(player, {}).pop(IndexEntry(created_at, match_id), None)

    def held_seats(self, player: str) -> Sequence[tuple[int, IndexEntry]]:
        return [(at, entry) for entry, at in self._held.get(player, {}).items()]

    def all_open(self) -> Iterator[IndexEntry]:
        return iter([entry for _, entry in self._open])

    def file(self, match_id: MatchId, created_at: int, facets: Facets, known: Facets = NO_FACETS) -> None:
        for lookup in lookups(facets) - lookups(known):
            self._filed.setdefault(lookup, set()).add(IndexEntry(created_at, match_id))

    def unfile(self, match_id: MatchId, created_at: int, facets: Facets, kept: Facets = NO_FACETS) -> None:
        for lookup in lookups(facets) - lookups(kept):
            self._filed.get(lookup, set()).discard(IndexEntry(created_at, match_id))

    def find(self, lookup: Facets, before: IndexEntry | None, limit: int) -> Sequence[IndexEntry]:
        return _page(self._filed.get(lookup, set()), before, limit)

    def counts(self, found: Sequence[Facets]) -> Sequence[int]:
        return [len(self._filed.get(lookup, ())) for lookup in found]

    def is_published(self) -> bool:
        return self._published

    def set_published(self) -> None:
        self._published = True


def _page(entries: Iterable[IndexEntry], before: IndexEntry | None, limit: int) -> Sequence[IndexEntry]:
    return [entry for entry in sorted(entries, reverse=True) if before is None or entry < before][:limit]


class MemoryJobs:
    """Records hints, so that a test can play these matches."""

    def __init__(self) -> None:
        self.hinted: list[MatchId] = []
        self.lanes: list[Lane] = []

    def hint(self, match_id: MatchId, lane: Lane = "turns") -> None:
        self.hinted.append(match_id)
        self.lanes.append(lane)


def local_ports(
    games: Games,
    now: Callable[[], int] = wall_clock,
    log: MemoryLog | None = None,
    wake: Callable[[str, Version], None] = _ignore,
) -> Ports:
    """Ports without a server; `wake` is called for each append and each enrolment, as `Feed.wake`."""
    log = log or MemoryLog(wake)
    secret = bytes(32)
    return Ports(
        log=log,
        history=History(log, games, secret),
        accounts=MemoryAccounts(),
        bots=MemoryBots(),
        bot_tasks=MemoryBotTasks(),
        tickets=MemoryTickets(now),
        index=MemoryIndex(wake),
        seeks=MemorySeeks(now, wake),
        news=MemoryNews(wake),
        ratings=MemoryRatings(),
        webhooks=MemoryWebhooks(log),
        jobs=MemoryJobs(),
        limits=LocalLimits(),
        games=games,
        now=now,
        lost=lambda _start, _end, _silence: 0,
        secret=secret,
    )
