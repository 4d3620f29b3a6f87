"""News of players on the log's server: for each player a sorted set of items by the time when they were posted.

Backups leave them out, as they do the index.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from redis import Redis, RedisCluster

from events.redis_keys import due_key, partition_of
from events.redis_log import WAKE_CHANNEL, send
from service.repository.news import KEEP_MS, MAX_ITEMS, Item, Posted
from service.repository.ports import news_of

_encode: Final = msgspec.json.Encoder().encode
_item: Final = msgspec.json.Decoder(Item).decode


class RedisNews:
    """`News`; raises LogUnavailable if the server does not answer."""

    def __init__(self, client: Redis | RedisCluster) -> None:
        self._client = client

    def post(self, player: str, item: Item, at: int) -> None:
        key = _key(player)
        send(
            self._client,
            ("ZADD", key, "NX", at, _encode(item)),
            ("ZREMRANGEBYSCORE", key, "-inf", at - KEEP_MS),
            ("ZREMRANGEBYRANK", key, 0, -MAX_ITEMS - 1),
            ("PEXPIRE", key, KEEP_MS),
            ("PUBLISH", WAKE_CHANNEL + news_of(player), at),
            (
                "ZADD",
                due_key(partition_of(news_of(player)), "news"),
                "XX",
                at,
                news_of(player),
            ),  # if there are webhooks
        )

    def since(self, player: str, at: int) -> Sequence[Posted]:
        found: list[bytes]
        (found,) = send(self._client, ("ZRANGEBYSCORE", _key(player), at, "+inf", "WITHSCORES"))
        return [Posted(int(time), _item(stored)) for stored, time in zip(found[::2], found[1::2], strict=True)]


def _key(player: str) -> str:
    return f"index:news:{player}"
