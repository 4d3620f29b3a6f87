"""Servers that answer requests of the service in every wrong way, on loopback, over http or https."""

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Final, TypeAlias

HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
OK: Final = HEAD + b"Content-Length: 2\r\n\r\n{}"

Answer: TypeAlias = Callable[[socket.socket], object]


def says(answer: bytes) -> Answer:
    return lambda connection: connection.sendall(answer)


def status(code: int, *headers: str) -> Answer:
    lines = "".join(f"{header}\r\n" for header in headers)
    return says(f"HTTP/1.1 {code} X\r\n{lines}Content-Length: 0\r\n\r\n".encode())


def resets(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.close()


class Receiver:
    """A server whose connections are answered by `answer`, after a request was read. It keeps every request."""

    def __init__(self, answer: Answer, tls: ssl.SSLContext | None = None) -> None:
        self.answer = answer
        self.requests: list[bytes] = []
        self.connections = 0
        self.stopped = Event()
        self._tls = tls
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http{'s' if self._tls else ''}://{'localhost' if self._tls else '127.0.0.1'}:{self.port}/hook"

    def close(self) -> None:
        self.stopped.set()
        self._listening.close()

    def hang(self, _: socket.socket) -> None:
        self.stopped.wait(60)

    def drip(self, start: bytes, part: bytes, pause_s: float = 0.05) -> Answer:
        """Sends `start`, and then `part` again and again, with pauses."""

        def answer(connection: socket.socket) -> None:
            connection.sendall(start)
            while not self.stopped.wait(pause_s):
                connection.sendall(part)

        return answer

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                self.connections += 1
                Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            if self._tls is None:
                self._answer(connection)
            else:
                with self._tls.wrap_socket(connection, server_side=True) as secure:
                    self._answer(secure)

    def _answer(self, connection: socket.socket) -> None:
        while (request := _request(connection)) is not None and not self.stopped.is_set():
            self.requests.append(request)
            self.answer(connection)


def _request(connection: socket.socket) -> bytes | None:
    """The head and the body of the next request; None if the connection ends."""
    read = b""
    while b"\r\n\r\n" not in read:
        part = connection.recv(65536)
        if not part:
            return None
        read += part
    head, _, body = read.partition(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    while len(body) < length:
        part = connection.recv(65536)
        if not part:
            return None
        body += part
    return head + b"\r\n\r\n" + body


@contextmanager
def receiving(answer: Answer | None = None, tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    receiver = Receiver(answer or says(OK), tls)
    try:
        yield receiver
    finally:
        receiver.close()
