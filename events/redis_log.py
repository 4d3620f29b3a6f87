"""The log in Valkey or Redis: an append is one Function call, a read is one round trip."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from itertools import chain
from typing import Any

import redis.exceptions as errors
from redis import Redis, RedisCluster
from redis.backoff import ExponentialWithJitterBackoff
from redis.retry import Retry

from events.due import Due, DueTimes
from events.log import Append, Appended, Conflict, LogUnavailable, Reused, Seen, Tail, Unavailability, check
from events.record import Head, MatchId, Version, digest
from events.redis_keys import due_key, due_keys, key, keys_of, partition_of
from events.redis_pool import Command, Pool, ReadBatcher, exchange
from events.redis_replies import Scored, dues, seen, tail

DURABLE = {"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction"}
WAKE_CHANNEL = "wake:"
"""The prefix of a match's channel, before its id. Each append publishes the new version there."""

_LIBRARY = files("events").joinpath("functions.lua").read_text("utf-8")
_FUNCTION_MISSING = "Function not found"
_APPEND, _RECALL, _CLAIM, _REARM = (f"moonstone_3_{name}" for name in ("append", "recall", "claim", "rearm"))

_NO_ANSWER = (errors.ConnectionError, errors.TimeoutError, errors.ClusterDownError, errors.RedisClusterException)
_REASONS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str, Unavailability], ...] = (
    (errors.BusyLoadingError, "", "loading"),
    (errors.ReadOnlyError, "", "read-only"),
    (errors.OutOfMemoryError, "", "full"),
    (errors.ResponseError, "MISCONF ", "disk"),
    (errors.ResponseError, "NOREPLICAS ", "replicas"),
    (errors.ResponseError, "BUSY ", "unavailable"),
    (errors.ResponseError, _FUNCTION_MISSING, "unavailable"),  # missing again, right after they were loaded
    (_NO_ANSWER, "", "unavailable"),
)
"""By class and by the start of the message, because redis-py has no class for some error codes."""

_REDIS_ERRORS = (errors.RedisError, errors.RedisClusterException)
# A dead server is reported within one second and a hung one within three; on a cluster each command is tried twice.
_SETTINGS: dict[str, Any] = {
    "protocol": 2,
    "decode_responses": False,
    "socket_timeout": 3,
    "socket_connect_timeout": 1,
    "health_check_interval": 15,
}
_POOL_TIMEOUT_S = 1.5


def _retry() -> Retry:
    """Retries after a broken connection, not after a time-out: there the caller gets an error and may repeat the call."""
    return Retry(ExponentialWithJitterBackoff(base=0.02, cap=0.5), 3, supported_errors=(errors.ConnectionError,))


def connect(url: str, *, connections: int = 64) -> Redis:
    """A client for the log on one server. Create it after a fork.

    At most `connections` are open at once; a caller waits `_POOL_TIMEOUT_S` for a free one. A command may be sent twice if
    its answer was lost, so use the client only for commands that are safe to repeat.
    """
    pool = Pool.from_url(url, max_connections=connections, timeout=_POOL_TIMEOUT_S, retry=_retry(), **_SETTINGS)
    return Redis.from_pool(pool)


def connect_cluster(url: str, *, connections: int = 64) -> RedisCluster:
    """A client for the log on a cluster. `url` names one server; the call asks that server for the others.

    Raises:
        LogUnavailable: no server answers, or not all slots are served.
    """
    try:
        return RedisCluster.from_url(url, max_connections=connections, retry=_retry(), **_SETTINGS)
    except _REDIS_ERRORS as error:
        raise _translated(error) from error


def send(client: Redis | RedisCluster, *commands: Command) -> list[Any]:
    """Send commands in one round trip, again if the connection broke, and return their replies.

    Raises:
        LogUnavailable: the server does not answer, or cannot carry out one of the commands now.
    """
    return _checked(_exchange(client, commands))


