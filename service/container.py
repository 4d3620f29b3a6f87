"""Builds the ports of the use cases on the servers that the settings name. Each process does this once, after a fork."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from redis import Redis, RedisCluster
from redis.exceptions import RedisClusterException, RedisError

from events.feed import Feed as Feed
from events.listener import Listener, Subscriber
from events.log import LogUnavailable as LogUnavailable
from events.redis_log import RedisLog, check_durability, connect, connect_cluster
from events.redis_pool import ReadBatcher
from service.adapters import account_cache, accounts, beat, jobs, queue_health, rating_cache, store, tickets
from service.adapters.bot_tasks import RedisBotTasks
from service.adapters.bots import RedisBots
from service.adapters.call_hints import CallHints
from service.adapters.clock import wall_clock
from service.adapters.clock_watch import ClockWatch, disagreement, offset_ms
from service.adapters.local_limits import LocalLimits
from service.adapters.match_index import RedisIndex
from service.adapters.news import RedisNews
from service.adapters.ratings import RedisRatings
from service.adapters.seeks import RedisSeeks
from service.adapters.shared_limits import SharedLimits
from service.adapters.token_uses import UsesWriter
from service.adapters.webhooks import RedisWebhooks
from service.games.registry import GAMES
from service.repository.match_history import History
from service.repository.ports import Games
from service.repository.ports import Ports as Ports
from service.settings import Settings, servers

CLUSTER: Final = "cluster"

LogClient: TypeAlias = Redis | RedisCluster
SERVER_FAULTS: Final = (RedisError, RedisClusterException)
"""The errors of a Redis client that is used directly, not through the log."""


class Unusable(Exception):
    """The log's server cannot or must not be used now; the text says why."""


@dataclass(frozen=True, slots=True)
class Service:
    """Everything that a process of the service needs."""

    settings: Settings
    ports: Ports
    feed: Feed
    log_client: LogClient
    queue_client: Redis
    clock_watch: ClockWatch
    _store: store.Store
    _threads: tuple[Listener | ReadBatcher | SharedLimits | ClockWatch | UsesWriter, ...]

    def readiness(self) -> tuple[str, ...]:
        """The reasons why this process should get no requests; empty if it is ready."""
        try:
            wrong = store.fault(self.log_client, self._store)
            weak = () if self.settings.allow_volatile else check_durability(self.log_client)
            clock = disagreement(offset_ms(self.log_client))
        except LogUnavailable as error:
            return (f"the log is not available: {error.reason}",)
        return tuple(fault for fault in (wrong, *weak, clock) if fault is not None)

    def clock_fault(self) -> str | None:
        """How this process's clock differs from the log's; None if they agree. Usually it asks no server.

        Raises:
            LogUnavailable: the server does not answer a check that is needed at once.
        """
        return self.clock_watch.fault()

    def warnings(self) -> tuple[str, ...]:
        """Faults that an operator should fix although the process is ready: without the queue, bots are 0.5 s slower."""
        fault = queue_health.fault(self.queue_client)
        return () if fault is None else (queue_health.FAULT_MESSAGES[fault],)

    def store_uses(self) -> None:
        """Store the last uses of tokens, for the last time before the process ends."""
        for thread in self._threads:
            if isinstance(thread, UsesWriter):
                thread.stop()

    def close(self) -> None:
        self.feed.close()
        for thread in self._threads:
            thread.stop()
        self.log_client.close()
        self.queue_client.close()


def build(settings: Settings, *, games: Games = GAMES, listen: bool = True) -> Service:
    """Build the service on its servers. A process without streams, such as a worker, does not need to `listen`.

    Raises:
        BadSetting: a server's URL is missing.
        Unusable: the log's server holds another store or no longer a store, is not durable, or does not answer.
    """
    log_url, queue_url = servers(settings)
    try:
        log_client = connect_log(log_url)
        opened = _open(log_client, settings)
        RedisLog(log_client).load()
    except LogUnavailable as error:
        raise Unusable(f"the log at {_address(log_url)} is not available: {error.reason}") from error
    if isinstance(log_client, Redis):
        store.check_on_connect(log_client, opened)
    feed = Feed()
    cached_accounts, cached_ratings = accounts.RedisAccounts(log_client), RedisRatings(log_client)
    caches: Mapping[str, Subscriber] = {
        account_cache.CHANNEL: cached_accounts.cache,
        rating_cache.CHANNEL: cached_ratings.cache,
    }
    queue_client = jobs.connect(queue_url)
    batcher = ReadBatcher(log_client) if listen and isinstance(log_client, Redis) else None
    ports = replace(
        ports_on(log_client, opened, games, batcher, optimistic=listen),
        accounts=cached_accounts,
        ratings=cached_ratings,
        tickets=tickets.RedisTickets(queue_client, opened.secret),
        jobs=jobs.RqJobs(queue_client),
        hint_call=CallHints(queue_client).send,
    )
    shared = SharedLimits(queue_client, settings.api_workers) if listen else None
    if shared is not None:
        ports = replace(ports, limits=shared)
    listener = Listener(log_client, caches, feed) if listen else None
    watch = ClockWatch(log_client)
    uses = UsesWriter(cached_accounts.store_uses) if listen else None
    threads = tuple(thread for thread in (batcher, listener, shared, watch, uses) if thread is not None)
    return Service(settings, ports, feed, log_client, queue_client, watch, opened, threads)


def _address(url: str) -> str:
    """The host and port of a URL, or its path, without the password."""
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2] or parts.path


def ports_on(
    client: LogClient,
    opened: store.Store,
    games: Games = GAMES,
    batcher: ReadBatcher | None = None,
    *,
    optimistic: bool = False,
) -> Ports:
    """The ports on the log alone, without a queue: hints are discarded, and workers find due matches in the log.

    `batcher` is for `RedisLog`, `optimistic` for `History`.
    """
    log = RedisLog(client, batcher)
    return Ports(
        log=log,
        history=History(log, games, opened.secret, optimistic=optimistic),
        accounts=accounts.RedisAccounts(client),
        bots=RedisBots(client),
        bot_tasks=RedisBotTasks(client),
        tickets=tickets.RedisTickets(client, opened.secret),
        index=RedisIndex(client),
        seeks=RedisSeeks(client),
        ratings=RedisRatings(client),
        news=RedisNews(client),
        webhooks=RedisWebhooks(client),
        jobs=jobs.NullJobs(),
        limits=LocalLimits(),
        games=games,
        now=wall_clock,
        lost=beat.Beat(client).lost,
        secret=opened.secret,
    )


def connect_log(url: str) -> LogClient:
    """A client for the log at a URL of the settings.

    Raises:
        LogUnavailable: a cluster does not answer.
    """
    if url.startswith(CLUSTER):
        return connect_cluster(url.replace(CLUSTER, "redis", 1))
    return connect(url)


def _open(client: LogClient, settings: Settings) -> store.Store:
    weak = () if settings.allow_volatile else check_durability(client)
    if weak:
        raise Unusable(f"the log's server could lose acknowledged data: {'; '.join(weak)}")
    try:
        return store.open_store(client, settings.data_dir, settings.store_id)
    except store.WrongStore as error:
        raise Unusable(str(error)) from error
