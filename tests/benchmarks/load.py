"""A closed-loop load generator: many keep-alive connections, each with its own list of requests, in one thread."""

import selectors
import socket
import time
from collections.abc import Iterator, Sequence

import msgspec


class Answers(msgspec.Struct, frozen=True):
    """The answers: their number by status, the total time (s), and the latency of each (s)."""

    statuses: dict[int, int]
    seconds: float
    latencies: tuple[float, ...]

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds

    def percentile(self, share: float) -> float:
        """The latency (ms) that this share of the answers did not exceed."""
        return sorted(self.latencies)[int(share * (len(self.latencies) - 1))] * 1000


class _Connection:
    def __init__(self, port: int, requests: Sequence[bytes]) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._requests = iter(requests)
        self._buffer = b""
        self._sent = 0.0

    def send_next(self) -> bool:
        request = next(self._requests, None)
        if request is None:
            self.socket.close()
            return False
        self._buffer = b""
        self._sent = time.perf_counter()
        self.socket.sendall(request)
        return True

    def receive(self) -> tuple[int, float] | None:
        """The status and the latency (s) of an answer, once it is complete."""
        self._buffer += self.socket.recv(65536)
        head, end, body = self._buffer.partition(b"\r\n\r\n")
        if not end:
            return None
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
        if len(body) < length:
            return None
        return int(head[9:12]), time.perf_counter() - self._sent


def drive(port: int, scripts: Sequence[Sequence[bytes]]) -> Answers:
    """Send every script over its own connection, all at the same time. Each request waits for the previous answer."""
    statuses: dict[int, int] = {}
    latencies = []
    began = time.perf_counter()
    with selectors.DefaultSelector() as selector:
        for script in scripts:
            connection = _Connection(port, script)
            if connection.send_next():
                selector.register(connection.socket, selectors.EVENT_READ, connection)
        while selector.get_map():
            for key, _ in selector.select(10) or _stuck():
                answer = key.data.receive()
                if answer is None:
                    continue
                statuses[answer[0]] = statuses.get(answer[0], 0) + 1
                latencies.append(answer[1])
                selector.unregister(key.fileobj)
                if key.data.send_next():
                    selector.register(key.data.socket, selectors.EVENT_READ, key.data)
    return Answers(statuses, time.perf_counter() - began, tuple(latencies))


def _stuck() -> Iterator[tuple[selectors.SelectorKey, int]]:
    raise TimeoutError("no answer for 10 s")


def request(method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: bench", *(f"{name}: {value}" for name, value in headers.items())]
    if body or method == "POST":
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
