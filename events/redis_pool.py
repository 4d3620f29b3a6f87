"""One exchange with the server or the cluster, at as little cost as can be, and one for many who wait at the same time."""

from collections.abc import Sequence
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Final, TypeAlias

import redis.exceptions as errors
from hiredis import pack_command
from redis import BlockingConnectionPool, Redis, RedisCluster

Command: TypeAlias = tuple[str | bytes | int, ...]

AS_IT_CAME: Final = frozenset({"XRANGE", "FCALL", "FCALL_RO", "HGET", "GET"})
"""Commands whose replies redis-py would not change, or not for the better."""


class Pool(BlockingConnectionPool):
    """Hands connections out as they are; one that died in the meantime is found at its use, which is then made again.

    redis-py's own polls each connection before it hands it out, which costs more than the exchange itself.
    """

    # redis-py's own commands call it too, with more than it needs; connections are `Any`, for their methods have no types.
    def get_connection(self, *_: object, **__: object) -> Any:
        self._checkpid()
        try:
            connection = self.pool.get(timeout=self.timeout)
        except Empty:
            raise errors.ConnectionError("no connection is free") from None
        return connection or self.make_connection()  # type: ignore[no-untyped-call]

    def release(self, connection: Any) -> None:
        self._checkpid()
        self.pool.put_nowait(connection if self.owns_connection(connection) else None)


def exchange(client: Redis | RedisCluster, commands: Sequence[Command]) -> list[Any]:
    """The replies to some commands, sent in one round trip; one that was refused has its error in its place.

    Where no answer comes, all are sent again, as often as the connection's `retry` says.

    Raises:
        ConnectionError, TimeoutError: of redis-py, when that did not help.
    """
    if not commands:
        return []
    if isinstance(client, RedisCluster):
        return _on_cluster(client, commands)
    pool = client.connection_pool
    connection: Any = pool.get_connection()
    try:
        replies = connection.retry.call_with_retry(lambda: _talk(connection, commands), connection.disconnect)
    finally:
        pool.release(connection)
    read = client.response_callbacks
    return [
        reply
        if command[0] in AS_IT_CAME or isinstance(reply, Exception) or command[0] not in read
        # redis-py's form of it, as on a cluster.
        else read[command[0]](reply)
        for command, reply in zip(commands, replies, strict=True)
    ]


class _Passenger:
    """Some commands, and what became of them once `arrived` can be acquired."""

    __slots__ = ("arrived", "commands", "error", "replies", "trace")

    def __init__(self, commands: Sequence[Command]) -> None:
        self.commands = commands
        self.replies: list[Any] = []
        self.error: Exception | None = None
        self.trace: TracebackType | None = None
        self.arrived = Lock()
        self.arrived.acquire()

    def arrive(self, replies: list[Any]) -> None:
        self.replies = replies
        self.arrived.release()

    def fail(self, error: Exception, trace: TracebackType | None = None) -> None:
        self.error, self.trace = error, trace
        self.arrived.release()


class Ferry:
    """Exchanges of many callers in few round trips: whoever comes while one is under way goes with the next.

    A trip wakes the server once and this process once, however many it carries, and on one machine that is most of what
    a small exchange costs. All aboard wait for the slowest reply, so it is for commands whose replies are small, and never
    for a cluster: one server of it that hangs would hold up what is asked of all others. It has a thread of its own: make
    it after a fork.
    """

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._quay: SimpleQueue[_Passenger] = SimpleQueue()
        self._gate = Lock()
        self._runs = True
        self.trips = 0
        """How many have begun."""
        self._thread = Thread(target=self._run, name="ferry", daemon=True)
        self._thread.start()

    def exchange(self, commands: Sequence[Command]) -> list[Any]:
        """As `exchange`. A trip that fails has failed for all who wait by then: each alone would wait as long again."""
        passenger = _Passenger(commands)
        with self._gate:
            if not self._runs:
                raise _ended()
            self._quay.put(passenger)
        passenger.arrived.acquire()
        if passenger.error is not None:
            # It is one for all of them, and would else grow by the steps of each.
            raise passenger.error.with_traceback(passenger.trace)
        return passenger.replies

    @property
    def waiting(self) -> int:
        """How many wait for the next trip."""
        return self._quay.qsize()

    def stop(self) -> None:
        """End the thread after the trip that is under way, which is the last: whoever waits for the next is told."""
        with self._gate:
            self._runs = False
            self._quay.put(_Passenger(()))
        self._thread.join()

    def _run(self) -> None:
        try:
            while self._runs:
                self._cross([self._quay.get(), *self._others()])
        finally:
            with self._gate:
                self._runs = False
            for one in self._others():
                one.fail(_ended())

    def _cross(self, aboard: Sequence[_Passenger]) -> None:
        self.trips += 1
        try:
            replies = iter(exchange(self._client, [command for one in aboard for command in one.commands]))
        except BaseException as error:
            # Whatever it is, it is for the callers to raise, unless it ends this thread.
            failure = error if isinstance(error, Exception) else _ended()
            for one in (*aboard, *self._others()):
                one.fail(failure, error.__traceback__)
            if failure is not error:
                raise
            return
        for one in aboard:
            one.arrive([next(replies) for _ in one.commands])

    def _others(self) -> list[_Passenger]:
        return [self._quay.get() for _ in range(self.waiting)]


def _ended() -> Exception:
    return errors.ConnectionError("the service ends")


def _talk(connection: Any, commands: Sequence[Command]) -> list[Any]:
    # What redis-py does for it costs twice as much; a text is never split in words here.
    packed = b"".join([pack_command(command) for command in commands])  # type: ignore[arg-type]  # as its stub errs
    connection.send_packed_command([packed])
    return [_reply(connection) for _ in commands]


def _on_cluster(client: RedisCluster, commands: Sequence[Command]) -> list[Any]:
    with client.pipeline(transaction=False) as pipeline:  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
        for command in commands:
            pipeline.execute_command(*command)
        replies: list[Any] = pipeline.execute(raise_on_error=False)
    return replies


def _reply(connection: Any) -> Any:
    try:
        return connection.read_response()
    except errors.ResponseError as error:
        return error
