"""Webhooks and deliveries in the memory of this process, for local play and for tests of the use cases."""

from collections.abc import Callable, Mapping, Sequence
from threading import RLock

from events.memory_log import MemoryLog
from events.record import MatchId
from service.repository.ports import news_of
from service.repository.webhooks import KEEP_MS, MAX_DELIVERIES, AddedWebhook, Delivery, Webhook


class MemoryWebhooks:
    """`log` has the due entries."""

    def __init__(self, log: MemoryLog) -> None:
        self._log = log
        self._lock = RLock()
        self._removed: set[tuple[str, str]] = set()
        self._webhooks: dict[str, dict[str, Webhook]] = {}
        self._deliveries: dict[str, dict[tuple[str, str], Delivery]] = {}
        self._due: dict[str, dict[tuple[str, str], int]] = {}
        self._positions: dict[tuple[str, str], int] = {}

    def of(self, players: Sequence[str]) -> Mapping[str, Sequence[Webhook]]:
        with self._lock:
            found = {player: list(self._webhooks.get(player, {}).values()) for player in players}
            return {
                player: sorted(webhooks, key=lambda one: (one.created_at, one.id))
                for player, webhooks in found.items()
                if webhooks
            }

    def add(self, webhook: Webhook, limit: int) -> AddedWebhook:
        with self._lock:
            known = self._webhooks.setdefault(webhook.player, {})
            if webhook.id in known:
                return "known"
            if (webhook.player, webhook.id) in self._removed:
                return "removed"
            if len(known) >= limit:
                return "full"
            known[webhook.id] = webhook
            self.watch_player(webhook.player, webhook.created_at)
            return "added"

    def change(
        self, player: str, webhook: str, changed: Callable[[Webhook], Webhook], at: int | None = None
    ) -> Webhook | None:
        with self._lock:
            known = self._webhooks.get(player, {})
            if webhook not in known:
                return None
            known[webhook] = changed(known[webhook])
            if at is not None:
                self.watch_player(player, at)
            return known[webhook]

    def remove(self, player: str, webhook: str) -> bool:
        with self._lock:
            removed = self._webhooks.get(player, {}).pop(webhook, None)
            if removed is not None:
                self._removed.add((player, webhook))
            for name in [name for name in self._deliveries.get(player, {}) if name[0] == webhook]:
                self._forget(player, name)
            if not self._webhooks.get(player):
                self._positions = {key: at for key, at in self._positions.items() if key[0] != player}
            self._set_due(player)
            return removed is not None

    def erase(self, player: str) -> None:
        with self._lock:
            for webhook in [*self._webhooks.get(player, {})]:
                self.remove(player, webhook)
            self.watch_player(player, None)

    def watch(self, matches: Sequence[MatchId], at: int) -> None:
        with self._lock:
            waiting = {due.match for due in self._log.scheduled("news")}
            for match in matches:
                if match not in waiting:
                    self._log.set_due(match, {"news": at})

    def postpone(self, match: MatchId, at: int) -> None:
        with self._lock:
            if match in {due.match for due in self._log.scheduled("news")}:
                self._log.set_due(match, {"news": at})

    def watch_player(self, player: str, at: int | None, claimed: int | None = None) -> None:
        with self._lock:
            due = {entry.match: entry.at for entry in self._log.scheduled("news")}
            if claimed is None or due.get(news_of(player)) == claimed:
                self._log.set_due(news_of(player), {"news": at})

    def position(self, player: str, source: str) -> int:
        with self._lock:
            return self._positions.get((player, source), 0)

    def record(
        self, player: str, source: str, position: int, new: Sequence[Delivery], at: int, *, is_last: bool = False
    ) -> None:
        with self._lock:
            webhooks = self._webhooks.get(player)
            if not webhooks:
                return
            kept = self._deliveries.setdefault(player, {})
            for one in new:
                name = one.webhook, one.notice
                if one.webhook in webhooks and name not in kept:
                    self._store(player, one)
            if is_last:
                self._positions.pop((player, source), None)
            else:
                self._positions[player, source] = max(position, self.position(player, source))
            ordered = sorted(kept.items(), key=lambda item: item[1].created_at)
            for number, (name, one) in enumerate(ordered, MAX_DELIVERIES - len(ordered)):
                if number < 0 or one.created_at <= at - KEEP_MS:
                    self._forget(player, name)
            self._set_due(player)

    def take(self, player: str, now: int, lease: int, limit: int) -> Sequence[Delivery]:
        with self._lock:
            due = sorted((at, name) for name, at in self._due.get(player, {}).items() if at <= now)[:limit]
            self._due.get(player, {}).update({name: now + lease for _, name in due})
            self._set_due(player)
            return [self._deliveries[player][name] for _, name in due]

    def hold(self, player: str, at: int, taken: Sequence[Delivery] = ()) -> None:
        with self._lock:
            pending = self._due.get(player, {})
            pending.update({name: at for one in taken if (name := (one.webhook, one.notice)) in pending})
            if pending:
                self._log.set_due(news_of(player), {"delivery": at})

    def settle(self, player: str, before: Delivery, after: Delivery) -> bool:
        with self._lock:
            known = self._deliveries.get(player, {}).get((after.webhook, after.notice))
            is_same = known is not None and (known.since, known.attempts) == (before.since, before.attempts)
            if is_same:
                self._store(player, after)
            self._set_due(player)
            return is_same

    def _store(self, player: str, delivery: Delivery) -> None:
        name = delivery.webhook, delivery.notice
        self._deliveries[player][name] = delivery
        pending = self._due.setdefault(player, {})
        pending.pop(name, None)
        if delivery.next_at is not None:
            pending[name] = delivery.next_at

    def deliveries(self, player: str) -> Sequence[Delivery]:
        with self._lock:
            found = self._deliveries.get(player, {}).values()
            return sorted(found, key=lambda one: (one.created_at, one.notice), reverse=True)

    def subscribers(self) -> Sequence[str]:
        with self._lock:
            return [player for player, webhooks in self._webhooks.items() if webhooks]

    def _forget(self, player: str, name: tuple[str, str]) -> None:
        del self._deliveries[player][name]
        self._due.get(player, {}).pop(name, None)

    def _set_due(self, player: str) -> None:
        self._log.set_due(news_of(player), {"delivery": min(self._due.get(player, {}).values(), default=None)})
