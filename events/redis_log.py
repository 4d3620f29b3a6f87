"""The log in Valkey or Redis: one Function call for an append, one round trip for a read."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import chain
from typing import Any, TypeAlias

import redis.exceptions as errors
from redis import Redis, RedisCluster
from redis.backoff import ExponentialWithJitterBackoff
from redis.retry import Retry

from events.due import Due, Owed
from events.log import Append, Appended, Conflict, LogUnavailable, Reused, Seen, Tail, Unavailability, check
from events.record import Head, MatchId, Version, digest
from events.redis_keys import due_key, due_keys, key, partition_of
from events.redis_pool import Command, Ferry, Pool, exchange

DURABLE = {"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction"}
WAKE_CHANNEL = "wake:"
"""Before a match's id: where each append to it tells its version."""

_LIBRARY = files("events").joinpath("functions.lua").read_text("utf-8")
_LOST = "Function not found"
_APPEND, _RECALL, _CLAIM, _REARM = (f"moonstone_2_{name}" for name in ("append", "recall", "claim", "rearm"))

# redis-py's commands are typed for its synchronous and asynchronous clients at once, so replies are named here.
_Scored: TypeAlias = Sequence[bytes]

_SILENT = (errors.ConnectionError, errors.TimeoutError, errors.ClusterDownError, errors.RedisClusterException)
_REASONS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str, Unavailability], ...] = (
    (errors.BusyLoadingError, "", "loading"),
    (errors.ReadOnlyError, "", "read-only"),
    (errors.OutOfMemoryError, "", "full"),
    (errors.ResponseError, "MISCONF ", "disk"),
    (errors.ResponseError, "NOREPLICAS ", "replicas"),
    (errors.ResponseError, "BUSY ", "unavailable"),
    (errors.ResponseError, _LOST, "unavailable"),  # again, right after they were brought
    (_SILENT, "", "unavailable"),
)
"""By class and by the start of the text, for redis-py knows no class for some codes."""

_RAISED = (errors.RedisError, errors.RedisClusterException)
# A dead server is told within a second, a hung one within three; on a cluster all is asked twice.
_SETTINGS: dict[str, Any] = {
    "protocol": 2,
    "decode_responses": False,
    "socket_timeout": 3,
    "socket_connect_timeout": 1,
    "health_check_interval": 15,
}
_WAIT_FOR_CONNECTION = 1.5


def _retry() -> Retry:
    """For connections that end. A server that is silent is not asked again: whoever waits is told, and repeats it."""
    return Retry(ExponentialWithJitterBackoff(base=0.02, cap=0.5), 3, supported_errors=(errors.ConnectionError,))


def connect(url: str, *, connections: int = 64) -> Redis:
    """A client for the log on one server. Make it after a fork.

    At most `connections` are open at once; who finds none free waits for one, but not for long. What is sent through it
    may be sent twice, when an answer was lost: use it only for commands that bear it.
    """
    pool = Pool.from_url(url, max_connections=connections, timeout=_WAIT_FOR_CONNECTION, retry=_retry(), **_SETTINGS)
    return Redis.from_pool(pool)


def connect_cluster(url: str, *, connections: int = 64) -> RedisCluster:
    """A client for the log on a cluster, of which `url` names one server; asks it for the others at once.

    Raises:
        LogUnavailable: no server answers, or not all slots are served.
    """
    try:
        return RedisCluster.from_url(url, max_connections=connections, retry=_retry(), **_SETTINGS)
    except _RAISED as error:
        raise _named(error) from error


def send(client: Redis | RedisCluster, *commands: Command) -> list[Any]:
    """The replies to some commands, sent in one round trip and again if there was no answer.

    Raises:
        LogUnavailable: it does not answer, or not to one of them.
    """
    return _sound(_exchange(client, commands))


def check_durability(client: Redis | RedisCluster) -> tuple[str, ...]:
    """The settings with which this log could lose what it acknowledged; empty if there is none.

    Raises:
        LogUnavailable: a server does not answer.
    """
    faults = []
    try:
        for server in _servers(client):
            has = {name: server.config_get(name)[name] for name in DURABLE}
            faults += [f"{name} is {has[name]}, not {value}" for name, value in DURABLE.items() if has[name] != value]
    except _RAISED as error:
        raise _named(error) from error
    return tuple(faults)