def check_durability(client: Redis | RedisCluster) -> tuple[str, ...]:
    """The server settings with which this log could lose acknowledged appends; empty if there are none.

    Raises:
        LogUnavailable: a server does not answer.
    """
    faults = []
    try:
        for server in servers(client):
            has = {name: server.config_get(name)[name] for name in DURABLE}
            faults += [f"{name} is {has[name]}, not {value}" for name, value in DURABLE.items() if has[name] != value]
    except _REDIS_ERRORS as error:
        raise _translated(error) from error
    return tuple(faults)


def servers(client: Redis | RedisCluster) -> Iterable[Redis]:
    """A client for each server of the log; replicas are left out."""
    if isinstance(client, RedisCluster):
        primaries = client.get_primaries()  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
        return [client.get_redis_connection(node) for node in primaries]
    return [client]


class RedisLog:
    """Implements `Log` on Valkey or Redis, 7.0 or newer, on one server or a cluster; safe to share between threads.

    A cluster spreads the load. It does not make the log safer: a failover may lose acknowledged appends.
    """

    def __init__(self, client: Redis | RedisCluster, batcher: ReadBatcher | None = None) -> None:
        self._client = client
        self._batcher = batcher  # only for reads of the newest events

    def load(self) -> None:
        """Load this release's Functions into the server, at start. If the server loses them, the next call loads them."""
        try:
            self._client.function_load(_LIBRARY, replace=True)
        except _REDIS_ERRORS as error:
            raise _translated(error) from error

    def append(self, append: Append) -> Appended | Conflict | Reused:
        check(append)
        match, expected = append.match, append.expected
        keys = (*keys_of(match), *_due_keys(match, (*append.due, *append.due_if_any)))
        command = (match, append.command, append.digest, expected.version, expected.hash)
        if_any = [f"={at}" for at in append.due_if_any.values()]
        extras = (append.seed or b"", append.snapshot or b"", *_times(append.due), *if_any)
        events = [part for stored in append.events for part in (stored, digest(stored))]
        (reply,) = self._send(("FCALL", _APPEND, len(keys), *keys, *command, *extras, *events))
        match reply:
            case [b"APPENDED", version]:
                return Appended(version, replayed=False)
            case [b"SEEN", version]:
                return Appended(version, replayed=True)
            case [b"REUSED", version]:
                return Reused(version)
            case [_, version, found]:
                return Conflict(Head(version, found.decode()))
        return Conflict(None)

    def read(
        self, match: MatchId, *, first: Version | None = 1, last: Version | None = None, command: str | None = None
    ) -> Tail:
        lookup = () if command is None else (("HGET", key(match, "commands"), command),)
        is_short = last is None and (first or 1) > 1  # a caller that starts later has the earlier events already
        batcher = self._batcher if is_short else None
        events, *known = self._send(_events_command(match, first, last), *lookup, batcher=batcher)
        return tail(events, first, seen(known[0]) if known and known[0] is not None else None)

    def read_each(self, firsts: Mapping[MatchId, Version | None]) -> Mapping[MatchId, Tail]:
        replies = self._send(*(_events_command(match, first, None) for match, first in firsts.items()))
        return {match: tail(reply, firsts[match], None) for match, reply in zip(firsts, replies, strict=True)}

    def commands(self, match: MatchId, prefix: str) -> Mapping[str, Seen]:
        stored: Mapping[bytes, bytes]
        (stored,) = self._send(("HGETALL", key(match, "commands")))
        known = {command.decode(): value for command, value in stored.items()}
        return {command: seen(value) for command, value in known.items() if command.startswith(prefix)}

    def save_snapshots(self, match: MatchId, after: Version, snapshots: Mapping[Version, bytes]) -> None:
        name = key(match, "snapshot")
        scored = [part for version, snapshot in snapshots.items() for part in (version, snapshot)]
        # Errors in the replies are ignored: a server without memory for snapshots does not save them.
        _exchange(self._client, (("ZREMRANGEBYSCORE", name, f"({after}", max(snapshots)), ("ZADD", name, *scored)))

    def seed(self, match: MatchId) -> bytes | None:
        seed: bytes | None
        (seed,) = self._send(("GET", key(match, "seed")))
        return seed

    def claim(self, kind: str, now: int, lease: int, limit: int) -> Sequence[Due]:
        # The first read applies the limit over all partitions; the second round trip happens only when there is work.
        shares = Counter(partition_of(due.match) for due in self._until(kind, now, limit))
        claims = [
            ("FCALL", _CLAIM, 1, due_key(partition, kind), now, now + lease, share)
            for partition, share in shares.items()
        ]
        return dues(kind, self._send(*claims))

    def overdue(self, kind: str, now: int, limit: int) -> Sequence[Due]:
        return self._until(kind, now, limit)

    def scheduled(self, kind: str) -> Sequence[Due]:
        return dues(kind, self._send(*(("ZRANGE", key, 0, -1, "WITHSCORES") for key in due_keys(kind))))

    def next_due(self, kinds: Iterable[str]) -> int | None:
        keys = chain.from_iterable(map(due_keys, kinds))
        firsts: Sequence[Scored] = self._send(*(("ZRANGE", key, 0, 0, "WITHSCORES") for key in keys))
        return min((int(score) for _, score in filter(None, firsts)), default=None)

    def count_due(self, kind: str, until: int) -> int:
        return sum(self._send(*(("ZCOUNT", key, "-inf", until) for key in due_keys(kind))))

    def rearm(self, match: MatchId, version: Version, due: DueTimes) -> bool:
        keys = (key(match, "events"), *_due_keys(match, due))
        (done,) = self._send(("FCALL", _REARM, len(keys), *keys, match, version, *_times(due)))
        return bool(done)

    def _until(self, kind: str, now: int, limit: int) -> tuple[Due, ...]:
        replies = self._send(
            *(("ZRANGEBYSCORE", key, "-inf", now, "WITHSCORES", "LIMIT", 0, limit) for key in due_keys(kind))
        )
        return dues(kind, replies)[:limit]

    def _send(self, *commands: Command, batcher: ReadBatcher | None = None) -> list[Any]:
        """Send commands in one round trip and return their replies; two more trips if the server lost the Functions."""
        replies = _exchange(batcher or self._client, commands)
        if unsent := [index for index, reply in enumerate(replies) if _is_function_missing(reply)]:
            self.load()
            for index, reply in zip(unsent, send(self._client, *(commands[index] for index in unsent)), strict=True):
                replies[index] = reply
        return _checked(replies)


