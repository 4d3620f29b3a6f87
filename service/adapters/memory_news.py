"""News of players in the memory of this process, for local play and for tests of the use cases."""

from collections.abc import Callable, Sequence

from events.record import Version
from service.repository.news import KEEP_MS, MAX_ITEMS, Item, Posted
from service.repository.ports import news_of


class MemoryNews:
    """`wake` is called with `news_of(player)` and an increasing number for each item."""

    def __init__(self, wake: Callable[[str, Version], None]) -> None:
        self._wake = wake
        self._posted = 0
        self._items: dict[str, dict[Item, int]] = {}

    def post(self, player: str, item: Item, at: int) -> None:
        known = {old: time for old, time in self._items.get(player, {}).items() if time > at - KEEP_MS}
        items = sorted(({item: at} | known).items(), key=lambda one: one[1])
        self._items[player] = dict(items[-MAX_ITEMS:])
        self._posted += 1
        self._wake(news_of(player), self._posted)

    def since(self, player: str, at: int) -> Sequence[Posted]:
        found = (Posted(time, item) for item, time in self._items.get(player, {}).items() if time >= at)
        return sorted(found, key=lambda one: one.at)
