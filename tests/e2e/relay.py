"""A TCP relay between a client and a service: it sees what is asked, and can cut or hold it.

For clients that open a connection for each request, as urllib does.
"""

import re
import socket
from contextlib import suppress
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

_CHUNK: Final = 1 << 16
_TOKEN: Final = re.compile(rb"Authorization: Bearer (\S+)", re.IGNORECASE)


class Relay:
    """Forwards connections to `url` until it is closed; `requests` are the request lines so far, `token` the newest one."""

    def __init__(self, url: str) -> None:
        host, port = urlsplit(url).hostname or "", urlsplit(url).port or 0
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = Lock()
        self._open: set[socket.socket] = set()
        self._is_cut = False
        self._let_go = Event()
        self._held_path = b""
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.requests: list[bytes] = []
        self.token = ""
        self.holds = Event()
        """Set once a request is held."""
        Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Close all connections, and each new one at once, until `mend`."""
        with self._lock:
            self._is_cut = True
            for one in self._open:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self._is_cut = False

    def hold(self, path: bytes) -> None:
        """Keep the next request whose request line has this part from the service, until `let_go`."""
        self._held_path = path

    def let_go(self) -> None:
        self._let_go.set()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            request = client.recv(_CHUNK)
            line = request.partition(b"\r\n")[0]
            self.requests.append(line)
            if found := _TOKEN.search(request):
                self.token = found[1].decode()
            if self._held_path and self._held_path in line:
                self._held_path = b""
                self.holds.set()
                self._let_go.wait()
            with self._lock:
                if self._is_cut:
                    return
                server = socket.create_connection(self._target)
                self._open |= {client, server}
            with server:
                server.sendall(request)
                Thread(target=_pump, args=(client, server), daemon=True).start()
                _pump(server, client)
            with self._lock:
                self._open -= {client, server}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        self._let_go.set()
        self.cut()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    """Pass on all bytes of one direction."""
    with suppress(OSError):
        while chunk := source.recv(_CHUNK):
            sink.sendall(chunk)
