"""Parses the replies of the log's server."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from events.due import Due
from events.log import Seen, Tail
from events.record import Version, digest

Scored: TypeAlias = Sequence[bytes]
"""Members and scores in turn. redis-py types its commands for synchronous and asynchronous clients at once."""


def tail(reply: Any, first: Version | None, seen: Seen | None) -> Tail:
    """The events in a reply, after a snapshot if `first` is None."""
    snapshot, entries = (None, reply) if first is not None else reply
    fields = [field_dict(raw) for _, raw in entries]
    # An entry that another program wrote may lack the field; empty bytes then break the chain at its version.
    found = Tail(tuple([entry.get(b"e", b"") for entry in fields]), seen, snapshot)
    # No later event names the hash of the last one, so it must agree with the hash that was stored beside it.
    if fields and digest(found.events[-1]).encode() != fields[-1].get(b"h"):
        return Tail((*found.events[:-1], b""), seen, snapshot)
    return found


def field_dict(fields: Sequence[bytes] | dict[bytes, bytes]) -> dict[bytes, bytes]:
    """The fields of a stream entry or a hash, from a raw reply (names and values in turn) or from redis-py's dict."""
    return fields if isinstance(fields, dict) else dict(zip(fields[::2], fields[1::2], strict=True))


def seen(value: bytes) -> Seen:
    """The record of a command id."""
    version, _, digest_ = value.decode().partition(" ")
    return Seen(int(version), digest_)


def dues(kind: str, replies: Iterable[Scored]) -> tuple[Due, ...]:
    """The due entries in the replies of several partitions, the earliest first."""
    entries = (
        Due(member.decode(), kind, int(score))
        for reply in replies
        if reply  # most partitions have nothing
        for member, score in zip(reply[::2], reply[1::2], strict=True)
    )
    return tuple(sorted(entries, key=lambda due: (due.at, due.match)))
