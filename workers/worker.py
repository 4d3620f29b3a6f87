"""The RQ worker: runs jobs one after another in this process, and only those that are on its list."""

import logging
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from redis import Redis
from redis.backoff import NoBackoff
from redis.client import Pipeline
from redis.exceptions import RedisError
from redis.retry import Retry
from rq.exceptions import DeserializationError, StopRequested
from rq.job import Job, JobStatus
from rq.serializers import JSONSerializer
from rq.timeouts import BaseDeathPenalty
from rq.utils import now
from rq.worker import SimpleWorker

from service.adapters.jobs import ADVANCE, FAILED_SECONDS, JOB_SECONDS, LANES
from service.repository.ports import Lane

ALLOWED: Final = frozenset({ADVANCE})
"""Whoever writes to the queue could else call any function that can be imported."""
WORKER_TTL: Final = 16
"""Seconds; RQ then waits for a job one second at a time."""
MAINTENANCE: Final = 60
"""Seconds; RQ's own clean-up of what died workers left. No match waits for it."""
HEARTBEAT: Final = timedelta(seconds=5)
LOOK_S: Final = 2.0
MAX_DATA: Final = 1024
"""Bytes; what a job of ours calls takes a tenth of it."""
KNOWN: Final = {
    b"origin": frozenset(lane.encode() for lane in LANES),
    b"status": frozenset(status.value.encode() for status in JobStatus),
}
"""All that a job's record may say of itself, besides its call."""
MAX_TOLD: Final = 80
"""Characters of what a stranger may have put into the queue."""
FAREWELL: Final = 1.0
"""Seconds."""

_log = logging.getLogger("moonstone.worker")


class NotAllowed(Exception):
    """A job in the queue asks for what no job of ours asks for."""


class TurnJob(Job):
    """A job that runs a function of the list on one match id, and nothing else that its record may name.

    Of the record only that call is read, and where it waited: how long, how often and with what else is not for it to say.
    """

    def restore(self, raw_data: Mapping[bytes, bytes]) -> None:
        kept = {name: raw_data[name] for name, known in KNOWN.items() if raw_data.get(name) in known}
        super().restore(kept | {b"data": b""})
        self.data = _inflated(raw_data.get(b"data", b""))
        self.timeout, self.result_ttl, self.failure_ttl = JOB_SECONDS, 0, FAILED_SECONDS

    def perform(self) -> None:
        if self.func_name not in ALLOWED or self.instance or self.kwargs:
            raise NotAllowed(f"{(self.func_name or '')[:MAX_TOLD]!r} is not on the list")
        if len(self.args) != 1 or not isinstance(self.args[0], str):
            raise NotAllowed("it names no match")
        super().perform()

    success_callback = failure_callback = stopped_callback = None

    def send_webhooks(self, *_: object, **__: object) -> None:
        """None are sent: a URL in the queue is a stranger's."""


def _inflated(packed: bytes) -> bytes:
    """RQ's packed form of a call; nothing where it would be larger than any of ours, which is then no call."""
    unpacking = zlib.decompressobj()
    try:
        call = unpacking.decompress(packed, MAX_DATA)
    except zlib.error:
        call = packed[: MAX_DATA + 1]
    return call if len(call) < MAX_DATA else b""


class NoDeathPenalty(BaseDeathPenalty):
    """RQ's own would need the main thread."""

    def setup_death_penalty(self) -> None:
        pass

    def cancel_death_penalty(self) -> None:
        pass


class TurnWorker(SimpleWorker):
    """A `SimpleWorker` that waits no longer than a second for a server that went away, and takes no orders from it.

    It may work in any thread: `stop` ends it, no signal does, and what limits a job's time is not its affair. It calls
    `look` every few seconds.
    """

    death_penalty_class = NoDeathPenalty
    exponential_backoff_factor = 1.0
    log_result_lifespan = False

    def __init__(self, url: str, lanes: Sequence[Lane] = LANES, look: Callable[[], object] = lambda: None) -> None:
        self._stopping = False
        self._look = look
        self._look_at = time.monotonic() + LOOK_S
        client = Redis.from_url(url, protocol=2, socket_connect_timeout=1, retry=Retry(NoBackoff(), 0))
        super().__init__(
            list(lanes),
            connection=client,
            job_class=TurnJob,
            serializer=JSONSerializer,
            worker_ttl=WORKER_TTL,
            maintenance_interval=MAINTENANCE,
            log_job_description=False,
        )

    def stop(self) -> None:
        """End after the job that is under way, or within two seconds."""
        self._stopping = True

    def _install_signal_handlers(self) -> None:
        """Not at all."""

    def subscribe(self) -> None:
        """Not at all."""

    def unsubscribe(self) -> None:
        """Not at all."""

    def check_for_suspension(self, burst: bool) -> None:
        """Not at all."""

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        if pipeline is None:  # between two jobs, or two waits for one
            if self._stopping:
                raise StopRequested
            if time.monotonic() >= self._look_at:
                self._look_at = time.monotonic() + LOOK_S
                self._look()
        # RQ beats several times a job, each in three round trips.
        if pipeline is not None or self.last_heartbeat is None or now() - self.last_heartbeat > HEARTBEAT:
            super().heartbeat(timeout, pipeline)

    def handle_exception(self, job: Job, *exc_info: Any) -> None:
        error = exc_info[1]
        if isinstance(error, NotAllowed | DeserializationError):
            _log.error("job %.80s is refused: %s", job.id, str(error)[: 2 * MAX_TOLD] or "its data is not JSON")
        else:
            _log.error("job %.80s failed", job.id, exc_info=exc_info)

    def handle_job_failure(self, *args: Any, **named: Any) -> None:
        """The queue keeps that a job failed; with what, nobody, for an exception's text may tell what is hidden."""
        super().handle_job_failure(*args, **{**named, "exc_string": ""})

    def teardown(self) -> None:
        # A queue that hangs is not waited for as long as for a job: all that is left is to say goodbye to it.
        pool = self.connection.connection_pool
        pool.connection_kwargs["socket_timeout"] = FAREWELL
        pool.disconnect()
        pool.reset()
        try:
            super().teardown()  # type: ignore[no-untyped-call]  # RQ's types are not complete
        except RedisError as error:
            _log.warning("the queue does not answer: %s", error)
