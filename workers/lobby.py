"""The lobby: a thread that puts seeks together, and brings the index up to date after an upgrade.

Processes of the previous release may run beside this one and create matches that are in none of the newer lists. So open
matches are looked through at the start and then once a minute.
"""

import logging
import time
from collections.abc import Callable
from threading import Event, Thread
from typing import Final

from events.log import LogUnavailable
from service.automation import pairing, upgrade
from service.repository.ports import Ports

SEEKS_INTERVAL_S: Final = 0.25
REFILE_INTERVAL_S: Final = 60.0
"""Time between two walks over the open matches."""
RETRY_DELAY_S: Final = 1.0
"""Pause after a failure."""

_log = logging.getLogger("moonstone.lobby")


class Lobby:
    """A thread that runs from `start` to `stop`."""

    def __init__(self, ports: Ports, clock_fault: Callable[[], str | None] = lambda: None) -> None:
        """`clock_fault` returns why this process must not judge times, or None."""
        self._ports = ports
        self._clock_fault = clock_fault
        self._refile_at = time.monotonic()
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="lobby", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        pause = 0.0
        while not self._stopped.wait(pause):
            try:
                self._refile_if_due()
                if self._clock_fault() is None:
                    pairing.put_together(self._ports)
                pause = SEEKS_INTERVAL_S
            except LogUnavailable:
                pause = RETRY_DELAY_S  # the sweeper logs it
            except Exception:  # noqa: BLE001  (the next round may succeed)
                _log.exception("the lobby failed")
                pause = RETRY_DELAY_S

    def _refile_if_due(self) -> None:
        if time.monotonic() < self._refile_at:
            return
        filed = upgrade.refile(self._ports, lambda: not self._stopped.is_set())
        if filed:
            _log.info("%d open matches of another release were added to the lists", filed)
        self._refile_at = time.monotonic() + REFILE_INTERVAL_S
