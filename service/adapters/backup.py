"""A backup of a log: one file with everything that cannot be derived from the rest. It contains every secret of the store.

It can be taken while the server is in use. Each match is read in one transaction, so it is a prefix of the later match.
Rating streams are read before all matches, so that every match that they name is included whole. Players and tokens are
read after all matches, so that every player with a seat is included. Due times and the index are derived from the
matches and are not included, nor are the hours in which tokens were last used.
"""

import gzip
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import IO, Any, Final, TypeAlias

import msgspec
from redis import Redis, RedisCluster

from events.record import MatchId, digest
from events.redis_log import send
from events.redis_pool import Command
from events.redis_replies import field_dict
from service.adapters import store
from service.adapters.accounts import ERASED, ERASING

FORMAT: Final = "moonstone-backup/1"
BATCH: Final = 200
"""Maximum number of commands in a pipeline, and of fields in a command."""
_LENGTH: Final = struct.Struct(">I")
_LEVEL: Final = 3
_PARTS: Final = frozenset({"events", "commands", "seed", "snapshot"})
_MATCH: Final = b"match:"
_RATINGS: Final = b"ratings:"
"""The kinds of streams: what their keys begin with (`events.redis_keys`)."""
_NO_RECORDS: Final = (_MATCH, _RATINGS, b"due:", b"index:", b"uses:")
_LAST: Final = (ERASING.encode(), ERASED.encode())
"""Read last: an account whose name was read before its erasure began is then erased again by a restore."""
_READS: Final[dict[bytes, tuple[str | int, ...]]] = {
    b"string": ("GET",),
    b"hash": ("HGETALL",),
    b"set": ("SMEMBERS",),
    b"zset": ("ZRANGE", 0, -1, "WITHSCORES"),
}


class BadBackup(Exception):
    """The file is not a complete backup, or the server holds keys that a backup cannot contain; the text says which."""


class Begin(msgspec.Struct, frozen=True, tag="begin"):
    format: str
    store: str
    at: int
    """Server time in milliseconds."""


class StoredMatch(msgspec.Struct, frozen=True, tag="match"):
    """A match as the log holds it, or a rating stream, which has no seed; `key` is the common prefix of its keys.

    `noted` is the hash that the log stored beside the newest event: damage to that event is still found after a restore.
    """

    key: bytes
    events: tuple[bytes, ...]
    commands: tuple[bytes, ...]
    seed: bytes | None
    noted: bytes

    @property
    def is_match(self) -> bool:
        return self.key.startswith(_MATCH)


class Record(msgspec.Struct, frozen=True, tag="record"):
    """Any other key; `value` is the reply of the command that reads its type."""

    key: bytes
    kind: bytes
    value: tuple[bytes, ...]


class End(msgspec.Struct, frozen=True, tag="end"):
    """The last frame; a file without it was cut off. Rating streams count as matches."""

    matches: int
    records: int


Frame: TypeAlias = Begin | StoredMatch | Record | End

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Frame).decode


def match_keys(client: Redis | RedisCluster) -> Iterator[bytes]:
    """The prefix of each match's keys. Keeps all prefixes in memory, but no matches."""
    return _stream_keys(client, _MATCH)


def _stream_keys(client: Redis | RedisCluster, kind: bytes) -> Iterator[bytes]:
    seen = set()
    for key in client.scan_iter(match=kind + b"*", count=1000):
        start, _, part = key.rpartition(b":")
        if part.decode() not in _PARTS:
            raise BadBackup(f"the key {key.decode()} is of a kind that this release does not know")
        if start not in seen:
            seen.add(start)
            yield start


def match_id(key: bytes) -> MatchId:
    return key.decode().rpartition(":")[2]


def read_store(client: Redis | RedisCluster, now: int) -> Iterator[Frame]:
    """Read a log as the frames of a backup.

    Raises:
        BadBackup: the server holds no store, or a key of an unknown kind.
    """
    opened = store.stored(client)
    if opened is None:
        raise BadBackup("the log's server holds no store")
    yield Begin(FORMAT, opened.id, now)
    matches = records = 0
    for key in chain(_stream_keys(client, _RATINGS), match_keys(client)):
        with client.pipeline(transaction=True) as pipeline:
            pipeline.xrange(key + b":events")
            pipeline.hgetall(key + b":commands")
            pipeline.get(key + b":seed")
            entries, commands, seed = pipeline.execute()
        if entries:
            matches += 1
            # In a transaction on a cluster redis-py returns raw replies, elsewhere it converts them.
            fields = [field_dict(raw) for _, raw in entries]
            events = tuple(entry.get(b"e", b"") for entry in fields)
            yield StoredMatch(key, events, _flat(field_dict(commands)), seed, fields[-1].get(b"h", b""))
    others = (key for key in client.scan_iter(count=1000) if not key.startswith(_NO_RECORDS) and key not in _LAST)
    for key in chain(others, _LAST):
        record = _record(client, key)
        if record is not None:
            records += 1
            yield record
    yield End(matches, records)


