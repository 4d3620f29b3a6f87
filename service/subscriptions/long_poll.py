"""Waiting for the next event of a match, once."""

import time
from collections.abc import Callable

from service.match.model import Match
from service.repository.match_history import History
from service.subscriptions.streams import GLANCE, Streams


def wait_for_event(history: History, streams: Streams, match: Match, seconds: float, gone: Callable[[], bool]) -> Match:
    """The match once it has gone on, or as it is after so many seconds, once the client has gone, or the server stops."""
    until = time.monotonic() + seconds
    with streams.feed.waiter() as waiter:
        waiter.follow([match.id])
        while True:
            newest, _ = history.newest(match.id)
            left = until - time.monotonic()
            if newest.head.version != match.head.version or left <= 0 or streams.stopping or gone():
                return newest
            # A wake-up may be lost, so the log is asked now and then without one.
            waiter.wait(min(left, GLANCE))
            waiter.take()
