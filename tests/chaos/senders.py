"""Clients that send without end, and reconnect when the server closes the connection.

`python -m tests.chaos.senders PORT SHAPE COUNT RATE CPU`; RATE is bytes per second for each client, 0 for as fast as possible;
CPU is the number of the processor that they use.
Prints a line when every client has sent something, and runs until it is killed.
"""

import os
import socket
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, NamedTuple

from tests.api.raw_parts import GET, HOST, JSON, POST

PART: Final = b"x" * (64 << 10)
LONG: Final = b"Content-Length: 20000000000\r\n\r\n"
SO_MAX_PACING_RATE: Final = 47
"""A constant of Linux for which Python has no name."""


class Shape(NamedTuple):
    """Bytes that are sent once, and bytes that are then repeated, after a pause or after an answer."""

    head: bytes
    part: bytes = PART
    pause_s: float = 0
    reads: bool = False


SHAPES: Final[Mapping[str, Shape]] = {
    "a body that is too large": Shape(POST + HOST + JSON + LONG),
    "a body for an unknown route": Shape(b"POST /nowhere HTTP/1.1\r\n" + HOST + JSON + LONG),
    "more than a short body": Shape(b"POST /nowhere HTTP/1.1\r\n" + HOST + JSON + b"Content-Length: 16000\r\n\r\n"),
    "endless chunks": Shape(
        POST + HOST + JSON + b"Transfer-Encoding: chunked\r\n\r\n", b"%x\r\n%b\r\n" % (len(PART), PART)
    ),
    "chunks that are mostly framing": Shape(
        POST + HOST + JSON + b"Transfer-Encoding: chunked\r\n\r\n", (b"1;%b\r\nx\r\n" % (b"a" * 3000)) * 20
    ),
    "a body of a GET": Shape(GET + HOST + LONG),
    "an endless header": Shape(GET + HOST + b"A: "),
    "no HTTP": Shape(b""),
    "requests without pauses": Shape(b"", b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n" + 999 * (GET + HOST + b"\r\n")),
}

SLOW_HEADERS: Final = "slow headers"
CREATIONS: Final = "new matches"
_MATCH: Final = b'{"game":"ape_town","seats":2}'
FIXED_RATE_SHAPES: Final[Mapping[str, Shape]] = {
    SLOW_HEADERS: Shape(GET + HOST + b"A: ", b"a", pause_s=0.05),
    CREATIONS: Shape(
        b"",
        POST.replace(b"stones", b"matches") + HOST + JSON + b"Content-Length: %d\r\n\r\n%b" % (len(_MATCH), _MATCH),
        reads=True,
    ),
}
"""Shapes with a fixed rate."""


def send_without_end(port: int, shape: Shape, rate: int, started: threading.Barrier) -> None:
    is_new = True
    while True:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)) as client:
            if rate:
                client.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, rate)
            client.sendall(shape.head)
            while True:
                client.send(shape.part)
                if shape.reads and not client.recv(1 << 16):
                    break
                time.sleep(shape.pause_s)
                if is_new:
                    started.wait()
                    is_new = False


def main() -> None:
    port, name, count, rate, cpu = sys.argv[1:]
    os.sched_setaffinity(0, [int(cpu)])  # the threads inherit it
    started = threading.Barrier(int(count) + 1)
    for _ in range(int(count)):
        threading.Thread(
            target=send_without_end,
            args=(int(port), {**SHAPES, **FIXED_RATE_SHAPES}[name], int(rate), started),
            daemon=True,
        ).start()
    started.wait()
    sys.stdout.write("sending\n")
    sys.stdout.flush()
    threading.Event().wait()


if __name__ == "__main__":
    main()
