"""Work of a worker process that nothing is due for: it takes over what older releases stored."""

import logging
from threading import Event, Thread
from typing import Final

from events.log import LogUnavailable
from service.automation import expiry, rating
from service.repository.ports import Ports

INTERVAL_S: Final = 3_600.0
"""Seconds between two searches. Processes of the older release may still create matches."""
RETRY_DELAY_S: Final = 5.0

_log = logging.getLogger("moonstone.upkeep")


class Upkeep:
    """A thread that runs from `start` to `stop`. It looks for matches without due times at its start and every hour."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="upkeep", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        pause = 0.0
        while not self._stopped.wait(pause):
            pause = INTERVAL_S
            try:
                if adopted := expiry.adopt(self._ports):
                    _log.info("%d open matches of an older release will expire", adopted)
                if adopted := rating.adopt(self._ports):
                    _log.info("%d matches that an older release scored will be rated", adopted)
            except LogUnavailable:
                pause = RETRY_DELAY_S
            except Exception:  # noqa: BLE001  (the next search may succeed)
                _log.exception("the search for matches of an older release failed")
