"""Hints that a hosted bot is to be called now, from every process to those that make calls, through the queue's server.

A hint may be lost: what is due is in the log, where it is found a little later.
"""

import time
from collections.abc import Callable
from typing import Final

from redis import Redis
from redis.exceptions import RedisError

from events.listener import Listener
from events.record import MatchId

CHANNEL: Final = "moonstone:calls"
_RETRY_DELAY_S: Final = 1.0
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


def listen(client: Redis, receive: Callable[[MatchId], object]) -> Listener:
    """Call `receive` with the match of each hint, in the thread of the listener, until it is stopped."""
    return Listener(client, {CHANNEL: _Receiver(receive)})


class _Receiver:
    """The subscriber of the channel."""

    def __init__(self, receive: Callable[[MatchId], object]) -> None:
        self._receive = receive

    def receive(self, message: bytes) -> None:
        if len(message) <= MAX_ID:
            self._receive(message.decode("ascii", "replace"))

    def messages_missed(self) -> None:
        """What is due is found in the log."""