def _servers(client: Redis | RedisCluster) -> Iterable[Redis]:
    if isinstance(client, RedisCluster):
        primaries = client.get_primaries()  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
        return [client.get_redis_connection(node) for node in primaries]
    return [client]


class RedisLog:
    """Keeps the promises of `Log` on Valkey or Redis, 7.0 or newer, one server or a cluster; safe to share by threads.

    A cluster spreads the load; it makes nothing safer, for a failover may lose what was acknowledged.
    """

    def __init__(self, client: Redis | RedisCluster, ferry: Ferry | None = None) -> None:
        self._client = client
        self._ferry = ferry  # for reads of what came last

    def load(self) -> None:
        """Bring this release's Functions to the server, at start. Where they get lost later, the next call brings them."""
        try:
            self._client.function_load(_LIBRARY, replace=True)
        except _RAISED as error:
            raise _named(error) from error

    def append(self, append: Append) -> Appended | Conflict | Reused:
        check(append)
        match, expected = append.match, append.expected
        keys = (
            *(key(match, part) for part in ("events", "commands", "seed", "snapshot")),
            *_due_keys(match, append.due),
        )
        told = (match, append.command, append.digest, expected.version, expected.hash)
        beside = (append.seed or b"", append.snapshot or b"", *_times(append.due))
        events = [part for stored in append.events for part in (stored, digest(stored))]
        (reply,) = self._send(("FCALL", _APPEND, len(keys), *keys, *told, *beside, *events))
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
        asked = () if command is None else (("HGET", key(match, "commands"), command),)
        is_short = last is None and (first or 1) > 1  # for whoever begins later has the rest
        part, *known = self._send(_part(match, first, last), *asked, by=self._ferry if is_short else None)
        return _tail(part, first, _seen(known[0]) if known else None)

    def read_each(self, firsts: Mapping[MatchId, Version | None]) -> Mapping[MatchId, Tail]:
        parts = self._send(*(_part(match, first, None) for match, first in firsts.items()))
        return {match: _tail(part, firsts[match], None) for match, part in zip(firsts, parts, strict=True)}

    def remember(self, match: MatchId, after: Version, snapshots: Mapping[Version, bytes]) -> None:
        place = key(match, "snapshot")
        scored = [part for version, snapshot in snapshots.items() for part in (version, snapshot)]
        # Replies are not looked at: what a server has no room for is not remembered.
        _exchange(self._client, (("ZREMRANGEBYSCORE", place, f"({after}", max(snapshots)), ("ZADD", place, *scored)))

    def seed(self, match: MatchId) -> bytes | None:
        seed: bytes | None
        (seed,) = self._send(("GET", key(match, "seed")))
        return seed

    def claim(self, kind: str, now: int, lease: int, limit: int) -> Sequence[Due]:
        # Looking first keeps the limit over all partitions; the second round trip is paid only when there is work.
        shares = Counter(partition_of(due.match) for due in self._until(kind, now, limit))
        claims = [
            ("FCALL", _CLAIM, 1, due_key(partition, kind), now, now + lease, share)
            for partition, share in shares.items()
        ]
        return _dues(kind, self._send(*claims))

    def overdue(self, kind: str, now: int, limit: int) -> Sequence[Due]:
        return self._until(kind, now, limit)

    def scheduled(self, kind: str) -> Sequence[Due]:
        return _dues(kind, self._send(*(("ZRANGE", key, 0, -1, "WITHSCORES") for key in due_keys(kind))))

    def next_due(self, kinds: Iterable[str]) -> int | None:
        keys = chain.from_iterable(map(due_keys, kinds))
        firsts: Sequence[_Scored] = self._send(*(("ZRANGE", key, 0, 0, "WITHSCORES") for key in keys))
        return min((int(score) for _, score in filter(None, firsts)), default=None)

    def count_due(self, kind: str, until: int) -> int:
        return sum(self._send(*(("ZCOUNT", key, "-inf", until) for key in due_keys(kind))))

    def rearm(self, match: MatchId, version: Version, due: Owed) -> bool:
        keys = (key(match, "events"), *_due_keys(match, due))
        (done,) = self._send(("FCALL", _REARM, len(keys), *keys, match, version, *_times(due)))
        return bool(done)

    def _until(self, kind: str, now: int, limit: int) -> tuple[Due, ...]:
        replies = self._send(
            *(("ZRANGEBYSCORE", key, "-inf", now, "WITHSCORES", "LIMIT", 0, limit) for key in due_keys(kind))
        )
        return _dues(kind, replies)[:limit]

    def _send(self, *commands: Command, by: Ferry | None = None) -> list[Any]:
        """The replies to all commands, sent in one round trip; two more if the server has lost the Functions."""
        replies = _exchange(by or self._client, commands)
        if lost := [place for place, reply in enumerate(replies) if _is_lost(reply)]:
            self.load()
            for place, reply in zip(lost, send(self._client, *(commands[place] for place in lost)), strict=True):
                replies[place] = reply
        return _sound(replies)


