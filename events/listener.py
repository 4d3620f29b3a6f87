"""The messages of a Valkey or Redis server, brought to those who listen for them in this process."""

import logging
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from threading import Event, Thread
from types import MappingProxyType
from typing import Any, Protocol

from redis import Redis, RedisCluster
from redis.client import PubSub
from redis.exceptions import RedisClusterException, RedisError
from redis.exceptions import TimeoutError as Silent

from events.feed import KEPT, Feed
from events.redis_log import WAKE_CHANNEL

_log = logging.getLogger("moonstone.feed")

_POLL = 0.25
_PAUSE = 0.5


class Hearer(Protocol):
    """Takes the messages of one channel, in the listener's thread: quickly, and without raising."""

    def hear(self, message: bytes) -> None: ...

    def lapse(self) -> None:
        """Messages may have been missed until now; called before the first one too."""
        ...


class Listener:
    """Brings the messages of some channels to their hearers, from a thread of its own, across restarts of the server.

    It holds one connection of the client's pool. Make it after a fork.
    """

    def __init__(
        self,
        client: Redis | RedisCluster,
        hearers: Mapping[str, Hearer] = MappingProxyType({}),
        feed: Feed | None = None,
    ) -> None:
        self._client = client
        self._hearers = hearers
        self._feed = feed
        self._bell = f"bell:{secrets.token_hex(8)}"
        self._looked = time.monotonic()
        self._stopped = Event()
        if feed is not None:
            feed.attach(self._ring)
        self._thread = Thread(target=self._run, name="listener", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; takes up to the client's time-outs where the server does not answer."""
        self._stopped.set()
        self._thread.join()

    def _ring(self) -> None:
        """Wake the thread, which waits for messages: only it may use its connection. Where that fails it looks soon anyway."""
        with suppress(RedisError, RedisClusterException):
            self._client.publish(self._bell, b"")

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._listen()
            except (RedisError, RedisClusterException):
                self._stopped.wait(_PAUSE)
            except Exception:  # noqa: BLE001  (all streams depend on this thread; subscribed again, they look anew)
                _log.exception("news were not understood; listening anew")
                self._stopped.wait(_PAUSE)

    def _listen(self) -> None:
        subscription: PubSub = self._client.pubsub()  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
        with subscription:
            subscription.subscribe(self._bell, *self._hearers)
            if self._feed is not None:
                self._feed.lapse()
            while not self._stopped.is_set():
                if self._feed is not None:
                    self._tune(subscription, self._feed)
                if (message := _next(subscription)) is not None:
                    self._pass_on(message["channel"].decode(), message["type"], message["data"])

    def _tune(self, subscription: PubSub, feed: Feed) -> None:
        if asked := feed.asked():
            subscription.subscribe(*(WAKE_CHANNEL + match for match in asked))
        if time.monotonic() - self._looked > KEPT / 3:
            self._looked = time.monotonic()
            if left := feed.left():
                subscription.unsubscribe(*(WAKE_CHANNEL + match for match in left))  # type: ignore[no-untyped-call]

    def _pass_on(self, channel: str, kind: str, message: bytes) -> None:
        if (hearer := self._hearers.get(channel)) is not None:
            if kind == "subscribe":
                hearer.lapse()
            else:
                hearer.hear(message)
        elif self._feed is not None and channel.startswith(WAKE_CHANNEL):
            match = channel.removeprefix(WAKE_CHANNEL)
            if kind == "subscribe":
                self._feed.hearing(match)
            elif kind == "message":
                self._feed.hear(match, message)


def _next(subscription: PubSub) -> Mapping[str, Any] | None:
    """The next message, None if there is none for a while.

    redis-py's own `get_message` polls the socket twice before it reads, which costs more than all else that a message does.

    Raises:
        RedisError: the connection is lost.
    """
    connection: Any = subscription.connection
    try:
        response = connection.read_response(timeout=_POLL, disconnect_on_error=False)
    except Silent:
        subscription.check_health()
        return None
    if subscription.is_health_check_response(response):
        subscription.health_check_response_counter -= 1
        return None
    message: Mapping[str, Any] | None = subscription.handle_message(response)  # type: ignore[no-untyped-call]
    return message
