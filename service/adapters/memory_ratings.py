"""`Ratings` in the memory of this process, for local play and for tests."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from events.record import Head, Version
from service.repository.ratings import (
    Board,
    Folded,
    Known,
    Leader,
    Leaders,
    Pair,
    PastMatch,
    Standing,
    Standings,
)


@dataclass(slots=True)
class _Game:
    head: Head | None = None
    standings: dict[str, Standing] = field(default_factory=dict)
    met: dict[Pair, int] = field(default_factory=dict)
    past: list[tuple[str, PastMatch]] = field(default_factory=list)


class MemoryRatings:
    def __init__(self) -> None:
        self._games: defaultdict[str, _Game] = defaultdict(_Game)
        self._adopted = 0

    def known(self, game: str, players: Sequence[str], pairs: Sequence[Pair]) -> Known:
        kept = self._games[game]
        met = {pair: kept.met[pair] for pair in pairs if pair in kept.met}
        return Known(kept.head, self.standings(game, players), met)

    def fold(self, game: str, folded: Folded) -> bool:
        kept = self._games[game]
        if kept.head != folded.before.head:
            return False
        kept.head = folded.head
        kept.standings.update(folded.standings)
        kept.met.update(folded.met)
        kept.past += folded.past.items()
        return True

    def clear(self, game: str) -> None:
        self._games.pop(game, None)

    def standings(self, game: str, players: Sequence[str]) -> Standings:
        kept = self._games[game].standings
        return {player: kept[player] for player in players if player in kept}

    def rank(self, game: str, standing: Standing) -> int:
        return 1 + sum(order > standing.rating.order for order, _ in self._board(game, "all"))

    def leaders(self, game: str, board: Board, after: str | None, limit: int) -> Leaders:
        places = self._board(game, board)
        part = [place for place in places if after is None or place < _place(after)][:limit]
        better = sum(order > part[0][0] for order, _ in places) if part else 0
        standings = self._games[game].standings
        last = f"{part[-1][0]}:{part[-1][1]}" if len(part) == limit else None
        ahead = places.index(part[0]) if part else 0
        return Leaders(ahead, better, tuple(Leader(player, standings[player]) for _, player in part), last)

    def past(self, game: str, player: str, before: Version | None, limit: int) -> Sequence[PastMatch]:
        found = [one for owner, one in reversed(self._games[game].past) if owner == player]
        return [one for one in found if before is None or one.version < before][:limit]

    def everyone(self, game: str) -> Iterator[tuple[str, Standing]]:
        yield from self._games[game].standings.items()

    def pairs(self, game: str) -> Iterator[tuple[Pair, int]]:
        yield from self._games[game].met.items()

    def adopted(self) -> int:
        return self._adopted

    def set_adopted(self, number: int) -> None:
        self._adopted = number

    def _board(self, game: str, board: Board) -> list[tuple[int, str]]:
        """The places of a leaderboard, best first."""
        placed = (
            (one.rating.order, player)
            for player, one in self._games[game].standings.items()
            if one.is_placed and board in {"all", one.kind}
        )
        return sorted(placed, reverse=True)


def _place(last: str) -> tuple[int, str]:
    order, _, player = last.partition(":")
    return int(order), player
