"""Tickets of streams in the queue's server: they last half a minute, and may be lost.

The queue holds nothing that anyone must believe: each record is sealed with the store's secret, which only the log's server
has, so that who can write to the queue makes no ticket of their own.
"""

import hmac
from collections.abc import Callable

from redis import Redis, RedisCluster
from redis.exceptions import RedisError

from events.log import LogUnavailable


class RedisTickets:
    """`Tickets`; raises LogUnavailable where the queue's server does not answer."""

    def __init__(self, client: Redis | RedisCluster, secret: bytes) -> None:
        self._client = client
        self._secret = secret

    def keep(self, ticket_digest: str, token_digest: str, seconds: int) -> None:
        try:
            self._client.set(_key(ticket_digest), self._sealed(ticket_digest, token_digest), ex=seconds)
        except RedisError as error:
            raise LogUnavailable("unavailable") from error

    def find(self, ticket_digest: str) -> str | None:
        return self._read(self._client.get, ticket_digest)

    def redeem(self, ticket_digest: str) -> str | None:
        return self._read(self._client.getdel, ticket_digest)

    def _read(self, command: Callable[[str], object], ticket_digest: str) -> str | None:
        try:
            found = command(_key(ticket_digest))
        except RedisError as error:
            raise LogUnavailable("unavailable") from error
        if not isinstance(found, bytes):
            return None
        token_digest = found.partition(b":")[0].decode("ascii", "replace")
        return token_digest if hmac.compare_digest(found, self._sealed(ticket_digest, token_digest)) else None

    def _sealed(self, ticket_digest: str, token_digest: str) -> bytes:
        """The digest of a token, and that it belongs to this ticket."""
        about = f"ticket:{ticket_digest}:{token_digest}".encode()
        return f"{token_digest}:{hmac.digest(self._secret, about, 'sha256').hex()}".encode()


def _key(ticket_digest: str) -> str:
    return f"ticket:{ticket_digest}"
