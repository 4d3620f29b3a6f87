"""The players of a contest by the names of its bots, which `service.arena.entries` lists.

A built-in bot runs in the process of its job, because it is code of the service. For others see `service.arena.hosted`
and `service.arena.called`.
"""

import signal
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from service.arena.called import Called
from service.arena.deals import CalledAt
from service.arena.entries import entry_of, version_of_game
from service.arena.hosted import Hosted
from service.arena.lines import described
from service.arena.play import Failed
from service.games.bots import bots_of
from service.games.protocol import AnyGame, Bot, Task
from service.match.randomness import Draws

NONE_CALLED: Final[Mapping[str, CalledAt]] = {}
_TICKS: Final = 2
"""Timer ticks per limit: all ticks of a process that was stopped arrive as one, so one tick alone proves nothing."""


def seated(
    game: AnyGame,
    name: str,
    limit_s: float,
    log: str | None,
    version: str | None = None,
    called: Mapping[str, CalledAt] = NONE_CALLED,
) -> "BuiltIn | Hosted | Called":
    """The bot with a name. A bot with a process of its own is started at once; `log` is a file for what it prints.

    version: the one that this process must have, now and whenever it is started again; any if this is None.
    called: the bots that are called, by their names.

    Raises:
        BadEntry: the name is not usable.
        CannotStart: a hosted bot could not be started.
        Changed: it has another version.
    """
    if name in called:
        return Called(game, name, called[name], limit_s)
    if entry_of(name) is None:
        return BuiltIn(bots_of(game)[name], limit_s)
    player = Hosted(game, name, limit_s, log, version)
    player.start()
    return player


def versions(
    game: AnyGame,
    names: Sequence[str],
    limit_s: float,
    log: str | None,
    called: Mapping[str, CalledAt] = NONE_CALLED,
) -> tuple[str, ...]:
    """The version of each bot; it is empty for a bot that is called, because a URL says nothing about it.

    Each bot that is not built in is started or called once, so that one that cannot be used is reported before any match.

    Raises:
        BadEntry, CannotStart: as `seated`.
    """
    found: dict[str, str] = {}
    for name in names:
        if name not in called and entry_of(name) is None:
            found[name] = version_of_game(game)
        elif name not in found:
            player = Called(game, name, called[name], limit_s) if name in called else Hosted(game, name, limit_s, log)
            try:
                player.start()
            finally:
                player.close()
            found[name] = player.version or ""
    return tuple(found[name] for name in names)


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
            raise Failed("crash", described(error)) from None

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
