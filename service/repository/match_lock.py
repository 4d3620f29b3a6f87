"""Locks that let the commands of a match run one at a time in this process, in the order of their arrival.

They only save time: without them, many simultaneous commands would lose races against each other and try again. What
keeps a match consistent is the log, which checks the head at each append.
"""

import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from events.record import MatchId

LOCKS: Final = 256
"""Matches share this many locks, by a hash of their id."""
TIMEOUT_S: Final = 0.5
"""After this time a command runs without the lock: the command that holds it may be waiting for the log."""


class MatchLocks:
    """Create it after a fork and after gevent's monkey patching."""

    def __init__(self) -> None:
        self._locks = tuple(threading.RLock() for _ in range(LOCKS))

    @contextmanager
    def holding(self, match_id: MatchId) -> Iterator[None]:
        lock = self._locks[zlib.crc32(match_id.encode()) % LOCKS]
        acquired = lock.acquire(timeout=TIMEOUT_S)
        try:
            yield
        finally:
            if acquired:
                lock.release()
