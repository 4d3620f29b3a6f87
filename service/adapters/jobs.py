"""Hints to the workers through RQ. The queue may be lost, wrong or full: what a match is owed stands in the log, where
workers find it by themselves. So a hint never fails, and costs next to nothing while the queue's server is away.
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
"""The end of a job whose rules hang, in seconds that it computes; some hundred times what one of ours does."""
FAILED_SECONDS: Final = 60
HINT_SECONDS: Final = 60
"""Lifetime of a hint: long before that, workers have found in the log what it is about."""
LANE_LENGTH: Final = 200
"""Hints that wait in a lane at most. Further matches wait in the log, where they cost the queue nothing."""
_PAUSE: Final = 1.0

_log = logging.getLogger("moonstone.jobs")

# KEYS: the match's mark, which holds the id of the job that was last put in for it; the lane; all lanes.
# Whether a job need not be put in: one waits for the match, or the lane is full. A mark of a wrong type, or without its
# job, stops nothing. Reads only: jobs are put in by RQ itself.
_SPARED = """
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
    """A client for hints: it gives up soon and sends nothing twice. Make it after a fork."""
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
    """RQ's list of the jobs that wait in a lane."""
    return f"{Queue.redis_queue_namespace_prefix}{lane}"


class NullJobs:
    """`Jobs` that discards hints: workers find what is due."""

    def hint(self, match_id: MatchId, lane: Lane = "turns") -> None:
        pass


class RqJobs:
    """`Jobs`: one waiting job a match at most, for jobs that pile up would make people wait."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._queues = {lane: Queue(lane, connection=client, serializer=JSONSerializer) for lane in LANES}
        self._spared = client.register_script(_SPARED)
        self._away_until = 0.0
        self._failing = False

    def hint(self, match_id: MatchId, lane: Lane = "turns") -> None:
        if time.monotonic() < self._away_until:
            return
        mark = f"queued:{match_id}"
        try:
            if self._spared(keys=[mark, lane_key(lane), *map(lane_key, LANES)], args=[LANE_LENGTH]):
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
            self._away_until = time.monotonic() + _PAUSE
            if not self._failing:
                _log.warning("the queue takes no hints, workers look into the log for all: %s", error)
            self._failing = True
