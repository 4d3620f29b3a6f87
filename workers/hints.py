"""The thread of a worker that takes hints from the queue. Faults of the queue delay nothing but this thread."""

import logging
from collections.abc import Sequence
from threading import Event, Thread
from typing import Final

from redis import Redis
from redis.exceptions import RedisError

from service.adapters import queue_health
from service.adapters.queue_health import FAULT_MESSAGES, Fault
from service.observability import metrics
from service.repository.ports import Lane
from workers.worker import TurnWorker

RETRY_DELAY_S: Final = 0.5
STOP_TIMEOUT_S: Final = 3.0

_log = logging.getLogger("moonstone.hints")


class HintTaker:
    """A thread that runs from `start` to `stop`, with one RQ worker after the other.

    Damaged entries in the queue can end RQ's worker. Then a new one takes over. If the server itself works, all keys of
    our queue are deleted first, because the next worker would fail on them too.
    """

    def __init__(self, url: str, client: Redis, lanes: Sequence[Lane]) -> None:
        self._url = url
        self._client = client
        self._lanes = lanes
        self._stopped = Event()
        self._worker: TurnWorker | None = None
        self._fault: Fault | None = None
        self._thread = Thread(target=self._run, name="hints", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End after the current job. If the queue hangs, return after `STOP_TIMEOUT_S`; the thread is a daemon."""
        self._stopped.set()
        if self._worker is not None:
            self._worker.stop()
        self._thread.join(STOP_TIMEOUT_S)

    def _run(self) -> None:
        while not self._stopped.is_set():
            if self._check_queue() is None:
                self._work()
            self._stopped.wait(RETRY_DELAY_S)

    def _work(self) -> None:
        try:
            self._worker = TurnWorker(self._url, self._lanes, self._check_queue)
            if self._stopped.is_set():
                return
            self._worker.work(logging_level="WARNING")
        except RedisError as error:
            _log.debug("RQ's worker cannot continue: %s", error)
        except Exception:  # noqa: BLE001  (damaged entries may raise anything; the next worker tries again)
            _log.exception("RQ's worker failed")
        if not self._stopped.is_set() and queue_health.fault(self._client) is None:
            self._repair("damaged")  # the server works, so the cause is in the queue's content

    def _check_queue(self) -> Fault | None:
        """Report the queue's fault and repair it if possible. RQ's worker calls this too, while it works."""
        fault = queue_health.fault(self._client)
        if fault != self._fault:
            _log.warning("%s", "the queue can be used again" if fault is None else FAULT_MESSAGES[fault])
        self._fault = fault
        metrics.QUEUE_USABLE.labels(self._lanes[0]).set(fault is None)
        if fault is not None:
            self._repair(fault)
        return fault

    def _repair(self, fault: Fault) -> None:
        try:
            if fault == "damaged":
                queue_health.delete_all(self._client)
                metrics.QUEUE_REPAIRS.labels("hints").inc()
                _log.warning("all hints were deleted, because the queue held damaged entries")
            elif fault == "full" and (deleted := queue_health.delete_stale_marks(self._client)):
                metrics.QUEUE_REPAIRS.labels("marks").inc()
                _log.warning("%d marks without an expiry were deleted from the full queue", deleted)
        except RedisError as error:
            _log.warning("the queue cannot be repaired: %s", error)
