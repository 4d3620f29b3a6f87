"""A client's connection and the request body on it. Reads are bounded in bytes and time, and yield to other greenlets.

gevent switches greenlets only when a read has to wait. A read from a client that sends at full speed never waits, so
without an explicit switch the process would serve nobody else, and no timeout would fire.
"""

import socket
import time
from contextlib import suppress
from typing import Any, Final

import gevent
from gevent.socket import wait_read
from gunicorn.http.body import LengthReader
from gunicorn.http.errors import ParseException
from werkzeug.exceptions import BadRequest, ClientDisconnected, RequestEntityTooLarge, RequestTimeout

from api.http.bodies import MAX_BODY, MAX_WAIT_FOR_BODY_S

MAX_FRAMED_BODY: Final = 2 * MAX_BODY
"""Maximum size in bytes of a chunked body with its framing. A body in very small chunks is mostly framing."""

_PIPELINE_PAUSE_S: Final = 0.01
_LINGER_S: Final = 5.0
_FIRST_PAUSE_S: Final = 0.01
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"

_discarded: Final = bytearray(64 * 1024)
"""A buffer for bytes that are discarded."""


class Connection:
    """A client's socket. Every read first lets other greenlets run."""

    def __init__(self, client: socket.socket) -> None:
        self.limit: int | None = None
        """Number of bytes that may still be received before RequestEntityTooLarge is raised; None: unlimited."""
        self.ends_at: float | None = None
        """When the wait for a body ends with RequestTimeout (monotonic, seconds); None while no body is read."""
        self._client = client
        self._has_waited = False
        self._head: bytes | None = None
        """The headers of a response, held back to be sent with its body; b"" before them, None while nothing is held back."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def recv(self, size: int) -> bytes:
        left = None if self.ends_at is None else self.ends_at - time.monotonic()
        if left is not None and left <= 0:
            raise RequestTimeout
        wait_read(self._client.fileno(), left, RequestTimeout)
        self._has_waited = True
        data = self._client.recv(size)
        if self.limit is not None:
            self.limit -= len(data)
            if self.limit < 0:
                raise RequestEntityTooLarge
        return data

    def sendall(self, data: bytes) -> None:
        """Send data. Headers of a response are sent together with its body, because each packet wakes the client up."""
        if self._head == b"":
            self._head = data
        else:
            head, self._head = self._head or b"", None
            self._client.sendall(head + data)

    def hold_head(self) -> None:
        """Hold back the data that is sent next, the headers of a response, until more is sent or `flush` is called."""
        self._head = b""

    def send_at_once(self, data: bytes) -> None:
        """Send data that is not part of a response."""
        self._client.sendall(data)

    def flush(self) -> None:
        """Send the data that was held back, and hold back nothing more."""
        head, self._head = self._head, None
        if head and self._client.fileno() >= 0:
            self._client.sendall(head)

    def take_turn(self) -> None:
        """Pause before a request that was received together with the one before it, since no read of its own yielded."""
        if not self._has_waited:
            gevent.sleep(_PIPELINE_PAUSE_S)
        self._has_waited = False

    def linger(self) -> None:
        """Let a client read its response before a connection with an unread part of the request is closed.

        Closing at once would reset the connection, and a client that is still sending could lose the response (RFC 9112,
        9.6). At most 640 KiB are read and discarded, with growing pauses, so that a client at full speed has to wait.
        """
        with suppress(OSError), gevent.Timeout(_LINGER_S, False):
            self._client.shutdown(socket.SHUT_WR)
            pause = _FIRST_PAUSE_S
            while self._client.recv_into(_discarded):
                gevent.sleep(pause)
                pause *= 2


class Body:
    """The WSGI input stream of a request (PEP 3333).

    If the body may be long and was not read to its end, the connection is closed after the response. gunicorn discards
    the rest of a short body.
    """

    def __init__(self, request: Any, connection: Connection) -> None:
        reader = request.body.reader
        self._request = request
        self._connection = connection
        self._source = request.body
        self._left: int | None = reader.length if isinstance(reader, LengthReader) else None
        self._must_close: bool = request.must_close
        # gunicorn would send 100 Continue before the checks decide whether the request is refused.
        self._is_expected: bool = request._expected_100_continue  # noqa: SLF001
        request._expected_100_continue = False  # noqa: SLF001
        if self._left is None or self._left > MAX_BODY or self._is_expected:
            request.must_close = True

    @property
    def is_read(self) -> bool:
        return self._left == 0

    def read(self, size: int = -1) -> bytes:
        """Read `size` bytes, or all that are left if it is negative; fewer only at the end of the body.

        Raises:
            BadRequest: the chunks are malformed, or the client has disconnected.
            RequestEntityTooLarge: the chunks have more than MAX_FRAMED_BODY bytes with their framing.
            RequestTimeout: the body was not received within MAX_WAIT_FOR_BODY_S, counted from the first call.
        """
        if self._is_expected:
            self._connection.send_at_once(_CONTINUE)
            self._is_expected = False
        if self._left is None and self._connection.limit is None:
            self._connection.limit = MAX_FRAMED_BODY
        if self._connection.ends_at is None:
            self._connection.ends_at = time.monotonic() + MAX_WAIT_FOR_BODY_S
        self._request.must_close = True
        try:
            data: bytes = self._source.read(size)
        except ParseException:
            raise BadRequest from None
        except OSError:
            raise ClientDisconnected from None
        if self._left is not None:
            self._left -= len(data)
        elif size < 0 or len(data) < size:
            self._left = 0
        if self._left == 0:
            self._connection.limit = self._connection.ends_at = None
            self._request.must_close = self._must_close
        return data
