"""A time limit for what a bot does in the main thread of a worker, whether it waits or computes."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

BOT_SECONDS: Final = 1.0
"""Many times what any bot of ours takes, and less than a bot's usual pace where people play against the clock."""


class _TooLong(BaseException):
    """No `Exception`, so that a bot that catches those ends too."""


@contextmanager
def alarm(seconds: float = BOT_SECONDS) -> Iterator[None]:
    """End the block after so long; RQ's own alarm for the whole job goes on afterwards.

    Raises:
        TimeoutError: it took longer.
    """

    def ring(*_: object) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, ring)
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    began = time.monotonic()
    try:
        yield
    except _TooLong:
        raise TimeoutError(f"it took longer than {seconds:g} s") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - began), 0.001))
