"""Hosted bots in the memory of this process, for local play and for tests of the use cases."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from events.record import MatchId
from service.repository.bots import Admitted, Bot


class MemoryBots:
    """`Bots`."""

    def __init__(self) -> None:
        self._bots: dict[str, Bot] = {}
        self._matches: dict[str, dict[MatchId, int]] = {}

    def add(self, bot: Bot, limit: int) -> bool:
        if bot.id not in self._bots and len(self.of(bot.owner)) >= limit:
            return False
        self._bots[bot.id] = bot
        return True

    def change(self, bot: str, changed: Callable[[Bot], Bot]) -> Bot | None:
        while (before := self._bots.get(bot)) is not None:
            after = changed(before)
            if self._bots.get(bot) is before:
                self._bots[bot] = after
                return after
        return None

    def remove(self, bot: str, owner: str) -> None:
        del owner
        self._bots.pop(bot, None)
        self._matches.pop(bot, None)

    def find(self, ids: Sequence[str]) -> Mapping[str, Bot]:
        return {known: self._bots[known] for known in ids if known in self._bots}

    def of(self, owner: str) -> Sequence[str]:
        own = [bot for bot in self._bots.values() if bot.owner == owner]
        return [bot.id for bot in sorted(own, key=lambda bot: (bot.created_at, bot.id))]

    def owners(self) -> Iterator[str]:
        return iter({bot.owner for bot in self._bots.values()})

    def public(self, after: str, limit: int) -> Sequence[str]:
        return sorted(bot.id for bot in self._bots.values() if bot.public and bot.id > after)[:limit]

    def admit(self, bot: str, match_id: MatchId, at: int, limit: int) -> Admitted:
        known = self._matches.setdefault(bot, {})
        if match_id in known:
            return "known"
        if len(known) >= limit:
            return "full"
        known[match_id] = at
        return "new"

    def seat(self, bot: str, match_id: MatchId, at: int) -> None:
        self._matches.setdefault(bot, {})[match_id] = at

    def release(self, bot: str, match_id: MatchId, at: int) -> None:
        if self.admitted(bot).get(match_id) == at:
            del self._matches[bot][match_id]

    def admitted(self, bot: str) -> Mapping[MatchId, int]:
        return dict(self._matches.get(bot, {}))
