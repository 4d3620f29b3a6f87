"""The names of the log's keys. They are stored data and never change.

All keys of a match contain the hash tag of its partition, so that they and the partition's due sets share a cluster slot.
Streams that are no matches have ids such as `ratings:ape_town`: a kind and a name. Their keys begin with the kind.
"""

from functools import cache, lru_cache
from typing import Final, Literal, TypeAlias, get_args
from zlib import crc32

from events.record import MatchId

PARTITIONS: Final = 64

Part: TypeAlias = Literal["events", "commands", "seed", "snapshot"]
PARTS: Final[tuple[Part, ...]] = get_args(Part)


def partition_of(match: MatchId) -> int:
    return crc32(match.encode()) % PARTITIONS


@lru_cache(maxsize=8192)
def key(match: MatchId, part: Part) -> str:
    kind, _, name = match.rpartition(":")
    return f"{kind or 'match'}:{{p{partition_of(match)}}}:{name}:{part}"


@lru_cache(maxsize=8192)
def keys_of(match: MatchId) -> tuple[str, ...]:
    """The keys of all parts of a match, in the order of `Part`."""
    return tuple(key(match, part) for part in PARTS)


@lru_cache(maxsize=8192)
def due_key(partition: int, kind: str) -> str:
    return f"due:{{p{partition}}}:{kind}"


@cache
def due_keys(kind: str) -> tuple[str, ...]:
    """The due sets of a kind, one for each partition."""
    return tuple(due_key(partition, kind) for partition in range(PARTITIONS))
