"""One worker process: jobs in the main thread, for RQ's signals, and the sweeper in a thread of its own."""

import logging
import time
from typing import Final

from redis.exceptions import RedisError
from rq.exceptions import StopRequested

from service.adapters.beat import Beat
from service.container import Service, Unusable, build
from service.settings import BadSetting, Settings
from workers import jobs
from workers.sweeper import Sweeper
from workers.worker import TurnWorker

PAUSE: Final = 0.5

_log = logging.getLogger("moonstone.worker")


def run(settings: Settings) -> int:
    """Work until a signal says stop; the exit code."""
    try:
        service = build(settings, listen=False)
    except (BadSetting, Unusable) as error:
        _log.critical("no worker: %s", error)
        return 1
    work(service)
    return 0


def work(service: Service) -> None:
    jobs.use(service)
    sweeper = Sweeper(service.ports, Beat(service.log_client))
    sweeper.start()
    try:
        _run_jobs(service.settings.queue_url or "")
    finally:
        sweeper.stop()
        service.close()


def _run_jobs(url: str) -> None:
    """RQ's worker ends when its server goes away in mid-job; then a new one takes over."""
    while True:
        try:
            worker = TurnWorker(url)
            worker.work(logging_level="WARNING")
            if worker.stopping:
                return
        except StopRequested:
            return
        except RedisError as error:
            _log.warning("the queue does not answer: %s", error)
        time.sleep(PAUSE)
