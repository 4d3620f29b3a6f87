"""Bots that play in the arena. A bot is a function from a task to an action: `service.games.protocol.Bot`.

A built-in bot runs in the process of its job, because it is code of the service. A bot named `module:function` is code of
somebody else: each has a process of its own, which gets tasks as JSON and never sees a state or a seed.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any, Final, Union

import msgspec

from service.arena.play import Failed
from service.games.bots import bots_of
from service.games.protocol import AnyGame, Bot, Task
from service.match.randomness import Draws

START_TIMEOUT_S: Final = 60.0
"""How long a bot's process may take to import its module. Large libraries take seconds."""
MAX_ANSWER_BYTES: Final = 1 << 20
MAX_DETAIL: Final = 200
"""The most characters of a failure's description."""

_TICKS: Final = 2
"""Timer ticks per limit: all ticks of a process that was stopped arrive as one, so one tick alone proves nothing."""


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line from a bot's process: an action in its JSON form (None to wait), or what the bot raised."""

    action: msgspec.Raw = msgspec.Raw(b"null")
    error: str | None = None


class Question(msgspec.Struct, frozen=True):
    """A line to a bot's process. `key` is the key of the bot's random numbers, in hex."""

    key: str
    task: msgspec.Raw


class CannotStart(Exception):
    """A bot cannot be loaded; the message says why."""


def is_hosted(name: str) -> bool:
    """Whether a bot is named by its module and function."""
    return ":" in name


class _TooLong(BaseException):
    """Not an `Exception`, so that it also ends a bot that catches exceptions."""


class _Alarm:
    """A timer of this process that ends what its main thread computes. Its handler is installed once, for speed."""

    def __init__(self) -> None:
        self._ticks_left = 0
        signal.signal(signal.SIGALRM, self._on_tick)

    def arm(self, seconds: float) -> None:
        self._ticks_left = _TICKS
        signal.setitimer(signal.ITIMER_REAL, seconds / _TICKS, seconds / _TICKS)

    def disarm(self) -> None:
        self._ticks_left = 0
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _on_tick(self, *_: object) -> None:
        self._ticks_left -= 1
        if self._ticks_left == 0:
            raise _TooLong


_alarm = cache(_Alarm)


def _too_late(seconds: float) -> Failed:
    return Failed("timeout", f"no answer within {1000 * seconds:g} ms")


class BuiltIn:
    """A built-in bot. Use it in the main thread: its limit is a signal."""

    def __init__(self, bot: Bot[Any, Any], limit_s: float) -> None:
        self._bot = bot
        self._limit_s = limit_s
        self._alarm = _alarm()

    def answer(self, task: Task[Any, Any], key: Callable[[], bytes]) -> Any:
        try:
            self._alarm.arm(self._limit_s)
            try:
                return self._bot(task, Draws(key, {}))
            finally:
                self._alarm.disarm()
        except _TooLong:
            raise _too_late(self._limit_s) from None
        except Exception as error:  # noqa: BLE001  (a bot may fail in any way; the match goes on)
            raise Failed("crash", type(error).__name__) from None

    def close(self) -> None:
        pass


class Hosted:
    """A bot in a process of its own. A process that ended, or did not answer in time, is replaced before the next answer."""

    def __init__(self, game: AnyGame, name: str, limit_s: float, log: str | None) -> None:
        self._game = game
        self._name = name
        self._limit_s = limit_s
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._received = b""
        action: Any = Union[game.info.actions]  # noqa: UP007  (built at run time)
        self._action: Callable[[bytes], Any] = msgspec.json.Decoder(action | None).decode

    def start(self) -> None:
        """Start the process and wait until it has imported the bot.

        Raises:
            CannotStart: it could not.
        """
        ours, theirs = socket.socketpair()
        with theirs, open(self._log or os.devnull, "ab") as output:
            self._process = subprocess.Popen(  # noqa: S603  (our own program)
                [sys.executable, "-P", "-m", "service.arena.bot_process", str(theirs.fileno()), self._game.info.id, self._name],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=[theirs.fileno()],
                env={**os.environ, "PYTHONHASHSEED": "0"},
                start_new_session=True,
            )
        self._socket, self._received = ours, b""
        try:
            self._line(time.monotonic() + START_TIMEOUT_S)
        except TimeoutError:
            self.close()
            raise CannotStart(f"{self._name} was not imported within {START_TIMEOUT_S:g} s") from None
        except Failed as failed:
            self.close()
            raise CannotStart(f"{self._name} cannot be used: {failed.detail}") from None

    def answer(self, task: Task[Any, Any], key: Callable[[], bytes]) -> Any:
        try:
            if self._process is None:
                self.start()
        except CannotStart as error:
            raise Failed("crash", str(error)[:MAX_DETAIL]) from None
        question = msgspec.json.encode(Question(key().hex(), msgspec.Raw(msgspec.json.encode(task)))) + b"\n"
        until = time.monotonic() + self._limit_s
        try:
            assert self._socket is not None
            self._socket.settimeout(self._limit_s)
            self._socket.sendall(question)
            return self._action(self._line(until))
        except TimeoutError:
            self.close()
            raise _too_late(self._limit_s) from None
        except OSError:
            raise self._ended() from None
        except msgspec.DecodeError as error:
            raise Failed("nonsense", f"no action of this game: {error}"[:MAX_DETAIL]) from None

    def _line(self, until: float) -> bytes:
        """The action of the next line, in JSON.

        Raises:
            TimeoutError: it did not come by `until`, a monotonic time in seconds.
            Failed: the bot raised, or its process ended.
        """
        assert self._socket is not None
        while not self._received.endswith(b"\n"):
            self._socket.settimeout(max(until - time.monotonic(), 1e-6))
            part = self._socket.recv(1 << 16)
            if not part:
                raise self._ended()
            self._received += part
            if len(self._received) > MAX_ANSWER_BYTES:
                self.close()
                raise Failed("nonsense", f"an answer of more than {MAX_ANSWER_BYTES} bytes")
        answer = msgspec.json.decode(self._received, type=Answer)
        self._received = b""
        if answer.error is not None:
            raise Failed("crash", answer.error[:MAX_DETAIL])
        return bytes(answer.action)

    def _ended(self) -> Failed:
        process = self._process
        self.close()
        status = None if process is None else process.returncode
        return Failed("crash", f"its process ended with status {status}")

    def close(self) -> None:
        """End the process, if there is one."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._process is not None:
            try:
                self._process.wait(0.2)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None


def seated(game: AnyGame, name: str, limit_s: float, log: str | None) -> BuiltIn | Hosted:
    """The player for a bot's name. A hosted bot is started at once.

    Raises:
        CannotStart: a hosted bot could not be imported.
    """
    if not is_hosted(name):
        return BuiltIn(bots_of(game)[name], limit_s)
    hosted = Hosted(game, name, limit_s, log)
    hosted.start()
    return hosted
