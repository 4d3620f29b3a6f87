"""The thread of a worker that takes hints from the queue. However wrong the queue is, it holds nothing else up."""

import logging
from collections.abc import Sequence
from threading import Event, Thread
from typing import Final

from redis import Redis
from redis.exceptions import RedisError

from service.adapters import queue_health
from service.adapters.queue_health import SENTENCES, Fault
from service.observability import metrics
from service.repository.ports import Lane
from workers.worker import TurnWorker

PAUSE_S: Final = 0.5
STOP_S: Final = 3.0

_log = logging.getLogger("moonstone.hints")


class HintTaker:
    """A thread from `start` to `stop`, with one RQ worker after the other.

    RQ's worker ends at much of what it may find in a queue. Then a new one takes over; where the server itself is well,
    what lies there under our names is thrown away first, for the next worker would end by it too.
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
        """End after the job that is under way. A queue that hangs is not waited for: the thread ends with the process."""
        self._stopped.set()
        if self._worker is not None:
            self._worker.stop()
        self._thread.join(STOP_S)

    def _run(self) -> None:
        while not self._stopped.is_set():
            if self._look() is None:
                self._work()
            self._stopped.wait(PAUSE_S)

    def _work(self) -> None:
        try:
            self._worker = TurnWorker(self._url, self._lanes, self._look)
            if self._stopped.is_set():
                return
            self._worker.work(logging_level="WARNING")
        except RedisError as error:
            _log.debug("RQ's worker cannot go on: %s", error)
        except Exception:  # noqa: BLE001  (whatever lies in the queue, the next worker tries again)
            _log.exception("RQ's worker failed")
        if not self._stopped.is_set() and queue_health.fault(self._client) is None:
            self._mend("damaged")  # the server is well, so it is what lies there

    def _look(self) -> Fault | None:
        """What is wrong with the queue; what can be mended is mended. RQ's worker calls it too, while it works."""
        fault = queue_health.fault(self._client)
        if fault != self._fault:
            _log.warning("%s", "the queue can be used again" if fault is None else SENTENCES[fault])
        self._fault = fault
        metrics.QUEUE_USABLE.labels(self._lanes[0]).set(fault is None)
        if fault is not None:
            self._mend(fault)
        return fault

    def _mend(self, fault: Fault) -> None:
        try:
            if fault == "damaged":
                queue_health.forget(self._client)
                metrics.QUEUE_REPAIRS.labels("hints").inc()
                _log.warning("all hints were thrown away, for the queue held what is no hint")
            elif fault == "full" and (deleted := queue_health.make_room(self._client)):
                metrics.QUEUE_REPAIRS.labels("marks").inc()
                _log.warning("%d marks without an expiry were deleted from the full queue", deleted)
        except RedisError as error:
            _log.warning("the queue cannot be mended: %s", error)
