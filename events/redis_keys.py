"""The names of a log's keys, which stay for ever.

All keys of a match carry the hash tag of its partition, so that they and the partition's due sets share a cluster slot.
"""

from functools import cache, lru_cache
from typing import Final, Literal, TypeAlias
from zlib import crc32

from events.record import MatchId

PARTITIONS: Final = 64

Part: TypeAlias = Literal["events", "commands", "seed", "snapshot"]


def partition_of(match: MatchId) -> int:
    return crc32(match.encode()) % PARTITIONS


@lru_cache(maxsize=8192)
def key(match: MatchId, part: Part) -> str:
    return f"match:{{p{partition_of(match)}}}:{match}:{part}"


@lru_cache(maxsize=8192)
def due_key(partition: int, kind: str) -> str:
    return f"due:{{p{partition}}}:{kind}"


@cache
def due_keys(kind: str) -> tuple[str, ...]:
    """The due sets of a kind, one for each partition."""
    return tuple(due_key(partition, kind) for partition in range(PARTITIONS))
