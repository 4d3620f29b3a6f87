"""Tickets of streams in the queue's server: they last half a minute, and may be lost."""

from redis import Redis, RedisCluster
from redis.exceptions import RedisError

from events.log import LogUnavailable


class RedisTickets:
    """`Tickets`; raises LogUnavailable where the queue's server does not answer."""

    def __init__(self, client: Redis | RedisCluster) -> None:
        self._client = client

    def keep(self, ticket_digest: str, token_digest: str, seconds: int) -> None:
        try:
            self._client.set(_key(ticket_digest), token_digest, ex=seconds)
        except RedisError as error:
            raise LogUnavailable("unavailable") from error

    def redeem(self, ticket_digest: str) -> str | None:
        try:
            found = self._client.getdel(_key(ticket_digest))
        except RedisError as error:
            raise LogUnavailable("unavailable") from error
        return found.decode() if isinstance(found, bytes) else None


def _key(ticket_digest: str) -> str:
    return f"ticket:{ticket_digest}"
