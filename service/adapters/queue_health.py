"""Whether the queue's server can be used, and how what is ours there is mended.

Nothing in the queue is worth keeping: a worker that cannot go on with what is there throws it away, and all workers find
in the log what is due. Only what belongs to other programs, on a server that is shared, stays.
"""

from typing import Final, Literal, TypeAlias

import redis.exceptions as errors
from redis import Redis

from service.adapters.jobs import LANES, lane_key

Fault: TypeAlias = Literal["unavailable", "loading", "full", "read-only", "damaged"]
"""`unavailable`: no answer in time, or no leave to write. `loading`: the server reads its files. `full`: it has no memory
left. `read-only`: it is a replica. `damaged`: a key of ours has a wrong type.
"""

SENTENCES: Final[dict[Fault, str]] = {
    "unavailable": "the queue does not answer",
    "loading": "the queue still loads its files",
    "full": "the queue is full (maxmemory)",
    "read-only": "the queue is read-only",
    "damaged": "the queue holds what is not ours under our names; workers throw that away",
}

_LANES: Final = tuple(map(lane_key, LANES))
_TYPES: Final[dict[str, str]] = {
    **{key: "list" for lane in _LANES for key in (lane, f"{lane}:intermediate")},
    **{f"rq:{registry}:{lane}": "zset" for lane in LANES for registry in ("wip", "failed", "finished", "ready")},
    **{f"rq:workers:{lane}": "set" for lane in LANES},
    **dict.fromkeys(("rq:queues", "rq:workers", "rq:groups", "rq:rl-keys"), "set"),
    **{f"rq:clean_registries:{lane}": "string" for lane in LANES},
    "rq:clean_groups": "string",
}
"""The keys with fixed names that RQ uses for our lanes."""
PROBE: Final = "queue:probe"
_PROBE_SECONDS: Final = 60
_PAGE: Final = 1000
_REASONS: Final[tuple[tuple[type[Exception], Fault], ...]] = (
    (errors.BusyLoadingError, "loading"),
    (errors.ReadOnlyError, "read-only"),
    (errors.OutOfMemoryError, "full"),
    (errors.RedisError, "unavailable"),
)


def fault(client: Redis) -> Fault | None:
    """Why hints cannot go through the queue now, None if they can. One round trip, and one small write."""
    try:
        with client.pipeline(transaction=False) as pipeline:
            pipeline.set(PROBE, 1, ex=_PROBE_SECONDS)
            for key in _TYPES:
                pipeline.type(key)
            written, *types = pipeline.execute(raise_on_error=False)
    except errors.RedisError as error:
        return _named(error)
    if isinstance(written, Exception):
        return _named(written)
    is_ours = all(found in {b"none", wanted.encode()} for found, wanted in zip(types, _TYPES.values(), strict=True))
    return None if is_ours else "damaged"


def _named(error: Exception) -> Fault:
    return next((name for kind, name in _REASONS if isinstance(error, kind)), "unavailable")


def forget(client: Redis) -> None:
    """Throw away all hints and all that RQ noted of our lanes.

    Raises:
        RedisError: the server does not answer.
    """
    client.unlink(*_TYPES)


def make_room(client: Redis) -> int:
    """Delete marks without an expiry, which ours have; how many there were.

    Raises:
        RedisError: the server does not answer.
    """
    deleted = cursor = 0
    while True:
        cursor, marks = client.scan(cursor, match="queued:*", count=_PAGE)
        with client.pipeline(transaction=False) as pipeline:
            for mark in marks:
                pipeline.ttl(mark)
            kept_for_ever = [mark for mark, ttl in zip(marks, pipeline.execute(), strict=True) if ttl == -1]
        if kept_for_ever:
            deleted += client.unlink(*kept_for_ever)
        if not cursor:
            return deleted
