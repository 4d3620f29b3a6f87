"""Webhooks and deliveries on the log's server; `webhook_scripts` names the keys.

The keys of a player have the hash tag of the partition of `news_of(player)`, which is the player's member in due sets. So these
change in the same script.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
from redis import Redis, RedisCluster

from events.record import MatchId
from events.redis_keys import due_key, partition_of
from events.redis_log import send
from service.adapters import webhook_scripts as scripts
from service.repository.ports import news_of
from service.repository.webhooks import KEEP_MS, MAX_DELIVERIES, AddedWebhook, Delivery, Webhook

PREFIX: Final = "webhooks:"
_PARTS: Final = ("list", "deliveries", "made", "pending")
_POSITIONS: Final = "index:webhooks:"
"""Not part of a backup: it has each match as it was when it was read, and the position may be from later."""

_encode: Final = msgspec.json.Encoder().encode
_webhook: Final = msgspec.json.Decoder(Webhook).decode
_delivery: Final = msgspec.json.Decoder(Delivery).decode


class RedisWebhooks:
    """`Webhooks`; raises LogUnavailable if the server does not answer."""

    def __init__(self, client: Redis | RedisCluster) -> None:
        self._client = client

    def of(self, players: Sequence[str]) -> Mapping[str, Sequence[Webhook]]:
        if not players:
            return {}
        stored: list[list[bytes]] = send(self._client, *(("HVALS", _keys(player)[0]) for player in players))
        return {
            player: sorted(map(_webhook, found), key=lambda one: (one.created_at, one.id))
            for player, found in zip(players, stored, strict=True)
            if found
        }

    def add(self, webhook: Webhook, limit: int) -> AddedWebhook:
        answers: Mapping[bytes, AddedWebhook] = {
            b"added": "added",
            b"known": "known",
            b"removed": "removed",
            b"full": "full",
        }
        return answers[self._run(scripts.ADD, webhook.player, webhook.id, _encode(webhook), limit, webhook.created_at)]

    def change(
        self, player: str, webhook: str, changed: Callable[[Webhook], Webhook], at: int | None = None
    ) -> Webhook | None:
        due = "" if at is None else at
        while True:
            before: bytes | None
            (before,) = send(self._client, ("HGET", _keys(player)[0], webhook))
            if before is None:
                return None
            after = changed(_webhook(before))
            # `before` as it is stored: a record of another release may be encoded in another way.
            if self._run(scripts.REPLACE, player, webhook, before, _encode(after), due):
                return after

    def remove(self, player: str, webhook: str) -> bool:
        return bool(self._run(scripts.REMOVE, player, webhook))

    def erase(self, player: str) -> None:
        self._run(scripts.ERASE, player)

    def watch(self, matches: Sequence[MatchId], at: int) -> None:
        if matches:
            send(self._client, *(("ZADD", due_key(partition_of(match), "news"), "NX", at, match) for match in matches))

    def postpone(self, match: MatchId, at: int) -> None:
        send(self._client, ("ZADD", due_key(partition_of(match), "news"), "XX", at, match))

    def watch_player(self, player: str, at: int | None, claimed: int | None = None) -> None:
        self._run(scripts.SET_NEWS, player, "" if at is None else at, "" if claimed is None else claimed)

    def position(self, player: str, source: str) -> int:
        (found,) = send(self._client, ("HGET", _keys(player)[4], source))
        return int(found or 0)

    def record(
        self, player: str, source: str, position: int, new: Sequence[Delivery], at: int, *, is_last: bool = False
    ) -> None:
        added = (
            part
            for one in new
            for part in (one.webhook, _name(one), _encode(one), one.created_at, one.next_at or one.created_at)
        )
        self._run(scripts.RECORD, player, source, position, int(is_last), at - KEEP_MS, MAX_DELIVERIES, *added)

    def take(self, player: str, now: int, lease: int, limit: int) -> Sequence[Delivery]:
        taken: list[bytes] = self._run(scripts.TAKE, player, now, now + lease, limit)
        return tuple(map(_delivery, taken))

    def hold(self, player: str, at: int, taken: Sequence[Delivery] = ()) -> None:
        self._run(scripts.HOLD, player, at, *map(_name, taken))

    def settle(self, player: str, before: Delivery, after: Delivery) -> bool:
        next_at = "" if after.next_at is None else after.next_at
        known = before.since, before.attempts
        return bool(self._run(scripts.SETTLE, player, _name(after), _encode(after), next_at, *known))

    def deliveries(self, player: str) -> Sequence[Delivery]:
        stored: list[bytes]
        (stored,) = send(self._client, ("HVALS", _keys(player)[1]))
        return sorted(map(_delivery, stored), key=lambda one: (one.created_at, one.notice), reverse=True)

    def subscribers(self) -> Sequence[str]:
        found = self._client.scan_iter(match=f"{PREFIX}*:list", count=1000)
        return [key.decode().split(":")[2] for key in found]

    def _run(self, script: str, player: str, *args: str | bytes | int) -> Any:
        member = news_of(player)
        dues = (due_key(partition_of(member), kind) for kind in ("delivery", "news"))
        keys = (*_keys(player), *dues, _removed_key(player))
        (answer,) = send(self._client, ("EVAL", script, len(keys), *keys, member, *args))
        return answer


def _keys(player: str) -> tuple[str, ...]:
    """The keys of a player, in the order of `webhook_scripts`."""
    tag = _tag(player)
    return (*(f"{PREFIX}{tag}:{part}" for part in _PARTS), f"{_POSITIONS}{tag}")


def _removed_key(player: str) -> str:
    return f"{PREFIX}{_tag(player)}:removed"


def _tag(player: str) -> str:
    return f"{{p{partition_of(news_of(player))}}}:{player}"


def _name(delivery: Delivery) -> str:
    return f"{delivery.webhook}/{delivery.notice}"
