"""Saves the log's heads every minute and at an orderly shutdown, in a thread of the supervisor's process.

It subscribes to the wake-ups of all matches, so an idle service costs nothing, and only changed matches are read. When it
may have missed messages, as at its start, it reads the whole log once.
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

SAVE_INTERVAL_S: Final = 60.0
_RECEIVE_INTERVAL_S: Final = 0.5
"""Between two reads of messages; each read takes all that have arrived."""
_RETRY_DELAY_S: Final = 1.0
_BATCH_PAUSE_S: Final = 0.005
"""Between two batches of a scan of the whole log, so that the server can serve others."""

_log = logging.getLogger("moonstone.heads")


class HeadKeeper:
    """A child of the supervisor, which stops it after the processes that append and before the log's server.

    Its thread runs from `start` to `stop`. It owns the client and the heads, and closes them.
    """

    name = "heads"

    def __init__(self, client: Redis | RedisCluster, heads: Heads, interval_s: float = SAVE_INTERVAL_S) -> None:
        self._client = client
        self._heads = heads
        self._interval_s = interval_s
        self._changed: set[MatchId] = set()
        self._needs_scan = True
        self._lost: set[MatchId] = set()
        self._save_at = 0.0
        self._failing = False
        self._ending = Event()
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="heads", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def has_ended(self) -> bool:
        return False

    def request_stop(self) -> None:
        """Save heads now, while the other children end. If the log does not answer, it is not tried again."""
        self._save_at = 0.0
        self._ending.set()

    def stop(self) -> None:
        """Save the heads that changed since, and end the thread."""
        self.request_stop()
        self._stopped.set()
        self._thread.join()
        self._client.close()
        self._heads.close()

    def _run(self) -> None:
        while True:
            try:
                self._listen()
            except (LogUnavailable, RedisError, RedisClusterException) as error:
                self._report("the log is not available, so its heads cannot be saved (%s)", type(error).__name__)
                pause = _RETRY_DELAY_S
            except Exception as error:  # noqa: BLE001  (for example a full disk, which may be temporary)
                self._report("the log's heads cannot be saved", error=error)
                pause = self._interval_s
            else:
                return
            if self._ending.wait(pause):
                return

    def _report(self, fault: str, *facts: str, error: Exception | None = None) -> None:
        """Log the first failure in a row. Only an unexpected `error` is logged with its traceback."""
        if not self._failing:
            then = "the next start reads the whole log" if self._ending.is_set() else "trying again"
            _log.warning(f"{fault}; {then}", *facts, exc_info=error)
        self._failing = True

    def _listen(self) -> None:
        """Receive wake-ups and save heads until `stop`."""
        subscription: PubSub = self._client.pubsub()  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
        with subscription:
            subscription.psubscribe(f"{WAKE_CHANNEL}*")
            while True:
                is_last = self._stopped.is_set()
                self._receive(subscription)
                if is_last or time.monotonic() >= self._save_at:
                    self._save_at = time.monotonic() + self._interval_s
                    self._save()
                if is_last:
                    return
                (self._stopped if self._ending.is_set() else self._ending).wait(_RECEIVE_INTERVAL_S)

    def _receive(self, subscription: PubSub) -> None:
        while (message := subscription.get_message(timeout=0)) is not None:
            if message["type"] == "psubscribe":  # also after each reconnect
                self._needs_scan = True
            else:
                self._changed.add(message["channel"].decode().removeprefix(WAKE_CHANNEL))

    def _save(self) -> None:
        mark = raise_mark(self._client)
        if self._needs_scan:
            self._needs_scan = not self._scan(mark)
        changed = tuple(self._changed)
        for batch in batches(changed):
            self._save_heads(batch, mark)
        self._changed.difference_update(changed)
        self._heads.record_mark(mark, wall_clock())
        self._failing = False

    def _scan(self, mark: int) -> bool:
        """Save the heads of all matches; False if the shutdown began first. The next start then scans again."""
        for number, batch in enumerate(batches(self._all_matches())):
            if number and self._ending.wait(_BATCH_PAUSE_S):
                return False
            self._save_heads(batch, mark)
        return True

    def _all_matches(self) -> Iterator[MatchId]:
        """The matches of the log, and those that it lost."""
        seen = set()
        for match in stored_matches(self._client):
            seen.add(match)
            yield match
        yield from (match for match, _ in self._heads.newest() if match not in seen)

    def _save_heads(self, matches: Sequence[MatchId], mark: int) -> None:
        """Save the heads of some matches. If the log no longer holds a saved head, report it and leave that head as it is."""
        newest = newest_heads(self._client, matches)
        kept = self._heads.of(matches)
        changed = ((match, head) for match, head in kept.items() if newest.get(match) != head)
        lost = {one.match for one in missing(self._client, changed)}
        self._heads.keep(
            {match: head for match, head in newest.items() if kept.get(match) != head and match not in lost}, mark
        )
        for match in lost - self._lost:
            _log.critical("match %s lost events that the log held: run `moonstone check`", match)
        self._lost |= lost
