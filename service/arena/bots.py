"""The bots of a contest by their names. A bot is a function from a task to an action: `service.games.protocol.Bot`.

A built-in bot runs in the process of its job, because it is code of the service. For others see `service.arena.hosted`.
"""

import signal
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from service.arena.hosted import Hosted
from service.arena.play import Failed
from service.games.bots import bots_of
from service.games.protocol import AnyGame, Bot, Task
from service.match.randomness import Draws

_TICKS: Final = 2
"""Timer ticks per limit: all ticks of a process that was stopped arrive as one, so one tick alone proves nothing."""


def is_hosted(name: str) -> bool:
    """Whether a bot is named by its module and function."""
    return ":" in name


def seated(game: AnyGame, name: str, limit_s: float, log: str | None) -> "BuiltIn | Hosted":
    """The player for a bot's name. A hosted bot is started at once; `log` is a file for what it prints.

    Raises:
        CannotStart: a hosted bot could not be imported.
    """
    if not is_hosted(name):
        return BuiltIn(bots_of(game)[name], limit_s)
    hosted = Hosted(game, name, limit_s, log)
    hosted.start()
    return hosted


class BuiltIn:
    """A built-in bot. Use it in the main thread: its limit is a signal."""

    def __init__(self, bot: Bot[Any, Any], limit_s: float) -> None:
        self._bot = bot
        self._limit_s = limit_s
        self._alarm = _alarm()

    def answer(self, task: Task[Any, Any], key: Callable[[], bytes]) -> Any:
        """As `service.arena.play.Player`."""
        try:
            self._alarm.arm(self._limit_s)
            try:
                return self._bot(task, Draws(key, {}))
            finally:
                self._alarm.disarm()
        except _TooLong:
            raise Failed("timeout", f"no answer within {1000 * self._limit_s:g} ms") from None
        except Exception as error:  # noqa: BLE001  (a bot may fail in any way; the match goes on)
            raise Failed("crash", type(error).__name__) from None

    def begin(self) -> None:
        """It is always ready."""

    def close(self) -> None:
        """There is no process to end."""


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
