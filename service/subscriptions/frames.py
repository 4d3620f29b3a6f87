"""Frames of streams that are not events, and the two media types of streams."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import msgspec

from events.record import MatchId, Version
from service.games.visibility import Viewer
from service.match.model import Status
from service.match.redaction import Situation

Reason: TypeAlias = Literal[
    "finished",
    "aborted",
    "restart",
    "max-age",
    "token-revoked",
    "not-your-seat",
    "match-not-found",
    "history-diverged",
    "match-corrupt",
    "engine-too-old",
]


class StreamHello(Situation, frozen=True, tag="hello", tag_field="type"):
    """The first frame of a stream: the match as it is now, the server time, and the interval of heartbeats.

    The members that `include` adds are in this frame if no event follows immediately.
    """

    match: MatchId
    version: Version
    head: str
    status: Status
    viewer: Viewer
    now: int
    heartbeat_ms: int


class StreamEnd(msgspec.Struct, frozen=True, tag="end", tag_field="type"):
    """The last frame of a stream. No event has the type `end` or `hello`.

    `version` and `head` are those of the last event that was sent: resume from there. `finished` and `aborted`: the
    match is over and all events were sent. `restart` and `max-age`: connect again. Any other reason is the code of
    the problem that a new request would get; for `token-revoked` that is `token-invalid`. A stream that stops without
    this frame was interrupted: connect again.
    """

    reason: Reason
    version: Version
    head: str


_json: Final = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Form:
    """The encoding of a stream in a media type.

    `opening` is sent before the first frame; clients ignore `heartbeat`. `frame` encodes a frame from its type, its
    value and the id from which an EventSource resumes (empty for no id). `mark` encodes an id without a frame.
    """

    media_type: str
    opening: bytes
    heartbeat: bytes
    frame: Callable[[str, object, str], bytes]
    mark: Callable[[str], bytes]


def _server_sent(name: str, value: object, id_: str) -> bytes:
    """An event of `text/event-stream`, as in HTML 9.2.6."""
    field = f"id: {id_}\n" if id_ else ""
    return f"event: {name}\n{field}data: ".encode() + _json(value) + b"\n\n"


EVENT_STREAM: Final = Form(
    "text/event-stream", b"retry: 1000\n", b":\n\n", _server_sent, lambda id_: f"id: {id_}\n\n".encode()
)
NDJSON: Final = Form(
    "application/x-ndjson", b"", b"\n", lambda _name, value, _id: _json(value) + b"\n", lambda _id: b""
)
