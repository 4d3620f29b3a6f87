"""A bot that is named `module:function`: code of somebody else, in a process of its own.

The process gets tasks as JSON, over a socket that both processes inherit. It never sees a state or a seed.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Union

import msgspec

from service.arena.play import Failed
from service.games.protocol import AnyGame, Task

START_TIMEOUT_S: Final = 60.0
"""How long the process may take to import the bot's module. Large libraries take seconds."""
MAX_ANSWER_BYTES: Final = 1 << 20
MAX_DETAIL: Final = 200
"""The most characters of a failure's description."""
_END_TIMEOUT_S: Final = 0.2
"""How long a process may take to end by itself after its socket is closed."""


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line from a bot's process: an action in its JSON form (null to wait), or a description of what the bot raised."""

    action: msgspec.Raw = msgspec.Raw(b"null")
    error: str | None = None


class Question(msgspec.Struct, frozen=True):
    """A line to a bot's process. `key` is the key of the bot's random numbers, in hex."""

    key: str
    task: msgspec.Raw


class CannotStart(Exception):
    """A bot cannot be loaded; the message says why."""


class Hosted:
    """A bot in a process of its own. If the process ended, or had to be ended, the next match begins with another one."""

    def __init__(self, game: AnyGame, name: str, limit_s: float, log: str | None) -> None:
        self._game = game
        self._name = name
        self._limit_s = limit_s
        self._log = log
        self._process: _Process | None = None
        action: Any = Union[game.info.actions]  # noqa: UP007  (built at run time)
        self._action: Callable[[msgspec.Raw], Any] = msgspec.json.Decoder(action | None).decode

    def begin(self) -> None:
        """Be ready for a match, before time is measured."""
        if self._process is None:
            with suppress(CannotStart):  # then it has no answer, which is counted
                self.start()

    def start(self) -> None:
        """Start the process, and wait until it has imported the bot.

        Raises:
            CannotStart: it could not.
        """
        process = _Process(self._game.info.id, self._name, self._log)
        try:
            answer = process.answer(time.monotonic() + START_TIMEOUT_S)
        except TimeoutError:
            process.end()
            raise CannotStart(f"{self._name} was not imported within {START_TIMEOUT_S:g} s.") from None
        except OSError:
            raise CannotStart(f"{self._name} cannot be used: its process ended with status {process.end()}.") from None
        if answer.error is not None:
            process.end()
            raise CannotStart(f"{self._name} cannot be used: {answer.error}.")
        self._process = process

    def answer(self, task: Task[Any, Any], key: Callable[[], bytes]) -> Any:
        """As `service.arena.play.Player`."""
        process = self._process
        if process is None:
            raise Failed("crash", "its process cannot be started again")
        question = Question(key().hex(), msgspec.Raw(msgspec.json.encode(task)))
        until = time.monotonic() + self._limit_s
        try:
            process.ask(question, until)
            answer = process.answer(until)
        except msgspec.DecodeError as error:
            self.close()
            raise Failed("nonsense", str(error)[:MAX_DETAIL]) from None
        except TimeoutError:
            self.close()
            raise Failed("timeout", f"no answer within {1000 * self._limit_s:g} ms") from None
        except OSError:
            self._process = None
            raise Failed("crash", f"its process ended with status {process.end()}") from None
        if answer.error is not None:
            raise Failed("crash", answer.error[:MAX_DETAIL])
        try:
            return self._action(answer.action)
        except msgspec.DecodeError as error:
            detail = f"no action of this game: {error}: {bytes(answer.action)[:100].decode(errors='replace')}"
            raise Failed("nonsense", detail[:MAX_DETAIL]) from None

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.end()
            self._process = None


class _Process:
    """A process that has been started, and our end of its socket. Times are monotonic, in seconds."""

    def __init__(self, game: str, bot: str, log: str | None) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs, Path(log or os.devnull).open("ab") as output:
            words = ["-P", "-m", "service.arena.bot_process", str(theirs.fileno()), str(os.getpid()), game, bot]
            self._process = subprocess.Popen(  # noqa: S603  (our own program)
                [sys.executable, *words],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=[theirs.fileno()],
                env={**os.environ, "PYTHONHASHSEED": "0"},
                start_new_session=True,
            )
        self._received = b""

    def ask(self, question: Question, until: float) -> None:
        """Raises TimeoutError, or another OSError if the process has ended."""
        self._socket.settimeout(_left(until))
        self._socket.sendall(msgspec.json.encode(question) + b"\n")

    def answer(self, until: float) -> Answer:
        """The next line.

        Raises:
            TimeoutError: it did not come in time.
            OSError: the process has ended.
            msgspec.DecodeError: it is no line of this protocol.
        """
        while not self._received.endswith(b"\n"):
            self._socket.settimeout(_left(until))
            part = self._socket.recv(1 << 16)
            if not part:
                raise ConnectionResetError
            self._received += part
            if len(self._received) > MAX_ANSWER_BYTES:
                raise msgspec.DecodeError(f"an answer has at most {MAX_ANSWER_BYTES} bytes")
        line, self._received = self._received, b""
        return msgspec.json.decode(line, type=Answer)

    def end(self) -> int:
        """End the process; returns its exit status, which is negative for a signal."""
        self._socket.close()
        try:
            return self._process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def _left(until: float) -> float:
    """The seconds until a time, at least a very short while, because 0 means no limit to a socket."""
    return max(until - time.monotonic(), 1e-6)