def _exchange(way: Redis | RedisCluster | Ferry, commands: Sequence[Command]) -> list[Any]:
    """The replies to some commands; one that was refused has its error in its place."""
    try:
        return way.exchange(commands) if isinstance(way, Ferry) else exchange(way, commands)
    except _RAISED as error:
        raise _named(error) from error


def _sound(replies: list[Any]) -> list[Any]:
    for refused in (reply for reply in replies if isinstance(reply, Exception)):
        raise _named(refused) from refused
    return replies


def _named(error: Exception) -> Exception:
    """`LogUnavailable` with its reason, or the error itself where this module is at fault."""
    for kind, start, reason in _REASONS:
        if isinstance(error, kind) and str(error).startswith(start):
            return LogUnavailable(reason)
    return error


def _is_lost(reply: object) -> bool:
    return isinstance(reply, errors.ResponseError) and str(reply).startswith(_LOST)


def _due_keys(match: MatchId, due: Owed) -> Iterator[str]:
    """The due sets of a match's partition, for each kind that is named."""
    partition = partition_of(match)
    return (due_key(partition, kind) for kind in due)


def _times(due: Owed) -> Iterator[int | str]:
    """When each kind is due, in the same order; an empty string where nothing is."""
    return ("" if at is None else at for at in due.values())


def _part(match: MatchId, first: Version | None, last: Version | None) -> Command:
    if first is None:
        keys = (key(match, "events"), key(match, "snapshot"))
        return ("FCALL_RO", _RECALL, len(keys), *keys, "" if last is None else last)
    return ("XRANGE", key(match, "events"), f"{first}-0", "+" if last is None else f"{last}-0")


def _tail(part: Any, first: Version | None, seen: Seen | None) -> Tail:
    """What the reply to a `_part` says."""
    snapshot, entries = (None, part) if first is not None else part
    fields = [pairs(told) for _, told in entries]
    # An entry of another hand may lack the field; empty bytes break the chain at its place.
    stored = [told.get(b"e", b"") for told in fields]
    # No event after the last one names its hash, so what was noted with it must agree.
    if fields and digest(stored[-1]).encode() != fields[-1].get(b"h"):
        stored[-1] = b""
    return Tail(tuple(stored), seen, snapshot)


def pairs(told: Sequence[bytes] | dict[bytes, bytes]) -> dict[bytes, bytes]:
    """The fields of an entry or a hash: they come as they are, or as redis-py reads them."""
    return told if isinstance(told, dict) else dict(zip(told[::2], told[1::2], strict=True))


def _seen(value: bytes | None) -> Seen | None:
    if value is None:
        return None
    version, _, told = value.decode().partition(" ")
    return Seen(int(version), told)


def _dues(kind: str, replies: Iterable[_Scored]) -> tuple[Due, ...]:
    """The entries of all partitions, the earliest first, from replies of members and scores in turn."""
    entries = (
        Due(member.decode(), kind, int(score))
        for reply in replies
        for member, score in zip(reply[::2], reply[1::2], strict=True)
    )
    return tuple(sorted(entries, key=lambda due: (due.at, due.match)))
