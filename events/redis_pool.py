"""Sends commands to the server or the cluster at low cost, and batches the reads of concurrent callers."""

from collections.abc import Sequence
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Final, TypeAlias

import redis.exceptions as errors
from hiredis import pack_command
from redis import BlockingConnectionPool, Redis, RedisCluster

Command: TypeAlias = tuple[str | bytes | int, ...]

RAW_REPLIES: Final = frozenset({"XRANGE", "FCALL", "FCALL_RO", "HGET", "GET"})
"""Commands whose replies are returned without redis-py's conversion."""


class Pool(BlockingConnectionPool):
    """Returns connections without a check. A dead one is found when it is used, and the commands are then sent again.

    redis-py's own pool polls each connection first, which costs more than the exchange itself.
    """

    # redis-py's own commands pass further arguments. Connections are `Any` because redis-py leaves their methods untyped.
    def get_connection(self, *_: object, **__: object) -> Any:
        self._checkpid()
        try:
            connection = self.pool.get(timeout=self.timeout)
        except Empty:
            raise errors.ConnectionError("no free connection in the pool") from None
        return connection or self.make_connection()  # type: ignore[no-untyped-call]

    def release(self, connection: Any) -> None:
        self._checkpid()
        self.pool.put_nowait(connection if self.owns_connection(connection) else None)


def exchange(client: Redis | RedisCluster, commands: Sequence[Command]) -> list[Any]:
    """Send commands in one round trip and return their replies; the reply of a rejected command is its exception.

    If there is no answer, all commands are sent again, as often as the connection's `retry` allows.

    Raises:
        redis.exceptions.ConnectionError, redis.exceptions.TimeoutError: the retries failed too.
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
    convert = client.response_callbacks
    return [
        reply
        if command[0] in RAW_REPLIES or isinstance(reply, Exception) or command[0] not in convert
        # Converted by redis-py, as on a cluster.
        else convert[command[0]](reply)
        for command, reply in zip(commands, replies, strict=True)
    ]


class _PendingRead:
    """Commands of one caller; the replies or the error are set when `done` can be acquired."""

    __slots__ = ("commands", "done", "error", "replies", "trace")

    def __init__(self, commands: Sequence[Command]) -> None:
        self.commands = commands
        self.replies: list[Any] = []
        self.error: Exception | None = None
        self.trace: TracebackType | None = None
        self.done = Lock()
        self.done.acquire()

    def finish(self, replies: list[Any]) -> None:
        self.replies = replies
        self.done.release()

    def fail(self, error: Exception, trace: TracebackType | None = None) -> None:
        self.error, self.trace = error, trace
        self.done.release()


class ReadBatcher:
    """Coalesces concurrent reads: commands that arrive during one round trip are sent together in the next.

    A round trip wakes the server once and this process once, however many commands it carries. On one machine that is
    most of the cost of a small read. Every caller in a batch waits for its slowest reply, so use it only for commands with
    small replies. Do not use it with a cluster: one server that hangs would delay the reads from all others. It has its
    own thread: create it after a fork.
    """

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._pending: SimpleQueue[_PendingRead] = SimpleQueue()
        self._lock = Lock()
        self._running = True
        self.batches = 0
        """How many round trips have begun."""
        self._thread = Thread(target=self._run, name="read-batcher", daemon=True)
        self._thread.start()

    def exchange(self, commands: Sequence[Command]) -> list[Any]:
        """As `exchange`. If a batch fails, all callers that wait by then fail: each would only wait as long again."""
        read = _PendingRead(commands)
        with self._lock:
            if not self._running:
                raise _stopped_error()
            self._pending.put(read)
        read.done.acquire()
        if read.error is not None:
            # All callers share one exception object; without this its traceback would grow with each raise.
            raise read.error.with_traceback(read.trace)
        return read.replies

    @property
    def waiting(self) -> int:
        """How many callers wait for the next batch."""
        return self._pending.qsize()

    def stop(self) -> None:
        """End the thread after the current batch. Callers that wait for a later one get a ConnectionError."""
        with self._lock:
            self._running = False
            self._pending.put(_PendingRead(()))
        self._thread.join()

    def _run(self) -> None:
        try:
            while self._running:
                self._send([self._pending.get(), *self._take_pending()])
        finally:
            with self._lock:
                self._running = False
            for read in self._take_pending():
                read.fail(_stopped_error())

    def _send(self, batch: Sequence[_PendingRead]) -> None:
        self.batches += 1
        try:
            replies = iter(exchange(self._client, [command for read in batch for command in read.commands]))
        except BaseException as error:
            # The callers raise it, unless it ends this thread.
            failure = error if isinstance(error, Exception) else _stopped_error()
            for read in (*batch, *self._take_pending()):
                read.fail(failure, error.__traceback__)
            if failure is not error:
                raise
            return
        for read in batch:
            read.finish([next(replies) for _ in read.commands])

    def _take_pending(self) -> list[_PendingRead]:
        return [self._pending.get() for _ in range(self.waiting)]


def _stopped_error() -> Exception:
    return errors.ConnectionError("the service is stopping")


def _talk(connection: Any, commands: Sequence[Command]) -> list[Any]:
    # redis-py's own packing costs twice as much: it also splits each command name at spaces.
    packed = b"".join([pack_command(command) for command in commands])  # type: ignore[arg-type]  # its stub is wrong
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
