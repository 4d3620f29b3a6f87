"""What streams are made of: events, and the few frames that are none, in the two media types that carry them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import msgspec

from events.record import MatchId, Version
from service.games.visibility import Viewer
from service.match.model import Status
from service.match.redaction import SeenEvent

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


class StreamHello(msgspec.Struct, frozen=True):
    """The first frame of `text/event-stream`: the match as it is now, what time it is, how often a sign of life comes."""

    match: MatchId
    version: Version
    head: str
    status: Status
    viewer: Viewer
    now: int
    heartbeat_ms: int


class StreamEnd(msgspec.Struct, frozen=True, tag="end", tag_field="type"):
    """The last frame of a stream; no event has the type `end`. `version` and `head`: the last event told, to resume from.

    `finished` and `aborted`: the match is over and all of it was told. `restart` and `max-age`: connect again. Any other
    reason is the code of the problem that a new request would get, `token-revoked` that of `token-invalid`. A stream that
    stops without this frame was cut: connect again.
    """

    reason: Reason
    version: Version
    head: str


_json: Final = msgspec.json.Encoder().encode


def frame(name: str, value: object, fields: str = "") -> bytes:
    """A server-sent event."""
    return f"event: {name}\n{fields}data: ".encode() + _json(value) + b"\n\n"


def line(value: object) -> bytes:
    """A line of NDJSON."""
    return _json(value) + b"\n"


@dataclass(frozen=True, slots=True)
class Form:
    """How a media type writes a stream down; `heartbeat` is what its readers skip."""

    media_type: str
    heartbeat: bytes
    hello: Callable[[StreamHello], bytes]
    event: Callable[[SeenEvent], bytes]
    end: Callable[[StreamEnd], bytes]


EVENT_STREAM: Final = Form(
    "text/event-stream",
    b":\n\n",
    lambda hello: b"retry: 1000\n" + frame("hello", hello),
    lambda event: frame(event.type, event, f"id: {event.version}\n"),
    lambda end: frame("end", end),
)
NDJSON: Final = Form("application/x-ndjson", b"\n", lambda _: b"\n", line, line)
