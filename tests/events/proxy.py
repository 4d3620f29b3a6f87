"""A proxy that can lose a reply: the server has done what it was asked, and the client cannot know."""

import socket
from contextlib import suppress
from threading import Thread
from types import TracebackType
from typing import Self


class Proxy:
    """Listens on TCP and passes all on to the Unix socket at `target`."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self._listener.getsockname()[1]}/0"
        self.to_lose = 0
        """How many replies to `FCALL` are lost from now on, each with its connection."""
        self.lost = 0
        Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, suppress(OSError):
            server.connect(self._target)
            while request := client.recv(1 << 20):
                server.sendall(request)
                reply = server.recv(1 << 20)
                if self.to_lose and b"FCALL" in request:
                    self.to_lose -= 1
                    self.lost += 1
                    return
                client.sendall(reply)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
