"""Many watchers of streams: the delay until the last of them has an event, the cost of idle streams, and their effect
on others' moves.

`python -m tests.benchmarks.streams` starts a log, a queue and the API with two workers, and prints the figures. The
clients are one thread of this process, on the same processors as the servers. It waits for all sockets together, and
takes the time before it reads.
"""

import os
import select
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from itertools import count
from pathlib import Path
from statistics import median
from typing import Final

import msgspec

from service import settings
from service.adapters.valkey import Valkey
from service.container import Service, build
from service.subscriptions.streams import HANG_UP_CHECK_S
from service.usecases import accounts
from tests.api.live import Server, serving
from tests.api.table import set_table
from tests.benchmarks import processor_time
from tests.benchmarks.http import script
from tests.benchmarks.load import request

WATCHERS: Final = 1000
IDLE: Final = 2000
IDLE_OF_OTHERS: Final = 200
EVENTS: Final = 40
ROUNDS: Final = 3
MOVES_PER_PART: Final = 20
HEARTBEATS_S: Final = 5.5
"""A time in which every stream sends at least one heartbeat."""
PAUSE_S: Final = 0.02
TIMEOUT_S: Final = 10.0
STREAMS_PER_TOKEN: Final = 8
"""Streams that are opened together with one token. All numbers of streams are multiples of it."""

_PAGE: Final = os.sysconf("SC_PAGESIZE")


class FanOut(msgspec.Struct, frozen=True):
    """Milliseconds from sending a move to its answer and to its last watcher (median and p99), and the workers'
    processor time for a delivery (µs).
    """

    watchers: int
    answer_p50: float
    answer_p99: float
    last_p50: float
    last_p99: float
    delivery_us: float


class IdleCost(msgspec.Struct, frozen=True):
    """The cost of idle streams: per cent of one core for all, KiB for each; and the slowest move beside them (ms)."""

    streams: int
    cpu: float
    kib: float
    slowest: float


class Moves:
    """The moves of a match, chosen beforehand and sent one at a time."""

    def __init__(self, server: Server, requests: Sequence[bytes]) -> None:
        self.path = requests[0].split(b" ")[1].removesuffix(b"/actions").decode()
        self._requests = iter(requests)
        self._server = server

    @cached_property
    def socket(self) -> socket.socket:
        """Opened on first use, because the server closes idle connections."""
        client = socket.create_connection(("127.0.0.1", self._server.port), TIMEOUT_S)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return client

    def send(self) -> None:
        self.socket.sendall(next(self._requests))

    def receive(self) -> None:
        """Wait for the whole answer."""
        with self.socket.makefile("rb") as answer:
            status = answer.readline()
            if b" 201 " not in status:
                raise RuntimeError(f"a move was refused: {status.decode()}")
            head = iter(answer.readline, b"\r\n")
            (length,) = [int(field[15:]) for field in head if field.lower().startswith(b"content-length:")]
            answer.read(length)

    def milliseconds(self) -> float:
        began = time.perf_counter()
        self.send()
        self.receive()
        return 1000 * (time.perf_counter() - began)