def _record(client: Redis | RedisCluster, key: bytes) -> Record | None:
    (kind,) = send(client, ("TYPE", key))
    if kind == b"none":
        return None
    if kind not in _READS:
        raise BadBackup(f"the key {key.decode(errors='replace')} is of a type that a backup cannot contain")
    verb, *rest = _READS[kind]
    (value,) = send(client, (verb, key, *rest))
    match value:
        case None:  # it was deleted meanwhile
            return None
        case bytes():
            return Record(key, kind, (value,))
        case dict():
            return Record(key, kind, _flat(value))
    return Record(key, kind, tuple(value))


def _flat(fields: Mapping[bytes, bytes]) -> tuple[bytes, ...]:
    return tuple(part for field in fields.items() for part in field)


def fill_store(client: Redis | RedisCluster, frames: Iterable[Frame]) -> Iterator[MatchId]:
    """Fill an empty server with a complete backup; yields the id of each match after it is written. Rating streams come first."""
    opened: list[Command] = []
    for frame in frames:
        match frame:
            case StoredMatch():
                _write_match(client, frame)
                if frame.is_match:
                    yield match_id(frame.key)
            case Record() if frame.key == store.KEY.encode():
                opened = [_write(frame)]
            case Record():
                send(client, _write(frame))
    # Written last, so that a server that was filled only in part holds no store and is not served.
    send(client, *opened)


def _write_match(client: Redis | RedisCluster, stored: StoredMatch) -> None:
    hashes = [*(digest(event).encode() for event in stored.events[:-1]), stored.noted]
    commands: list[Command] = [
        ("XADD", stored.key + b":events", f"{version}-0", "e", event, "h", noted)
        for version, (event, noted) in enumerate(zip(stored.events, hashes, strict=True), 1)
    ]
    ids = stored.commands
    commands += [
        ("HSET", stored.key + b":commands", *ids[first : first + BATCH]) for first in range(0, len(ids), BATCH)
    ]
    if stored.seed is not None:
        commands.append(("SET", stored.key + b":seed", stored.seed))
    for first in range(0, len(commands), BATCH):
        send(client, *commands[first : first + BATCH])


def _write(record: Record) -> Command:
    match record.kind:
        case b"string":
            return ("SET", record.key, *record.value)
        case b"hash":
            return ("HSET", record.key, *record.value)
        case b"set":
            return ("SADD", record.key, *record.value)
    scored = (part for index in range(0, len(record.value), 2) for part in record.value[index : index + 2][::-1])
    return ("ZADD", record.key, *scored)


def write_file(file: IO[bytes], frames: Iterable[Frame]) -> Iterator[Frame]:
    """Write frames compressed, each after its length; yields each frame after it is written."""
    with gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=file) as packed:
        for frame in frames:
            encoded = _encode(frame)
            packed.write(_LENGTH.pack(len(encoded)))
            packed.write(encoded)
            yield frame


def read_file(path: Path) -> Iterator[Frame]:
    """The frames of a file.

    Raises:
        BadBackup: it is no backup, has another format, or is damaged. If it was cut off, this is raised only at its end.
    """
    counts: Counter[type[Frame]] = Counter()
    frame: Any = None
    try:
        with gzip.open(path) as packed:
            while length := packed.read(_LENGTH.size):
                frame = _decode(packed.read(*_LENGTH.unpack(length)))
                if not counts and not (isinstance(frame, Begin) and frame.format == FORMAT):
                    raise BadBackup(f"{path} is no {FORMAT}")
                counts[type(frame)] += 1
                yield frame
    except (gzip.BadGzipFile, zlib.error, EOFError, OSError, struct.error, msgspec.DecodeError) as error:
        raise BadBackup(f"{path} cannot be read as a file of `moonstone backup`: {error}") from error
    if frame != End(counts[StoredMatch], counts[Record]):
        raise BadBackup(f"{path} was cut off: a part of the backup is missing")
