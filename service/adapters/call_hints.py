"""Hints that a hosted bot is to be called now, from every process to those that make calls, through the queue's server.

A hint may be lost: what is due is in the log, where it is found a little later.
"""

import time
from collections.abc import Callable
from threading import Event, Thread
from typing import Final

from redis import Redis
from redis.exceptions import RedisError

from events.record import MatchId

CHANNEL: Final = "moonstone:calls"
_RETRY_DELAY_S: Final = 1.0
_READ_TIMEOUT_S: Final = 0.5
MAX_ID: Final = 64
"""The longest id of a match. Anyone who can reach the queue's server can send hints."""


class CallHints:
    """Sends hints; costs almost nothing while the queue's server is down."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._skip_until = 0.0

    def send(self, match_id: MatchId) -> None:
        if time.monotonic() < self._skip_until:
            return
        try:
            self._client.publish(CHANNEL, match_id)
        except RedisError:
            self._skip_until = time.monotonic() + _RETRY_DELAY_S


class CallHintListener:
    """Calls `receive` with the match of each hint, in a thread of its own, from `start` to `stop`."""

    def __init__(self, client: Redis, receive: Callable[[MatchId], object]) -> None:
        self._client = client
        self._receive = receive
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="call-hints", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                with self._client.pubsub(ignore_subscribe_messages=True) as channel:  # type: ignore[no-untyped-call]
                    channel.subscribe(CHANNEL)
                    while not self._stopped.is_set():
                        message = channel.get_message(timeout=_READ_TIMEOUT_S)
                        if message is not None and len(message["data"]) <= MAX_ID:
                            self._receive(message["data"].decode("ascii", "replace"))
            except RedisError:
                self._stopped.wait(_RETRY_DELAY_S)
