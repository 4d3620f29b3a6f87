"""Hints to the workers through RQ. The queue may be lost, wrong or full: due times are in the log, where workers find them by
themselves. So a hint never raises, and costs almost nothing while the queue's server is down.
"""

import logging
import time
from typing import Final, get_args

from redis import BlockingConnectionPool, Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from rq import Queue
from rq.serializers import JSONSerializer

from events.record import MatchId
from service.repository.ports import Lane

LANES: Final[tuple[Lane, ...]] = get_args(Lane)

ADVANCE: Final = "workers.jobs.advance"
JOB_SECONDS: Final = 30
"""The limit of CPU time for a job, in case rules hang; some hundred times what a job needs."""
FAILED_SECONDS: Final = 60
"""How long the queue keeps a failed job."""
HINT_SECONDS: Final = 60
"""Lifetime of a hint. Long before its end, workers have found the match in the log."""
LANE_LENGTH: Final = 200
"""The most hints that wait in a lane. Further matches wait in the log only."""
_RETRY_DELAY_S: Final = 1.0

_log = logging.getLogger("moonstone.jobs")

# KEYS: the match's mark, which holds the id of its last job; the lane; all lanes. ARGV: the lane's limit.
# Returns 1 if no job is needed, because one waits for the match or because the lane is full. A mark of a wrong type, or of
# a job that does not exist, prevents nothing. The script only reads; RQ itself adds jobs.
_IS_UNNEEDED = """
local job = redis.pcall('GET', KEYS[1])
if type(job) == 'string' then
  for lane = 3, #KEYS do
    if type(redis.pcall('LPOS', KEYS[lane], job)) == 'number' then
      return 1
    end
  end
end
local length = redis.pcall('LLEN', KEYS[2])
return type(length) == 'number' and length >= tonumber(ARGV[1]) and 1 or 0
"""


def connect(url: str) -> Redis:
    """A client for hints: with short time-outs and without retries. Create it after a fork."""
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=16,
        timeout=0.5,
        protocol=2,
        socket_timeout=0.5,
        socket_connect_timeout=0.25,
        retry=Retry(NoBackoff(), 0),
    )
    return Redis.from_pool(pool)


def lane_key(lane: Lane) -> str:
    """The key of RQ's list of the jobs that wait in a lane."""
    return f"{Queue.redis_queue_namespace_prefix}{lane}"


class NullJobs:
    """`Jobs` that discards hints: workers find due matches in the log."""

    def hint(self, match_id: MatchId, lane: Lane = "turns") -> None:
        pass


class RqJobs:
    """`Jobs` with at most one waiting job per match, so that jobs do not pile up and delay other matches."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._queues = {lane: Queue(lane, connection=client, serializer=JSONSerializer) for lane in LANES}
        self._is_unneeded = client.register_script(_IS_UNNEEDED)
        self._skip_until = 0.0
        self._failing = False

    def hint(self, match_id: MatchId, lane: Lane = "turns") -> None:
        if time.monotonic() < self._skip_until:
            return
        mark = f"queued:{match_id}"
        try:
            if self._is_unneeded(keys=[mark, lane_key(lane), *map(lane_key, LANES)], args=[LANE_LENGTH]):
                return
            with self._client.pipeline() as pipeline:
                job = self._queues[lane].enqueue_call(
                    ADVANCE,
                    args=[match_id],
                    timeout=JOB_SECONDS,
                    result_ttl=0,
                    failure_ttl=FAILED_SECONDS,
                    ttl=HINT_SECONDS,
                    description=match_id,
                    pipeline=pipeline,
                )
                pipeline.set(mark, job.id, ex=HINT_SECONDS)
                pipeline.execute()
            self._failing = False
        except RedisError as error:
            self._skip_until = time.monotonic() + _RETRY_DELAY_S
            if not self._failing:
                _log.warning("the queue takes no hints; workers find due matches in the log: %s", error)
            self._failing = True
