"""Clients that send without end, and connect again when they are cut.

`python -m tests.chaos.senders PORT SHAPE COUNT RATE`; RATE is bytes a second for each, 0 for as fast as the machine can.
Prints a line when each of them has sent a part, and goes on until it is ended.
"""

import socket
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, NamedTuple

from tests.api.raw import GET, HOST, JSON, POST

PART: Final = b"x" * (64 << 10)
LONG: Final = b"Content-Length: 20000000000\r\n\r\n"
SO_MAX_PACING_RATE: Final = 47
"""Of Linux; Python has no name for it."""


class Shape(NamedTuple):
    """What is sent once, and what is then sent again and again, after a pause or once something was received."""

    head: bytes
    part: bytes = PART
    pause_s: float = 0
    reads: bool = False


SHAPES: Final[Mapping[str, Shape]] = {
    "a body that is too large": Shape(POST + HOST + JSON + LONG),
    "a body for no address": Shape(b"POST /nowhere HTTP/1.1\r\n" + HOST + JSON + LONG),
    "more than a short body": Shape(b"POST /nowhere HTTP/1.1\r\n" + HOST + JSON + b"Content-Length: 16000\r\n\r\n"),
    "endless chunks": Shape(
        POST + HOST + JSON + b"Transfer-Encoding: chunked\r\n\r\n", b"%x\r\n%b\r\n" % (len(PART), PART)
    ),
    "chunks that are mostly framing": Shape(
        POST + HOST + JSON + b"Transfer-Encoding: chunked\r\n\r\n", (b"1;%b\r\nx\r\n" % (b"a" * 3000)) * 20
    ),
    "a body that no GET takes": Shape(GET + HOST + LONG),
    "an endless header": Shape(GET + HOST + b"A: "),
    "no HTTP": Shape(b""),
    "requests at once": Shape(b"", b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n" + 999 * (GET + HOST + b"\r\n")),
}

SLOW_HEADERS: Final = "slow headers"
CREATIONS: Final = "new matches"
_MATCH: Final = b'{"game":"ape_town","seats":2}'
OTHERS: Final[Mapping[str, Shape]] = {
    SLOW_HEADERS: Shape(GET + HOST + b"A: ", b"a", pause_s=0.05),
    CREATIONS: Shape(
        b"",
        POST.replace(b"stones", b"matches") + HOST + JSON + b"Content-Length: %d\r\n\r\n%b" % (len(_MATCH), _MATCH),
        reads=True,
    ),
}
"""Shapes that come at a rate of their own."""


def send_for_ever(port: int, shape: Shape, rate: int, started: threading.Barrier) -> None:
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
    port, name, count, rate = sys.argv[1:]
    started = threading.Barrier(int(count) + 1)
    for _ in range(int(count)):
        threading.Thread(
            target=send_for_ever, args=(int(port), {**SHAPES, **OTHERS}[name], int(rate), started), daemon=True
        ).start()
    started.wait()
    sys.stdout.write("sending\n")
    sys.stdout.flush()
    threading.Event().wait()


if __name__ == "__main__":
    main()
