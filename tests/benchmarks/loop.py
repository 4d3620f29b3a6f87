"""CPU time per move: the two players of a match follow it live and act as soon as it is their turn.

The servers are the API, the log and the queue; these matches need no workers. The floor does the minimum with the same server
class, number of workers and log: Flask, one durable append, two deliveries.
"""

import selectors
import socket
import subprocess
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from service import settings
from service.adapters.valkey import Valkey
from service.container import Service, build
from tests.benchmarks import processor_time
from tests.benchmarks.http import script, serving
from tests.benchmarks.load import request
from tests.ports import free_port

MATCHES: Final = 8
FOLLOWED_PATHS: Final[Mapping[str, str]] = {
    "notices with lists": "/v1/me/stream?include=legal_actions",
    "events with lists": "/v1/matches/{match}/events?include=legal_actions&after=3",
    "events": "/v1/matches/{match}/events?after=3",
}
"""The streams that both players of a match follow."""
FLOOR: Final = "/v1/matches/{match}/stream"

_TIMEOUT_S: Final = 10.0


class Cost(msgspec.Struct, frozen=True):
    """Milliseconds of CPU time per move: of the API's processes, and of the servers of log and queue together."""

    api: float
    stores: float

    @property
    def total(self) -> float:
        return self.api + self.stores


class _Lines:
    """A client's connection. Responses and frames are JSON objects, one per line or chunk."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), _TIMEOUT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = b""

    def read(self) -> list[dict[str, Any]]:
        got = self.socket.recv(65536)
        if not got:
            raise RuntimeError(f"the connection was closed after {self._buffer!r}")
        *lines, self._buffer = (self._buffer + got).split(b"\n")
        if self._buffer.startswith(b"{") and self._buffer.endswith(b"}"):  # a response, which ends without a newline
            lines, self._buffer = [*lines, self._buffer], b""
        return [msgspec.json.decode(line) for line in lines if line.startswith(b'{"')]


class _Table:
    """A match with known moves, and its two players, each with a stream and a connection for actions.

    Workers of the floor share no state, so both players use one connection there.
    """

    def __init__(self, port: int, requests: Sequence[bytes], path: str) -> None:
        match = requests[0].split(b" ")[1].split(b"/")[3].decode()
        self.moves = deque(requests)
        tokens = list(dict.fromkeys(map(_token, requests)))
        shared = _Lines(port)
        self.acting = {token: shared if path == FLOOR else _Lines(port) for token in tokens}
        self.following = {token: _Lines(port) for token in tokens}
        self._seen = dict.fromkeys(tokens, 0)
        self._version = 0
        for token, stream in self.following.items():
            headers = {"Authorization": f"Bearer {token}", "Accept": "application/x-ndjson"}
            stream.socket.sendall(request("GET", path.format(match=match), headers))
            while not stream.read():
                pass

    def act(self) -> None:
        self._version = 0
        self.acting[_token(self.moves[0])].socket.sendall(self.moves.popleft())

    def answered(self, connection: _Lines) -> None:
        for line in connection.read():
            if "version" not in line or "code" in line:
                raise RuntimeError(f"a move was refused: {line}")
            self._version = line["version"]
        self._act_if_ready()

    def notified(self, token: str, stream: _Lines) -> None:
        self._seen[token] = max([self._seen[token], *(line["version"] for line in stream.read() if "version" in line)])
        self._act_if_ready()

    def _act_if_ready(self) -> None:
        """Send the next move if the last one was answered and the next player has received its event."""
        if self._version and self.moves and self._seen[_token(self.moves[0])] >= self._version:
            self.act()

    @property
    def is_over(self) -> bool:
        return bool(self._version and not self.moves)


def _token(sent: bytes) -> str:
    return sent.partition(b"Authorization: Bearer ")[2].partition(b"\r\n")[0].decode()


def _play(tables: Sequence[_Table]) -> int:
    """Play all matches at the same time to their last moves. Returns the number of moves."""
    count = sum(len(table.moves) for table in tables)
    with selectors.DefaultSelector() as ready:
        for table in tables:
            for token, stream in table.following.items():
                ready.register(stream.socket, selectors.EVENT_READ, (table, partial(table.notified, token, stream)))
            for connection in set(table.acting.values()):
                ready.register(connection.socket, selectors.EVENT_READ, (table, partial(table.answered, connection)))
            table.act()
        while ready.get_map():
            for key, _ in ready.select(_TIMEOUT_S) or _time_out():
                table, read = key.data
                if not table.is_over:
                    read()
            # The server closes idle connections of finished matches; this must not count as an interruption.
            for key in [key for key in ready.get_map().values() if key.data[0].is_over]:
                ready.unregister(key.fileobj)
    for table in tables:
        for one in (*table.acting.values(), *table.following.values()):
            one.socket.close()
    return count


def _time_out() -> Iterator[Any]:
    raise TimeoutError(f"no data for {_TIMEOUT_S:.0f} s")


def _seconds(pids: Sequence[int]) -> float:
    """The CPU time in seconds that these processes and their children have used."""
    found = list(pids)
    for pid in found:
        found += processor_time.children(pid)
    return processor_time.seconds(found)


def costs(folder: Path, log_file: IO[bytes]) -> dict[str, Cost]:
    """The cost of a move by the stream that players follow, and the minimum cost as `floor`."""
    with ExitStack() as stack:
        log = stack.enter_context(Valkey.start(folder / "log", durable=True))
        queue = stack.enter_context(Valkey.start(folder / "queue", durable=False))
        port, floor_port = free_port(), free_port()
        environ = {
            "MOONSTONE_LOG_URL": log.url,
            "MOONSTONE_QUEUE_URL": queue.url,
            "MOONSTONE_DATA_DIR": str(folder),
            "MOONSTONE_PORT": str(port),
            "MOONSTONE_REQUESTS_BY_TOKEN": "1000000",
            "MOONSTONE_MOVES_BY_TOKEN": "1000000",
        }
        service = build(settings.read(environ), listen=False)
        stack.callback(service.close)
        api = stack.enter_context(serving(log_file, "api", env=environ, port=port))
        floor = stack.enter_context(
            serving(log_file, "tests.benchmarks.floor", str(floor_port), log.url, port=floor_port)
        )
        stores = (log.pid, queue.pid)
        _measured(service, "warm", port, FOLLOWED_PATHS["events"], api, stores)
        found = {name: _measured(service, name, port, path, api, stores) for name, path in FOLLOWED_PATHS.items()}
        found["floor"] = _measured(service, "floor", floor_port, FLOOR, floor, stores)
        return found


def _measured(
    service: Service, name: str, port: int, path: str, api: subprocess.Popen[bytes], stores: Sequence[int]
) -> Cost:
    series = name.replace(" ", "-")
    scripts = [script(service, f"{series}-{number}", number) for number in range(MATCHES)]
    tables = [_Table(port, requests, path) for requests in scripts]
    before = _seconds([api.pid]), _seconds(stores)
    moves = _play(tables)
    return Cost(
        *(1000 * (_seconds(pids) - first) / moves for pids, first in zip(([api.pid], stores), before, strict=True))
    )
