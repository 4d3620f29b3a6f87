"""Seeks in the memory of this process, for local play and for tests of the use cases."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from events.record import MatchId, Version
from service.repository.ports import news_of
from service.repository.seeks import Pairing, Seek, Waiting


def _ignore(_key: str, _number: Version) -> None:
    pass


class MemorySeeks:
    """`now` is server time in milliseconds.

    `wake` is called with `news_of(player)` and an increasing number whenever a seek is added.
    """

    def __init__(self, now: Callable[[], int], wake: Callable[[str, Version], None] = _ignore) -> None:
        self._now = now
        self._wake = wake
        self._added = 0
        self._waiting: dict[str, Seek] = {}
        self._seen: dict[str, int] = {}
        self._pairings: dict[MatchId, Pairing] = {}
        self._done: dict[str, Seek] = {}

    def add(self, seek: Seek, limit: int) -> Seek | None:
        known = self._done.get(seek.id) or self._waiting.get(seek.player)
        if known is not None or len(self._waiting) >= limit:
            return known
        self._seen.pop(seek.player, None)
        self._waiting[seek.player] = seek
        self._added += 1
        self._wake(news_of(seek.player), self._added)
        return seek

    def of(self, player: str) -> Seek | None:
        return self._waiting.get(player)

    def done(self, seek_id: str) -> Seek | None:
        return self._done.get(seek_id)

    def remove(self, seek: Seek) -> bool:
        if self._waiting.get(seek.player) != seek:
            return False
        del self._waiting[seek.player]
        return True

    def see(self, player: str) -> None:
        if player in self._waiting:
            self._seen[player] = self._now()

    def waiting(self) -> Sequence[Waiting]:
        return [Waiting(seek, self._seen.get(player, 0)) for player, seek in self._waiting.items()]

    def pair(self, pairing: Pairing) -> bool:
        if any(self._waiting.get(seek.player) != seek for seek in pairing.seeks):
            return False
        self._pairings[pairing.match] = pairing
        for seek in pairing.seeks:
            del self._waiting[seek.player]
            self._done[seek.id] = replace(seek, match=pairing.match)
        return True

    def pairings(self) -> Sequence[Pairing]:
        return list(self._pairings.values())

    def finish(self, pairing: Pairing, again: Sequence[Seek], ended: Sequence[Seek]) -> None:
        if self._pairings.pop(pairing.match, None) is None:
            return
        for seek in (*again, *ended):
            del self._done[seek.id]
        for seek in again:
            self._waiting.setdefault(seek.player, seek)
