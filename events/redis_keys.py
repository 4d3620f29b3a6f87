"""The names of a log's keys, which stay for ever.

All keys of a match carry the hash tag of its partition, so that they and the partition's due sets share a cluster slot.
"""

from functools import lru_cache
from typing import Final, Literal, TypeAlias
from zlib import crc32

from events.due import DUE_KINDS, DueKind
from events.record import MatchId

PARTITIONS: Final = 64

Part: TypeAlias = Literal["events", "commands", "seed", "snapshot"]


def partition_of(match: MatchId) -> int:
    return crc32(match.encode()) % PARTITIONS


@lru_cache(maxsize=8192)
def key(match: MatchId, part: Part) -> str:
    return f"match:{{p{partition_of(match)}}}:{match}:{part}"


def due_key(partition: int, kind: DueKind) -> str:
    return f"due:{{p{partition}}}:{kind}"


def due_keys(match: MatchId) -> tuple[str, ...]:
    """The due sets of a match's partition, in the order of `DUE_KINDS`."""
    return tuple(due_key(partition_of(match), kind) for kind in DUE_KINDS)


ALL_DUE: Final[dict[DueKind, tuple[str, ...]]] = {
    kind: tuple(due_key(partition, kind) for partition in range(PARTITIONS)) for kind in DUE_KINDS
}
