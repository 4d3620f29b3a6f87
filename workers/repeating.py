"""A thread of a worker process that does the same thing from time to time."""

import logging
from collections.abc import Callable
from threading import Event, Thread
from typing import Final, TypeAlias

from events.log import LogUnavailable

RETRY_DELAY_S: Final = 1.0
"""Pause after a failure."""

GoesOn: TypeAlias = Callable[[], bool]
"""Returns whether the thread should go on. A long step asks it."""

_log = logging.getLogger("moonstone.worker")


class Repeating:
    """A thread that calls `step`, with pauses of `pause_s` seconds, from `start` to `stop`; sooner if a call failed."""

    def __init__(self, name: str, step: Callable[[GoesOn], object], pause_s: float) -> None:
        self._step = step
        self._pause_s = pause_s
        self._stopped = Event()
        self._thread = Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        pause = 0.0
        while not self._stopped.wait(pause):
            pause = min(RETRY_DELAY_S, self._pause_s)
            try:
                self._step(lambda: not self._stopped.is_set())
                pause = self._pause_s
            except LogUnavailable:  # the sweeper logs it
                pass
            except Exception:  # noqa: BLE001  (the next call may succeed)
                _log.exception("the thread %s failed", self._thread.name)
