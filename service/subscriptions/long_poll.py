"""Long polling: waits for the next event of a match."""

import time
from collections.abc import Callable

from service.match.model import Match
from service.repository.match_history import History
from service.subscriptions.streams import HANG_UP_CHECK_S, Streams


def wait_for_event(
    history: History, streams: Streams, match: Match, seconds: float, hung_up: Callable[[], bool]
) -> Match:
    """The match after its next event.

    Returns the unchanged match after `seconds`, or once the client has hung up or the server stops.
    """
    until = time.monotonic() + seconds
    with streams.feed.waiter() as waiter:
        waiter.follow([match.id])
        while True:
            newest, _ = history.newest(match.id)
            left = until - time.monotonic()
            if newest.head.version != match.head.version or left <= 0 or streams.stopping or hung_up():
                return newest
            # A wake-up may be lost, so the log is also read without one.
            waiter.wait(min(left, HANG_UP_CHECK_S))
            waiter.take()
