"""Hints to the workers through RQ. The queue may be lost whole: what a match is owed stands in the log, and the sweeper
asks again. So a hint never fails, and costs next to nothing while the queue's server is away.
"""

import logging
import time
from contextlib import suppress
from typing import Final, get_args

from redis import BlockingConnectionPool, Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from rq import Queue
from rq.serializers import JSONSerializer

from events.record import MatchId
from service.ports import Lane

LANES: Final[tuple[Lane, ...]] = get_args(Lane)

ADVANCE: Final = "workers.jobs.advance"
JOB_SECONDS: Final = 30
"""The end of a job whose rules hang, in seconds that it computes; some hundred times what one of ours does."""
FAILED_SECONDS: Final = 60
SET_ASIDE_SECONDS: Final = 60
_QUEUED_SECONDS: Final = 3600
_PAUSE: Final = 1.0

_log = logging.getLogger("moonstone.jobs")

# Whether the job that was last put in for a match still waits, or the match is set aside. Reads only: jobs are put in
# by RQ itself.
_WAITS = """
local job = redis.call('GET', KEYS[1])
if job == 'aside' then
  return 1
end
for lane = 2, #KEYS do
  if job and redis.call('LPOS', KEYS[lane], job) then
    return 1
  end
end
return 0
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


def set_aside(client: Redis, match_id: MatchId) -> None:
    """Take no hints for a match that cannot be played on, for a while."""
    with suppress(RedisError):
        client.set(_queued_key(match_id), "aside", ex=SET_ASIDE_SECONDS)


def _queued_key(match_id: MatchId) -> str:
    return f"queued:{match_id}"


class Unheard:
    """`Jobs` that tells nobody: the sweeper finds what is due."""

    def hint(self, match_id: MatchId, lane: Lane = "turns") -> None:
        pass


class RqJobs:
    """`Jobs`: one waiting job a match at most, for jobs that pile up would make people wait."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._queues = {lane: Queue(lane, connection=client, serializer=JSONSerializer) for lane in LANES}
        self._waits = client.register_script(_WAITS)
        self._lists = [f"{Queue.redis_queue_namespace_prefix}{lane}" for lane in LANES]
        self._away_until = 0.0

    def hint(self, match_id: MatchId, lane: Lane = "turns") -> None:
        if time.monotonic() < self._away_until:
            return
        queued = _queued_key(match_id)
        try:
            if self._waits(keys=[queued, *self._lists]):
                return
            with self._client.pipeline() as pipeline:
                job = self._queues[lane].enqueue_call(
                    ADVANCE,
                    args=[match_id],
                    timeout=JOB_SECONDS,
                    result_ttl=0,
                    failure_ttl=FAILED_SECONDS,
                    description=match_id,
                    pipeline=pipeline,
                )
                pipeline.set(queued, job.id, ex=_QUEUED_SECONDS)
                pipeline.execute()
        except RedisError as error:
            self._away_until = time.monotonic() + _PAUSE
            _log.warning("no hint for match %s, the queue does not answer: %s", match_id, error)
