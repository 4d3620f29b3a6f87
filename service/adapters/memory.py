"""Everything outside a use case, in this process's memory: for local play and for tests of the use cases."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import get_args

from events.memory_log import MemoryLog
from events.record import MatchId, Version
from service.adapters.clock import wall_clock
from service.repository.match_history import History
from service.repository.ports import ENDING_MS, Games, Lane, Mine, Player, Ports, Shelf, news_of


def _unheard(_key: str, _number: Version) -> None:
    pass


class MemoryAccounts:
    def __init__(self) -> None:
        self._players: dict[str, Player] = {}
        self._tokens: dict[str, str] = {}

    def add(self, player: Player, token_digest: str) -> None:
        self._players[player.id] = player
        self._tokens[token_digest] = player.id

    def by_token(self, token_digest: str) -> Player | None:
        player = self._tokens.get(token_digest)
        return self._players[player] if player is not None else None

    def remembered(self, token_digest: str) -> Player | None:
        return self.by_token(token_digest)

    def players(self, ids: Sequence[str]) -> Mapping[str, Player]:
        return {known: self._players[known] for known in ids if known in self._players}

    def add_token(self, player: str, token_digest: str) -> None:
        self._tokens[token_digest] = player

    def revoke(self, token_digest: str) -> None:
        self._tokens.pop(token_digest, None)


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
    """`wake` is told the `news_of` each player that is enrolled, with a rising number."""

    def __init__(self, wake: Callable[[str, Version], None] = _unheard) -> None:
        self._wake = wake
        self._mine: dict[tuple[str, Mine], set[str]] = {}
        self._enrolled = 0
        self._concluded: dict[str, dict[str, int]] = {}
        self._shelves: dict[str, Shelf | None] = {}
        self._waiting: set[tuple[str, str]] = set()
        self._private: set[str] = set()
        self._ended: dict[str, int] = {}

    def admit(self, match_id: MatchId, created_at: int, creator: str, limit: int) -> bool:
        waiting = self.open_places(creator)
        if any(place.endswith(f":{match_id}") for place in waiting):
            return True
        if len(waiting) >= limit:
            return False
        self._waiting.add((creator, f"{created_at:013d}:{match_id}"))
        return True

    def add(self, match_id: MatchId, created_at: int, creator: str, *, private: bool) -> None:
        self.enrol(creator, match_id, created_at)
        self.move(match_id, created_at, creator, "open", private=private)

    def enrol(self, player: str, match_id: MatchId, created_at: int) -> None:
        for mine in get_args(Mine):
            self._mine.setdefault((player, mine), set()).add(f"{created_at:013d}:{match_id}")
        self._enrolled += 1
        self._wake(news_of(player), self._enrolled)

    def dismiss(self, player: str, match_id: MatchId, created_at: int) -> None:
        place = f"{created_at:013d}:{match_id}"
        for mine in get_args(Mine):
            self._mine.get((player, mine), set()).discard(place)
        self._concluded.get(player, {}).pop(place, None)

    def conclude(self, player: str, match_id: MatchId, created_at: int, at: int) -> None:
        place = f"{created_at:013d}:{match_id}"
        self._concluded.setdefault(player, {}).setdefault(place, at)
        self._mine.get((player, "active"), set()).discard(place)

    def concluded(self, player: str, since: int, skip: int, limit: int) -> Sequence[str]:
        found = sorted((at, place) for place, at in self._concluded.get(player, {}).items() if at >= since)
        return [place for _, place in found[skip : skip + limit]]

    def move(self, match_id: MatchId, created_at: int, creator: str, shelf: Shelf | None, *, private: bool) -> None:
        place = f"{created_at:013d}:{match_id}"
        self._shelves[place] = shelf
        if shelf == "open":
            self._waiting.add((creator, place))
        else:
            self._waiting.discard((creator, place))
        if private:
            self._private.add(place)

    def end(self, match_id: MatchId, created_at: int, ended_at: int) -> None:
        place = f"{created_at:013d}:{match_id}"
        known = self._ended.get(place)
        if known is None or ended_at - known > ENDING_MS:
            self._ended[place] = max(ended_at, 1 + max(self._ended.values(), default=0))

    def withdraw(self, match_id: MatchId, created_at: int) -> None:
        self._ended.pop(f"{created_at:013d}:{match_id}", None)

    def ended(self, after: int, limit: int) -> Sequence[tuple[int, str]]:
        return sorted((number, place) for place, number in self._ended.items() if number > after)[:limit]

    def page(self, shelf: Shelf, before: str | None, limit: int) -> Sequence[str]:
        return _page(
            (place for place, found in self._shelves.items() if found == shelf and place not in self._private),
            before,
            limit,
        )

    def matches_of(self, player: str, mine: Mine, before: str | None, limit: int) -> Sequence[str]:
        return _page(self._mine.get((player, mine), set()), before, limit)

    def open_places(self, creator: str) -> Sequence[str]:
        return sorted(place for owner, place in self._waiting if owner == creator)


def _page(places: Iterable[str], before: str | None, limit: int) -> Sequence[str]:
    return [place for place in sorted(places, reverse=True) if before is None or place < before][:limit]


class MemoryJobs:
    """Remembers which matches were hinted at, for a test to play on."""

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
    wake: Callable[[str, Version], None] = _unheard,
) -> Ports:
    """Ports that need no server; `wake` is told what happened, as a feed wants it."""
    log = log or MemoryLog(wake)
    secret = bytes(32)
    return Ports(
        log=log,
        history=History(log, games, secret),
        accounts=MemoryAccounts(),
        tickets=MemoryTickets(now),
        index=MemoryIndex(wake),
        jobs=MemoryJobs(),
        games=games,
        now=now,
        lost=lambda _start, _end, _silence: 0,
        secret=secret,
    )
