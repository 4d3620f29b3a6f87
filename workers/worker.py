"""The RQ worker: runs jobs one after another in this process, and only jobs that call an allowed function."""

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

ALLOWED_FUNCTIONS: Final = frozenset({ADVANCE})
"""Without this list, anyone who can write to the queue could call any function that can be imported."""
WORKER_TTL_S: Final = 16
"""With this value RQ waits for a job at most one second at a time."""
MAINTENANCE_INTERVAL_S: Final = 60
"""For RQ's own clean-up after dead workers. No match waits for it."""
HEARTBEAT_INTERVAL: Final = timedelta(seconds=5)
CHECK_INTERVAL_S: Final = 2.0
MAX_CALL_BYTES: Final = 1024
"""Maximum size of the packed call of a job. Our own calls have a tenth of this size."""
ALLOWED_FIELD_VALUES: Final = {
    b"origin": frozenset(lane.encode() for lane in LANES),
    b"status": frozenset(status.value.encode() for status in JobStatus),
}
"""The fields of a job's record that are read, besides its call, and their allowed values."""
MAX_QUOTED_CHARS: Final = 80
"""How much of an untrusted job's content is logged."""
SHUTDOWN_TIMEOUT_S: Final = 1.0

_log = logging.getLogger("moonstone.worker")


class NotAllowed(Exception):
    """A job in the queue calls something that our jobs never call."""


class TurnJob(Job):
    """A job that calls an allowed function with one match id, and does nothing else that its record may ask for.

    Only the call and the lane are read from the record. Time-outs, retries and callbacks in it are ignored.
    """

    def restore(self, raw_data: Mapping[bytes, bytes]) -> None:
        kept = {name: raw_data[name] for name, allowed in ALLOWED_FIELD_VALUES.items() if raw_data.get(name) in allowed}
        super().restore(kept | {b"data": b""})
        self.data = _decompressed(raw_data.get(b"data", b""))
        self.timeout, self.result_ttl, self.failure_ttl = JOB_SECONDS, 0, FAILED_SECONDS

    def perform(self) -> None:
        if self.func_name not in ALLOWED_FUNCTIONS or self.instance or self.kwargs:
            raise NotAllowed(f"{(self.func_name or '')[:MAX_QUOTED_CHARS]!r} is not an allowed function")
        if len(self.args) != 1 or not isinstance(self.args[0], str):
            raise NotAllowed("its argument is not one match id")
        super().perform()

    success_callback = failure_callback = stopped_callback = None

    def send_webhooks(self, *_: object, **__: object) -> None:
        """Disabled: URLs in the queue are not trusted."""


def _decompressed(packed: bytes) -> bytes:
    """The call in RQ's packed form; empty, which is an invalid call, if it is larger than any of ours."""
    decompressor = zlib.decompressobj()
    try:
        call = decompressor.decompress(packed, MAX_CALL_BYTES)
    except zlib.error:
        call = packed[: MAX_CALL_BYTES + 1]
    return call if len(call) < MAX_CALL_BYTES else b""


class NoDeathPenalty(BaseDeathPenalty):
    """No time limit: RQ's own would need the main thread."""

    def setup_death_penalty(self) -> None:
        pass

    def cancel_death_penalty(self) -> None:
        pass


class TurnWorker(SimpleWorker):
    """A `SimpleWorker` that reconnects to a lost server within a second, and takes no commands from it.

    It can run in any thread: only `stop` ends it, it handles no signals, and it sets no time limit for jobs. It calls
    `check` every `CHECK_INTERVAL_S`.
    """

    death_penalty_class = NoDeathPenalty
    exponential_backoff_factor = 1.0
    log_result_lifespan = False

    def __init__(self, url: str, lanes: Sequence[Lane] = LANES, check: Callable[[], object] = lambda: None) -> None:
        self._stopping = False
        self._check = check
        self._check_at = time.monotonic() + CHECK_INTERVAL_S
        client = Redis.from_url(url, protocol=2, socket_connect_timeout=1, retry=Retry(NoBackoff(), 0))
        super().__init__(
            list(lanes),
            connection=client,
            job_class=TurnJob,
            serializer=JSONSerializer,
            worker_ttl=WORKER_TTL_S,
            maintenance_interval=MAINTENANCE_INTERVAL_S,
            log_job_description=False,
        )

    def stop(self) -> None:
        """End after the current job; without a job within two seconds."""
        self._stopping = True

    def _install_signal_handlers(self) -> None:
        """Disabled: the main thread handles signals."""

    def subscribe(self) -> None:
        """Disabled: this worker takes no commands from the queue."""

    def unsubscribe(self) -> None:
        """Disabled, as `subscribe`."""

    def check_for_suspension(self, burst: bool) -> None:
        """Disabled: a key in the queue must not suspend the workers."""

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        if pipeline is None:  # between two jobs, or between two waits for a job
            if self._stopping:
                raise StopRequested
            if time.monotonic() >= self._check_at:
                self._check_at = time.monotonic() + CHECK_INTERVAL_S
                self._check()
        # RQ sends several heartbeats per job, each in three round trips; most of them are skipped here.
        if pipeline is not None or self.last_heartbeat is None or now() - self.last_heartbeat > HEARTBEAT_INTERVAL:
            super().heartbeat(timeout, pipeline)

    def handle_exception(self, job: Job, *exc_info: Any) -> None:
        error = exc_info[1]
        if isinstance(error, NotAllowed | DeserializationError):
            _log.error("job %.80s is refused: %s", job.id, str(error)[: 2 * MAX_QUOTED_CHARS] or "its data is not JSON")
        else:
            _log.error("job %.80s failed", job.id, exc_info=exc_info)

    def handle_job_failure(self, *args: Any, **named: Any) -> None:
        """Record that a job failed, without the exception: its text may contain hidden information of a match."""
        super().handle_job_failure(*args, **{**named, "exc_string": ""})

    def teardown(self) -> None:
        # A short time-out: the only thing left to do is to remove this worker from the queue's list of workers.
        pool = self.connection.connection_pool
        pool.connection_kwargs["socket_timeout"] = SHUTDOWN_TIMEOUT_S
        pool.disconnect()
        pool.reset()
        try:
            super().teardown()  # type: ignore[no-untyped-call]  # RQ's types are not complete
        except RedisError as error:
            _log.warning("the queue does not answer: %s", error)
