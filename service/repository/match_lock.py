"""Commands of one match pass one at a time in this process, in the order in which they came.

It is a courtesy, never what keeps a match right: that is the log's check of the head. Where many act at once it saves the
lost races that each would run against all others of the process.
"""

import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from events.record import MatchId

GATES: Final = 256
PATIENCE: Final = 0.5
"""Seconds after which a command goes on beside the one before it, which may be waiting for the log."""


class Turnstile:
    """Make it after a fork and after gevent's patches."""

    def __init__(self) -> None:
        self._gates = tuple(threading.RLock() for _ in range(GATES))

    @contextmanager
    def passing(self, match_id: MatchId) -> Iterator[None]:
        gate = self._gates[zlib.crc32(match_id.encode()) % GATES]
        passed = gate.acquire(timeout=PATIENCE)
        try:
            yield
        finally:
            if passed:
                gate.release()
