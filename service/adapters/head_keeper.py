"""Keeps the log's heads each minute and at an orderly end, from a thread of the process that supervises the service.

It hears of each append by the wake-ups of all matches, so that an idle service costs nothing and a busy one reads only the
matches that changed. Where it may have missed some, as at its start, it looks through the whole log once.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from threading import Event, Thread
from typing import Final

from redis import Redis, RedisCluster
from redis.client import PubSub
from redis.exceptions import RedisClusterException, RedisError

from events.log import LogUnavailable
from events.record import MatchId
from events.redis_log import WAKE_CHANNEL
from service.adapters.clock import wall_clock
from service.adapters.heads import Heads, batches, missing, newest_heads, raise_mark, stored_matches

KEEP_SECONDS: Final = 60.0
_TICK: Final = 0.5
"""Seconds between looks at what was heard: messages are taken many at a time."""
_PAUSE: Final = 1.0
_BREATH: Final = 0.005
"""Seconds between the batches of a look through the whole log, in which the server works for others."""

_log = logging.getLogger("moonstone.heads")


class HeadKeeper:
    """A child of the supervisor: it ends after those that append, and before the log's server.

    A thread from `start` to `stop`. It owns the client and the heads from then on.
    """

    name = "heads"

    def __init__(self, client: Redis | RedisCluster, heads: Heads, seconds: float = KEEP_SECONDS) -> None:
        self._client = client
        self._heads = heads
        self._seconds = seconds
        self._changed: set[MatchId] = set()
        self._may_have_missed = True
        self._lost: set[MatchId] = set()
        self._due = 0.0
        self._away = False
        self._ending = Event()
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="heads", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def has_ended(self) -> bool:
        return False

    def bid_end(self) -> None:
        """Keep heads now, while the others end; a log that does not answer then is not asked again."""
        self._due = 0.0
        self._ending.set()

    def stop(self) -> None:
        """Keep what came since."""
        self.bid_end()
        self._stopped.set()
        self._thread.join()
        self._client.close()
        self._heads.close()

    def _run(self) -> None:
        while True:
            try:
                self._listen()
            except (LogUnavailable, RedisError, RedisClusterException) as error:
                self._report(error)
                pause = _PAUSE
            except Exception as error:  # noqa: BLE001  (such as a full disk, which may pass)
                self._report(error)
                pause = self._seconds
            else:
                return
            if self._ending.wait(pause):
                return

    def _report(self, error: Exception) -> None:
        if not self._away:
            _log.warning("the log's heads are not kept; trying again", exc_info=error)
        self._away = True

    def _listen(self) -> None:
        """Hear of appends and keep heads, until the end."""
        subscription: PubSub = self._client.pubsub()  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
        with subscription:
            subscription.psubscribe(f"{WAKE_CHANNEL}*")
            while True:
                last = self._stopped.is_set()
                self._hear(subscription)
                if last or time.monotonic() >= self._due:
                    self._due = time.monotonic() + self._seconds
                    self._keep()
                if last:
                    return
                (self._stopped if self._ending.is_set() else self._ending).wait(_TICK)

    def _hear(self, subscription: PubSub) -> None:
        while (message := subscription.get_message(timeout=0)) is not None:
            if message["type"] == "psubscribe":  # also on a new connection, after a time without one
                self._may_have_missed = True
            else:
                self._changed.add(message["channel"].decode().removeprefix(WAKE_CHANNEL))

    def _keep(self) -> None:
        mark = raise_mark(self._client)
        if self._may_have_missed:
            self._may_have_missed = not self._looked_through(mark)
        changed = tuple(self._changed)
        for some in batches(changed):
            self._look_at(some, mark)
        self._changed.difference_update(changed)
        self._heads.settle(mark, wall_clock())
        self._away = False

    def _looked_through(self, mark: int) -> bool:
        """Look at all matches; False if the end came first, for the next start does it again."""
        for number, some in enumerate(batches(self._all_matches())):
            if number and self._ending.wait(_BREATH):
                return False
            self._look_at(some, mark)
        return True

    def _all_matches(self) -> Iterator[MatchId]:
        """Those of the log, and those that it lost."""
        seen = set()
        for match in stored_matches(self._client):
            seen.add(match)
            yield match
        yield from (match for match, _ in self._heads.newest() if match not in seen)

    def _look_at(self, matches: Sequence[MatchId], mark: int) -> None:
        """Keep the heads of some matches. One that the log does not hold any more is reported, and stays as it was kept."""
        newest = newest_heads(self._client, matches)
        kept = self._heads.of(matches)
        passed = ((match, head) for match, head in kept.items() if newest.get(match) != head)
        lost = {one.match for one in missing(self._client, passed)}
        self._heads.keep(
            {match: head for match, head in newest.items() if kept.get(match) != head and match not in lost}, mark
        )
        for match in lost - self._lost:
            _log.critical("match %s lost events that the log held: run `moonstone check`", match)
        self._lost |= lost
