"""What streams are made of: events, and the few frames that are none, in the two media types that carry them."""

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
    """The first frame of a stream: the match as it is now, what time it is, how often a sign of life comes.

    What was asked for besides events stands here where no event follows that would have it.
    """

    match: MatchId
    version: Version
    head: str
    status: Status
    viewer: Viewer
    now: int
    heartbeat_ms: int


class StreamEnd(msgspec.Struct, frozen=True, tag="end", tag_field="type"):
    """The last frame of a stream; no event has the type `end` or `hello`. `version` and `head`: the last event told, to resume from.

    `finished` and `aborted`: the match is over and all of it was told. `restart` and `max-age`: connect again. Any other
    reason is the code of the problem that a new request would get, `token-revoked` that of `token-invalid`. A stream that
    stops without this frame was cut: connect again.
    """

    reason: Reason
    version: Version
    head: str


_json: Final = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Form:
    """How a media type writes a stream down.

    `opening` comes before the first frame, `heartbeat` is what readers skip. `frame` writes a frame of a type, with an id
    from which an EventSource goes on (empty for none), `mark` such an id alone.
    """

    media_type: str
    opening: bytes
    heartbeat: bytes
    frame: Callable[[str, object, str], bytes]
    mark: Callable[[str], bytes]


def _server_sent(name: str, value: object, id_: str) -> bytes:
    """An event of `text/event-stream`, as HTML 9.2.6 has it."""
    field = f"id: {id_}\n" if id_ else ""
    return f"event: {name}\n{field}data: ".encode() + _json(value) + b"\n\n"


EVENT_STREAM: Final = Form(
    "text/event-stream", b"retry: 1000\n", b":\n\n", _server_sent, lambda id_: f"id: {id_}\n\n".encode()
)
NDJSON: Final = Form(
    "application/x-ndjson", b"", b"\n", lambda _name, value, _id: _json(value) + b"\n", lambda _id: b""
)