def _exchange(sender: Redis | RedisCluster | ReadBatcher, commands: Sequence[Command]) -> list[Any]:
    """Send commands and return their replies; the reply of a rejected command is its exception."""
    try:
        return sender.exchange(commands) if isinstance(sender, ReadBatcher) else exchange(sender, commands)
    except _REDIS_ERRORS as error:
        raise _translated(error) from error


def _checked(replies: list[Any]) -> list[Any]:
    """The replies themselves; raises the first exception among them."""
    for error in (reply for reply in replies if isinstance(reply, Exception)):
        raise _translated(error) from error
    return replies


def _translated(error: Exception) -> Exception:
    """`LogUnavailable` with its reason; the error itself if it is a fault of this module."""
    for kind, start, reason in _REASONS:
        if isinstance(error, kind) and str(error).startswith(start):
            return LogUnavailable(reason)
    return error


def _is_function_missing(reply: object) -> bool:
    return isinstance(reply, errors.ResponseError) and str(reply).startswith(_FUNCTION_MISSING)


def _due_keys(match: MatchId, due: Iterable[str]) -> list[str]:
    """The due set of the match's partition for each kind in `due`."""
    partition = partition_of(match)
    return [due_key(partition, kind) for kind in due]


def _times(due: DueTimes) -> list[int | str]:
    """The due time of each kind, in the order of `due`; an empty string if nothing is due."""
    return ["" if at is None else at for at in due.values()]


def _events_command(match: MatchId, first: Version | None, last: Version | None) -> Command:
    """The command that reads a range of events; with `first` None also a snapshot."""
    if first is None:
        keys = (key(match, "events"), key(match, "snapshot"))
        return ("FCALL_RO", _RECALL, len(keys), *keys, "" if last is None else last)
    return ("XRANGE", key(match, "events"), f"{first}-0", "+" if last is None else f"{last}-0")
