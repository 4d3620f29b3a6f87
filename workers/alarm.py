"""Time limits for what runs in the main thread of a worker. A process that is stopped for a while has not used them up."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Final

BOT_SECONDS: Final = 1.0
"""Many times what any bot of ours takes, and less than a bot's usual pace where people play against the clock."""
RINGS: Final = 2
"""Into so many parts a bot's time is divided, of which a process that is stopped uses up one at most."""


class _TooLong(BaseException):
    """No `Exception`, so that a bot that catches those ends too."""


@contextmanager
def alarm(seconds: float = BOT_SECONDS) -> Iterator[None]:
    """End the block after so long, whether it waits or computes.

    Raises:
        TimeoutError: it took longer.
    """
    rings = count(1)
    over = False

    def ring(*_: object) -> None:
        # The first is let go by: all that were due while the process stood still come as one.
        if next(rings) == RINGS and not over:
            raise _TooLong

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds / RINGS, seconds / RINGS)
    try:
        yield
    except _TooLong:
        raise TimeoutError(f"it took longer than {seconds:g} s") from None
    finally:
        over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_IGN)


class RulesTimeout(Exception):
    """Rules computed for longer than they may."""


@contextmanager
def processor_limit(seconds: float) -> Iterator[None]:
    """End the block after it computed for so long: only rules can take that, for bots and the log have limits of their own.

    It rings again and again, since what ends first may ask the same rules once more.

    Raises:
        RulesTimeout: it computed for longer.
    """
    over = False

    def ring(*_: object) -> None:
        if not over:
            raise RulesTimeout(f"it computed for more than {seconds:g} s")

    signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds)
    try:
        yield
    finally:
        over = True
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_IGN)
