"""Delivers pub/sub messages of a Valkey or Redis server to the subscribers in this process."""

import logging
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from threading import Event, Thread
from types import MappingProxyType
from typing import Any, Final, Protocol

from redis import Redis, RedisCluster
from redis.client import PubSub
from redis.exceptions import RedisClusterException, RedisError
from redis.exceptions import TimeoutError as Silent

from events.feed import UNSUBSCRIBE_AFTER_S, Feed
from events.redis_log import WAKE_CHANNEL

_log = logging.getLogger("moonstone.feed")

_POLL_S: Final = 0.25
_RETRY_DELAY_S = 0.5


class Subscriber(Protocol):
    """Takes the messages of one channel. Called in the listener's thread, so it must be quick and must not raise."""

    def receive(self, message: bytes) -> None: ...

    def messages_missed(self) -> None:
        """Messages may have been missed until now. Called after every new subscription, also after the first."""
        ...


class Listener:
    """Delivers the messages of some channels to their subscribers from its own thread, across restarts of the server.

    It holds one connection of the client's pool. Create it after a fork.
    """

    def __init__(
        self,
        client: Redis | RedisCluster,
        subscribers: Mapping[str, Subscriber] = MappingProxyType({}),
        feed: Feed | None = None,
    ) -> None:
        self._client = client
        self._subscribers = subscribers
        self._feed = feed
        self._own_channel = f"bell:{secrets.token_hex(8)}"
        self._unsubscribed_at = time.monotonic()
        self._stopped = Event()
        if feed is not None:
            feed.attach(self._wake_thread)
        self._thread = Thread(target=self._run, name="listener", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread. Takes up to the client's time-outs if the server does not answer."""
        self._stopped.set()
        self._thread.join()

    def _wake_thread(self) -> None:
        """End the thread's wait for a message by publishing one to it: only that thread may use its connection.

        If publishing fails, the thread still checks for new matches within `_POLL_S`.
        """
        with suppress(RedisError, RedisClusterException):
            self._client.publish(self._own_channel, b"")

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._listen()
            except (RedisError, RedisClusterException):
                self._stopped.wait(_RETRY_DELAY_S)
            except Exception:  # noqa: BLE001  (all streams depend on this thread; a new subscription makes them read the log)
                _log.exception("a message could not be handled; subscribing again")
                self._stopped.wait(_RETRY_DELAY_S)

    def _listen(self) -> None:
        subscription: PubSub = self._client.pubsub()  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
        with subscription:
            subscription.subscribe(self._own_channel, *self._subscribers)
            if self._feed is not None:
                self._feed.resubscribe()
            while not self._stopped.is_set():
                if self._feed is not None:
                    self._update_subscriptions(subscription, self._feed)
                if (message := _next_message(subscription)) is not None:
                    self._deliver(message["channel"].decode(), message["type"], message["data"])

    def _update_subscriptions(self, subscription: PubSub, feed: Feed) -> None:
        if new := feed.to_subscribe():
            subscription.subscribe(*(WAKE_CHANNEL + match for match in new))
        if time.monotonic() - self._unsubscribed_at > UNSUBSCRIBE_AFTER_S / 3:
            self._unsubscribed_at = time.monotonic()
            for unused in feed.to_unsubscribe():
                subscription.unsubscribe(WAKE_CHANNEL + unused)  # type: ignore[no-untyped-call]

    def _deliver(self, channel: str, kind: str, message: bytes) -> None:
        if (subscriber := self._subscribers.get(channel)) is not None:
            if kind == "subscribe":
                subscriber.messages_missed()
            else:
                subscriber.receive(message)
        elif self._feed is not None and channel.startswith(WAKE_CHANNEL):
            match = channel.removeprefix(WAKE_CHANNEL)
            if kind == "subscribe":
                self._feed.subscribed(match)
            elif kind == "message":
                self._feed.receive(match, message)


def _next_message(subscription: PubSub) -> Mapping[str, Any] | None:
    """The next message; None if there is none within `_POLL_S`.

    redis-py's own `get_message` polls the socket twice before it reads, which costs more than the rest of a message.

    Raises:
        RedisError: the connection is lost.
    """
    connection: Any = subscription.connection
    try:
        response = connection.read_response(timeout=_POLL_S, disconnect_on_error=False)
    except Silent:
        subscription.check_health()
        return None
    if subscription.is_health_check_response(response):
        subscription.health_check_response_counter -= 1
        return None
    message: Mapping[str, Any] | None = subscription.handle_message(response)  # type: ignore[no-untyped-call]
    return message
