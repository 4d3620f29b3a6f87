"""Time limits for code in a worker's main thread. While the whole process is stopped, they are not used up."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Final

BOT_TIMEOUT_S: Final = 1.0
"""All bots need much less, and their usual pace in matches with a clock is longer than this."""
TICKS_PER_TIMEOUT: Final = 2
"""Timer ticks per timeout. However long the process is stopped, it uses up at most one tick."""


class _TooLong(BaseException):
    """Not an `Exception`, so that it also ends a bot that catches exceptions."""


@contextmanager
def wall_time_limit(seconds: float = BOT_TIMEOUT_S) -> Iterator[None]:
    """End the block after `seconds`, whether it waits or computes.

    Raises:
        TimeoutError: it took longer.
    """
    ticks = count(1)
    over = False

    def on_tick(*_: object) -> None:
        # All ticks that fall due while the process is stopped arrive as one signal, so one tick alone proves nothing.
        # A SIGALRM that arrives after the block is ignored.
        if next(ticks) == TICKS_PER_TIMEOUT and not over:
            raise _TooLong

    signal.signal(signal.SIGALRM, on_tick)
    signal.setitimer(signal.ITIMER_REAL, seconds / TICKS_PER_TIMEOUT, seconds / TICKS_PER_TIMEOUT)
    try:
        yield
    except _TooLong:
        raise TimeoutError(f"it took longer than {seconds:g} s") from None
    finally:
        over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_IGN)


class RulesTimeout(Exception):
    """The rules used more CPU time than they may."""


@contextmanager
def cpu_time_limit(seconds: float) -> Iterator[None]:
    """End the block after `seconds` of CPU time. Only rules can use that much: bots and the log have their own limits.

    The timer repeats, because a handler of the first exception may call the same rules again.

    Raises:
        RulesTimeout: it used more CPU time.
    """
    over = False

    def on_tick(*_: object) -> None:
        if not over:
            raise RulesTimeout(f"it computed for more than {seconds:g} s")

    signal.signal(signal.SIGPROF, on_tick)
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds)
    try:
        yield
    finally:
        over = True
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_IGN)