class Streams:
    """Open streams, each of which has received all events so far."""

    def __init__(self, server: Server, tokens: Iterator[str]) -> None:
        self.streams: dict[int, socket.socket] = {}
        self._server = server
        self._tokens = tokens
        self._ready = select.epoll()

    def watch(self, path: str, streams: int, after: int = 0) -> None:
        for _ in range(0, streams, STREAMS_PER_TOKEN):
            headers = {"Accept": "text/event-stream", "Authorization": f"Bearer {next(self._tokens)}"}
            clients = [
                socket.create_connection(("127.0.0.1", self._server.port), TIMEOUT_S) for _ in range(STREAMS_PER_TOKEN)
            ]
            for client in clients:
                client.sendall(request("GET", f"{path}/events?after={after}", headers))
            for client in clients:
                if not client.recv(65536).startswith(b"HTTP/1.1 200"):
                    raise RuntimeError("a stream was refused")
                self.streams[client.fileno()] = client
                self._ready.register(client, select.EPOLLIN)

    def drain(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            for stream, _ in self._ready.poll(left):
                if not os.read(stream, 65536):
                    raise RuntimeError("a stream was cut")

    def follow(self, moves: Moves) -> tuple[float, float]:
        """Milliseconds until the answer to the next move, and until the last stream has its event."""
        self._ready.register(moves.socket, select.EPOLLIN)
        answered, own = 0.0, moves.socket.fileno()
        left = set(self.streams)
        began = time.perf_counter()
        moves.send()
        while left or not answered:
            ready = self._ready.poll(TIMEOUT_S)
            now = time.perf_counter()
            if now - began > TIMEOUT_S:
                raise TimeoutError(f"{len(left)} watchers did not get the event; the move's answer took {answered} s")
            for stream, _ in ready:
                if stream == own:
                    moves.receive()
                    answered = now
                elif b'"type":"action"' in os.read(stream, 65536):
                    left.discard(stream)
        self._ready.unregister(moves.socket)
        return 1000 * (answered - began), 1000 * (now - began)

    def close(self) -> None:
        for client in self.streams.values():
            client.close()
        self.streams.clear()


class MeasuredService:
    """A running server, its service, and the measurements of its streams."""

    def __init__(self, server: Server, service: Service) -> None:
        self.server = server
        self.service = service
        self.tokens = (accounts.sign_up(service.ports, "Watcher")[1] for _ in count())

    def moves(self, number: int) -> Moves:
        return Moves(self.server, script(self.service, f"watched-{number}", number))

    def idle_path(self) -> tuple[str, int]:
        match, _ = self.service.ports.history.newest(set_table(self.service.ports).match_id)
        return f"/v1/matches/{match.id}", match.head.version

    def cpu(self) -> float:
        """Seconds of processor time that the workers have used."""
        return processor_time.seconds(self.server.workers)

    def kib(self) -> float:
        pages = [int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) for pid in self.server.workers]
        return sum(pages) * _PAGE / 1024

    def fan_out(self, watchers: int = WATCHERS, events: int = EVENTS) -> FanOut:
        moves, opened = self.moves(watchers), Streams(self.server, self.tokens)
        opened.watch(moves.path, watchers)
        opened.drain(0.5)
        before = self.cpu()
        times = []
        for _ in range(events):
            times.append(opened.follow(moves))
            opened.drain(PAUSE_S)
        spent = self.cpu() - before
        opened.close()
        answers, lasts = (sorted(column) for column in zip(*times, strict=True))
        worst = int(0.99 * (events - 1))
        return FanOut(
            watchers, median(answers), answers[worst], median(lasts), lasts[worst], 1e6 * spent / (events * watchers)
        )

    def slowdown_of_others(self) -> float:
        """The time of a move with idle streams of other matches, relative to that without them; a median of rounds.

        The first and the last part of a round have no idle streams, so a change of the machine's load affects both
        sides.
        """
        ratios = []
        for number in range(ROUNDS):
            moves, opened = self.moves(number), Streams(self.server, self.tokens)
            alone = [moves.milliseconds() for _ in range(MOVES_PER_PART)]
            path, version = self.idle_path()
            opened.watch(path, IDLE_OF_OTHERS, version)
            opened.drain(0.3)
            beside = [moves.milliseconds() for _ in range(MOVES_PER_PART)]
            opened.close()
            opened.drain(HANG_UP_CHECK_S + 0.3)
            alone += [moves.milliseconds() for _ in range(MOVES_PER_PART)]
            ratios.append(median(beside) / median(alone))
        return median(ratios)

    def idle_cost(self, streams: int = IDLE) -> IdleCost:
        opened, moves = Streams(self.server, self.tokens), self.moves(IDLE)
        kib = self.kib()
        path, version = self.idle_path()
        opened.watch(path, streams, version)
        kib = self.kib() - kib
        opened.drain(1)
        before = self.cpu()
        opened.drain(HEARTBEATS_S)
        spent = (self.cpu() - before) / HEARTBEATS_S
        slowest = 0.0
        for _ in range(MOVES_PER_PART):
            slowest = max(slowest, moves.milliseconds())
            opened.drain(0.1)
        opened.close()
        return IdleCost(streams, 100 * spent, kib / streams, slowest)


@contextmanager
def running(folder: Path) -> Iterator[MeasuredService]:
    with ExitStack() as stack:
        log = stack.enter_context(Valkey.start(folder / "log", durable=True))
        queue = stack.enter_context(Valkey.start(folder / "queue", durable=False))
        environ = {
            "MOONSTONE_LOG_URL": log.url,
            "MOONSTONE_QUEUE_URL": queue.url,
            "MOONSTONE_DATA_DIR": str(folder),
            "MOONSTONE_REQUESTS_BY_TOKEN": "1000000",
            "MOONSTONE_MOVES_BY_TOKEN": "1000000",
        }
        service = build(settings.read(environ), listen=False)
        stack.callback(service.close)
        yield MeasuredService(stack.enter_context(serving(environ)), service)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as measured:
        for watchers in (1, 100, 500, WATCHERS):
            print(msgspec.json.encode(measured.fan_out(watchers)).decode(), flush=True)
        print(
            f"moves with {IDLE_OF_OTHERS} idle streams of other matches take {measured.slowdown_of_others():.2f} times as long",
            flush=True,
        )
        print(msgspec.json.encode(measured.idle_cost()).decode())


if __name__ == "__main__":
    main()
