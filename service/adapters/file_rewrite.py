"""Has the log's server rewrite its append-only file after names were erased.

The file has every command since its last rewrite, so an erased name stays in it. The server rewrites it by itself only
after it has doubled in size.
"""

import logging
from typing import Final

from redis import Redis, RedisCluster
from redis.exceptions import RedisClusterException, RedisError, ResponseError

from events.redis_log import send, servers

REQUESTED: Final = "index:files:requested"
"""The number of requests. Backups leave keys of the index out."""
REWRITTEN: Final = "index:files:rewritten"
"""The value of `REQUESTED` before the last rewrite began."""
RECENT: Final = "index:files:recent"
"""Exists for `INTERVAL_S` after a rewrite began."""
INTERVAL_S: Final = 86_400
"""Least time between two rewrites, since each writes the whole store."""
_REWRITING: Final = "already in progress"
"""Part of the server's message if it rewrites the file already."""

_log = logging.getLogger("moonstone.accounts")


class FileRewrite:
    """Raises LogUnavailable if the server does not answer."""

    def __init__(self, client: Redis | RedisCluster) -> None:
        self._client = client

    def request(self) -> None:
        """Have a rewrite begin after this call, within `INTERVAL_S`."""
        send(self._client, ("INCR", REQUESTED))

    def step(self) -> bool:
        """Begin a rewrite if one is requested and none began recently; returns whether it did. Any process may call it."""
        requested, rewritten = send(self._client, ("GET", REQUESTED), ("GET", REWRITTEN))
        if requested == rewritten:
            return False
        (is_first,) = send(self._client, ("SET", RECENT, 1, "NX", "EX", INTERVAL_S))
        if not is_first:
            return False
        try:
            for server in servers(self._client):
                server.bgrewriteaof()
        except ResponseError as error:
            if _REWRITING in str(error):  # that rewrite may have begun before the request
                send(self._client, ("DEL", RECENT))
            else:
                _log.warning(
                    "the log's server refuses BGREWRITEAOF; its files contain erased names until it rewrites them"
                )
            return False
        except (RedisError, RedisClusterException):
            send(self._client, ("DEL", RECENT))
            return False
        send(self._client, ("SET", REWRITTEN, requested))
        return True
